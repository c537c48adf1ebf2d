package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/report/analyze"
)

// A scenario against itself: counts never differ, a cost many times beyond the
// noise is found, and the noise floor is one that compare takes.
func TestSelfCheck(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "aa")
	r := zcbench(t, nil, "", "aa", "null", "--blocks", "6", "--pairs", "2", "--plant", "40x", "--seeds", "2", "-o", dir, "--format", "json")
	r.want(t, exitOK)
	var s analyze.SelfCheck
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		t.Fatalf("%v in %s", err, r.out)
	}
	if s.Sessions != 10 || s.Pairs != 2 || s.Scenario != "null" {
		t.Errorf("got %d sessions and %d pairs of %q", s.Sessions, s.Pairs, s.Scenario)
	}
	seen := map[string]analyze.SelfMetric{}
	for _, m := range s.Metrics {
		seen[m.Name] = m
		if m.Exact && m.Alarms > 0 {
			t.Errorf("exact metric %s differs in %d of %d pairs", m.Name, m.Alarms, m.Pairs)
		}
	}
	if m := seen["cpu_per_msg"]; m.Pairs != 2 || !m.Share || m.Detects < m.Floor || m.Detects < analyze.DefaultThreshold {
		t.Errorf("cpu_per_msg: %+v", m)
	}
	if m := seen["syscalls"]; !m.Exact {
		t.Errorf("syscalls: %+v", m)
	}
	p := s.Planted
	if p == nil || p.Runs != 2 || p.Found != 2 || p.PlantNS < 10 || p.Case != "null" {
		t.Errorf("planted %+v", p)
	}
	// Of equals one pair in some tens is called different: only that the floor was
	// taken is sure.
	c := zcbench(t, nil, "", "compare", filepath.Join(dir, "pairs", "001"), filepath.Join(dir, "pairs", "002"), "--noise", filepath.Join(dir, "noise"), "--format", "json")
	if !strings.Contains(c.out, `"noise_sessions": 10`) {
		t.Errorf("exit %d, no ten sessions in:\n%s", c.code, c.out)
	}
	zcbench(t, nil, "", "compare", filepath.Join(dir, "plain", "001"), filepath.Join(dir, "planted", "001"), "--noise", filepath.Join(dir, "noise")).want(t, exitGate)
}

func TestSelfCheckUsage(t *testing.T) {
	for _, args := range [][]string{
		{"aa", "null", "--sessions", "9"},
		{"aa", "null", "--pairs", "0"},
		{"aa", "null", "--plant", "twice"},
		{"aa", "null", "--plant", "-1x"},
		{"aa", "null", "--format", "xml"},
		{"aa", "rdma-connect", "--plant", "2x"},
		{"aa"},
	} {
		zcbench(t, nil, "", args...).want(t, exitUsage)
	}
}
