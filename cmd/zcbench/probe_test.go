package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
)

func TestProbeUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"no such family": {"--family", "nvme"}, "no such check": {"--filter", "nothing-*"}, "bad glob": {"--filter", "["}, "argument": {"uring"},
	} {
		r := zcbench(t, nil, "", append([]string{"probe"}, args...)...)
		if r.code != exitUsage || !strings.HasPrefix(r.errOut, "zcbench: ") || r.out != "" {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, r.code, r.out, r.errOut)
		}
	}
	r := zcbench(t, nil, "", "__complete", "probe", "--family", "")
	for _, family := range []string{"uring", "memory", "socket", "rdma"} {
		if !strings.Contains(r.out, family) {
			t.Errorf("family %s is not completed: %q", family, r.out)
		}
	}
}

func TestProbeTableAndJSON(t *testing.T) {
	r := zcbench(t, []string{"COLUMNS=80", "LC_ALL=C.UTF-8"}, "", "probe", "--filter", "m*")
	r.want(t, exitOK)
	for _, want := range []string{"Features", "mincore", "madv-free", "Limits", "memlock-pbuf-ring"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in:\n%s", want, r.out)
		}
	}
	if strings.Contains(r.out, "\x1b") || r.errOut != "" {
		t.Errorf("colours or progress without a terminal: stderr %q", r.errOut)
	}
	file := filepath.Join(t.TempDir(), "probe.json")
	r = zcbench(t, nil, "", "probe", "--family", "memory", "--json", "-o", file)
	r.want(t, exitOK)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p record.Probe
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil || r.out != "" {
		t.Errorf("%v; stdout %q", err, r.out)
	}
	for _, f := range p.Findings {
		if f.Family != "memory" {
			t.Errorf("%s is of family %s", f.Name, f.Family)
		}
	}
}

// TestProbeWhereUringIsRefused: every verdict is a finding, and the exit is 0.
func TestProbeWhereUringIsRefused(t *testing.T) {
	r := zcbench(t, []string{refuseUring + "=1"}, "", "probe", "--filter", "pbuf-*", "--json")
	r.want(t, exitOK)
	var p record.Probe
	if err := json.Unmarshal([]byte(r.out), &p); err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Findings {
		if f.Verdict != record.Unsupported || f.Reason == "" {
			t.Errorf("%s: %s, %q", f.Name, f.Verdict, f.Reason)
		}
	}
}

func TestRunRecordsAndKeepsTheProbe(t *testing.T) {
	needUring(t)
	cache := []string{"XDG_CACHE_HOME=" + t.TempDir()}
	var probes []*record.Probe
	for _, name := range []string{"first", "second"} {
		dir := filepath.Join(t.TempDir(), name)
		r := zcbench(t, cache, "", "run", question, "--smoke", "--only", "counts", "--filter", "heap", "-o", dir)
		r.want(t, exitOK)
		if told := strings.Contains(r.errOut, "looking once"); told != (name == "first") {
			t.Errorf("%s run: told of a probe: %v\n%s", name, told, r.errOut)
		}
		probes = append(probes, readResult(t, dir).Header.Probe)
	}
	for i, p := range probes {
		if f, ok := p.Find("uring"); !ok || f.Verdict != record.Supported {
			t.Fatalf("run %d: %+v", i, p)
		}
	}
	if !probes[0].Time.Equal(probes[1].Time) {
		t.Errorf("the second run probed again: %v, %v", probes[0].Time, probes[1].Time)
	}
}

func TestFaultsAffectStrategiesThereAre(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checks() {
		if err := harness.CheckAffects(c.Affects, registry()); err != nil {
			t.Errorf("check %s: %v", c.Name, err)
		}
		if seen[c.Name] {
			t.Errorf("two checks are named %s", c.Name)
		}
		seen[c.Name] = true
	}
}
