package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
)

// leaked keeps what is planted on the heap.
var leaked *[64]byte

// planted is a registry in which one strategy makes one heap allocation more
// for each message: what a careless change to it would do. One that posts
// allocates for each post as the guard does.
func planted(reg harness.Registry, name string) harness.Registry {
	out := append(harness.Registry(nil), reg...)
	for i, s := range out {
		if s.Name == name && s.Run != nil {
			guard, _ := reg.Find("guard")
			out[i].Run = guard.Run
		}
		if s.Name != name || s.Open == nil {
			continue
		}
		out[i].Open = func(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
			r, err := s.Open(b, p)
			if err != nil {
				return nil, err
			}
			return careless{r, b.Sink}, nil
		}
	}
	return out
}

type careless struct {
	harness.Receiver
	sink *harness.Sink
}

func (c careless) Receive(target uint64) error {
	before := c.sink.Got()
	err := c.Receiver.Receive(target)
	for range c.sink.Got() - before {
		leaked = new([64]byte)
	}
	return err
}

// gateArgs are those of `make gate`, read from the Makefile: what is tested is
// what gates.
func gateArgs(t *testing.T) []string {
	t.Helper()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^GATE_FLAGS := (.*)$`).FindStringSubmatch(string(makefile))
	if m == nil || !strings.Contains(string(makefile), "compare $(BASELINE)") {
		t.Fatal("the Makefile has no gate")
	}
	return fields(m[1])
}

// TestPlantedAllocationTurnsTheGateRed runs what the gate runs, against a
// baseline of this build, with and without a plant in one strategy.
func TestPlantedAllocationTurnsTheGateRed(t *testing.T) {
	needUring(t)
	dir := t.TempDir()
	run := func(name string, env ...string) string {
		out := filepath.Join(dir, name)
		zcbench(t, env, "", "run", question, "--smoke", "--only", "counts", "-q", "-o", out).want(t, exitOK)
		return out
	}
	base := run("base")
	compare := func(next string) result {
		return zcbench(t, nil, "", append([]string{"compare", base, next}, gateArgs(t)...)...)
	}
	if r := compare(run("same")); r.code != exitOK { // the gate asks twice, too
		compare(run("again")).want(t, exitOK)
	}
	for _, strategy := range []string{"slot", "ring-inc", "epoll-read", "heap"} {
		r := compare(run(strategy, plantAlloc+"="+strategy))
		r.want(t, exitGate)
		if want := strategy + " go_allocs: regressed"; !strings.Contains(r.errOut, want) {
			t.Errorf("stderr does not say %q:\n%s", want, r.errOut)
		}
		for _, other := range []string{"slot", "ring-inc", "epoll-read", "heap"} {
			if other != strategy && strings.Contains(r.errOut, other+" go_allocs") {
				t.Errorf("a plant in %s is found in %s:\n%s", strategy, other, r.errOut)
			}
		}
	}
}

// TestABGatesAnAllocation compares a build with one that allocates more, as CI
// would a pull request: two binaries, one of them careless, in one run.
func TestABGatesAnAllocation(t *testing.T) {
	needUring(t)
	dir := t.TempDir()
	writeBuild(t, filepath.Join(dir, "old"), "")
	writeBuild(t, filepath.Join(dir, "new"), "slot")
	out := filepath.Join(dir, "ab")
	zcbench(t, nil, "", "run", question, "--smoke", "--filter", "slot", "-q", "-o", out,
		"--ab", "old="+filepath.Join(dir, "old"), "new="+filepath.Join(dir, "new")).want(t, exitOK)
	r := zcbench(t, nil, "", "compare", out)
	r.want(t, exitGate)
	if !strings.Contains(r.errOut, "slot go_allocs: regressed") || !strings.Contains(r.out, "build new against build old, paired by block") {
		t.Errorf("stdout:\n%s\nstderr:\n%s", r.out, r.errOut)
	}
	if strings.Contains(r.errOut, " ring-fixed{") {
		t.Errorf("the baseline regressed, too:\n%s", r.errOut)
	}
}
