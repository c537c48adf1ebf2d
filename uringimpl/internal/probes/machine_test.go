package probes

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
)

var updateKernel = flag.Bool("update-kernel", false, "write anew what the running kernel is known to do")

// onThisMachine runs the checks that want asks for, each in its process.
func onThisMachine(t *testing.T, want func(probe.Check) bool) *record.Probe {
	t.Helper()
	list := slices.DeleteFunc(All(), func(c probe.Check) bool { return !want(c) })
	r := probe.Runner{Place: probe.Local("/proc/self/exe")}
	p, err := r.Run(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	for _, f := range p.Findings {
		t.Logf("%s: %s %d %s; %s; %s", f.Name, f.Verdict, f.Value, f.Unit, f.Reason, f.Evidence)
	}
	return &p
}

// ofTheMachine are findings that the kernel does not decide.
var ofTheMachine = []string{"perf-counters", "perf-syscalls", "thp-madvise", "sockets-per-process", "memlock-pbuf-ring"}

// TestFeaturesAndLimitsOfThisKernel holds what is found against a committed list,
// so that a probe cannot silently stop finding what a kernel does. Where none is
// committed for the kernel, probes must still come to something.
func TestFeaturesAndLimitsOfThisKernel(t *testing.T) {
	p := onThisMachine(t, func(c probe.Check) bool { return c.Sort == record.FeatureFound || c.Sort == record.LimitFound })
	if f, _ := p.Find("uring"); f.Verdict != record.Supported {
		t.Skipf("io_uring is not to be had here: %s", f.Reason)
	}
	var got []string
	for _, f := range p.Findings {
		if f.Verdict == record.Inconclusive {
			t.Errorf("%s: %s (%s)", f.Name, f.Reason, f.Evidence)
		}
		if !slices.Contains(ofTheMachine, f.Name) {
			got = append(got, strings.TrimSuffix(fmt.Sprintf("%s: %s %d", f.Name, f.Verdict, f.Value), " 0"))
		}
	}
	parts := strings.SplitN(p.Kernel, ".", 3)
	list := filepath.Join("testdata", "kernel-"+strings.Join(parts[:min(2, len(parts))], ".")+".txt")
	if *updateKernel {
		if err := os.WriteFile(list, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(list)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no list for kernel %s; add %s", p.Kernel, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(want)), "\n") {
		if !slices.Contains(got, line) {
			t.Errorf("not found: %s", line)
		}
	}
	if n := strings.Count(string(want), "\n"); n != len(got) {
		t.Errorf("%d findings, %d on the list", len(got), n)
	}
}

func TestNamesAreUniqueAndChecksComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range All() {
		if seen[c.Name] || c.Name == "" || strings.ContainsAny(c.Name, " _") {
			t.Errorf("name %q is there twice or no name", c.Name)
		}
		seen[c.Name] = true
		if c.Family == "" || c.Run == nil || c.Source == "" || len(c.Sort.Verdicts()) == 0 {
			t.Errorf("%s: family %q, source %q, sort %q", c.Name, c.Family, c.Source, c.Sort)
		}
		if (c.Sort == record.LimitFound) != (c.Unit != "") {
			t.Errorf("%s: a %s with unit %q", c.Name, c.Sort, c.Unit)
		}
	}
}

func TestLargest(t *testing.T) {
	refused := errors.New("refused")
	for bound := int64(1); bound <= 40; bound++ {
		for limit := int64(0); limit <= 45; limit++ {
			tries := 0
			got, err := largest(bound, func(n int64) error {
				if tries++; n > limit {
					return refused
				}
				return nil
			})
			if want := min(limit, bound); got != want || (err == nil) != (limit >= bound) || tries > 16 {
				t.Fatalf("bound %d, limit %d: %d, %v after %d tries", bound, limit, got, err, tries)
			}
		}
	}
}

func TestFeatureFinding(t *testing.T) {
	for _, c := range []struct {
		err  error
		want record.FindingVerdict
	}{
		{nil, record.Supported},
		{refusal{"it", errors.New("EINVAL")}, record.Unsupported},
		{errors.Join(errors.New("close"), refusal{"it", errors.New("EINVAL")}), record.Unsupported},
		{errors.New("other bytes arrived"), record.Inconclusive},
	} {
		if f := featureFinding("seen", c.err); f.Verdict != c.want || (f.Reason == "") != (c.err == nil) {
			t.Errorf("%v: %+v", c.err, f)
		}
	}
}
