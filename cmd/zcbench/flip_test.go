package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// A claim rests on what is measured: with an allocation planted in a strategy of
// each family the claim that it makes none turns from supported to refuted.
func TestSabotageFlipsAClaimOfEachFamily(t *testing.T) {
	needUring(t)
	for _, c := range []struct {
		scenario, strategy, claim string
		need                      func(*testing.T)
	}{
		{"uring-buffer-ownership", "ring-fixed", "provided-ring-allocates-nothing", needUring},
		{"rdma-post-recv", "array", "caller-arrays-allocate-nothing", needRDMA},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			c.need(t)
			dir := t.TempDir()
			run := func(name string, env ...string) string {
				out := filepath.Join(dir, name)
				zcbench(t, env, "", "run", c.scenario, "--smoke", "--only", "counts", "-q", "-o", out).want(t, exitOK)
				return out
			}
			whole, sabotaged := run("whole"), run("sabotaged", plantAlloc+"="+c.strategy)
			zcbench(t, nil, "", "compare", whole, whole, "--fail-on", "flipped").want(t, exitOK)
			r := zcbench(t, nil, "", "compare", whole, sabotaged, "--fail-on", "flipped")
			r.want(t, exitGate)
			if !strings.Contains(r.errOut, c.claim) {
				t.Errorf("stderr does not name %s:\n%s", c.claim, r.errOut)
			}
		})
	}
}
