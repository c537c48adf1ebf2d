package uringimpl

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
)

// TestGoNetSaysWhatItCannotTell: no figure stands for what the Go runtime does
// unseen.
func TestGoNetSaysWhatItCannotTell(t *testing.T) {
	rec, _ := runTrial(t, newTrial(goNet.Name, nil, wild(), record.Counting, 200), nil)
	if rec.Status != record.OK {
		t.Fatal(rec.Error)
	}
	for _, name := range []string{"syscalls", "minor_faults", "instructions", "cycles", "cache_misses", "dtlb_misses"} {
		if v, ok := rec.Metrics[name]; ok || rec.Unavailable[name] == "" {
			t.Errorf("%s is %v, and its reason %q", name, v, rec.Unavailable[name])
		}
	}
	for name := range (&netServer{}).Unavailable() {
		if _, ok := harness.FindMetric(name); !ok {
			t.Errorf("%s is no metric", name)
		}
	}
}

// TestGoNetRepeats: in lockstep what it does itself repeats.
func TestGoNetRepeats(t *testing.T) {
	for _, hold := range []int{0, 24} {
		for _, read := range []string{"1KiB", "16KiB"} {
			t.Run(fmt.Sprintf("hold=%d/read=%s", hold, read), func(t *testing.T) {
				w := wild()
				w.Sizes.Max, w.BudgetBytes, w.HoldMessages = 16<<10, 64<<10, hold
				tr := newTrial(goNet.Name, map[string]string{"read": read}, w, record.Counting, 400)
				a, b := runChild(t, tr), runChild(t, tr)
				for _, name := range []string{"receives", "wasted_bytes", "copied_bytes", "forced_releases", "enters", "sqes", "cqes"} {
					x, ok := a.Metrics[name]
					if y := b.Metrics[name]; !ok || x != y {
						t.Errorf("%s is %v, then %v", name, x, y)
					}
				}
				if a.Metrics["receives"].Num < 400 || a.Metrics["enters"].Num != 0 {
					t.Errorf("%v receives, %v calls of io_uring", a.Metrics["receives"], a.Metrics["enters"])
				}
			})
		}
	}
}

// TestGoNetAllocates: a buffer that messages stay in is replaced, one that is
// free again is not.
func TestGoNetAllocates(t *testing.T) {
	w := wild()
	w.Sizes = record.Sizes{Kind: "fixed", Bytes: 2000}
	bytes := func(hold int) float64 {
		w.HoldMessages = hold
		rec := runChild(t, newTrial(goNet.Name, nil, w, record.Counting, 800))
		return rec.Metrics["go_alloc_bytes"].Float64()
	}
	if free, held := bytes(0), bytes(16); free > 200 || held < 1000 {
		t.Errorf("%g bytes a message of 2000 with nothing held, %g with messages held", free, held)
	}
}

// TestGoNetStaysOnItsCPU: every thread of the trial is on the measured CPU, and
// the CPU time charged is that of all of them.
func TestGoNetStaysOnItsCPU(t *testing.T) {
	tr := newTrial(goNet.Name, nil, wild(), record.Timing, 3000)
	tr.CPU, tr.OtherCPU = 0, 1%runtime.NumCPU()
	rec := runChild(t, tr)
	if v := rec.Metrics["cpu_per_msg"].Float64(); v < 200e-9 {
		t.Errorf("%g s of CPU a message: less than a system call takes", v)
	}
	if !slices.ContainsFunc(rec.Notes, func(n string) bool { return strings.Contains(n, "GOMAXPROCS=1") }) {
		t.Errorf("the notes %q do not say where the runtime's threads ran", rec.Notes)
	}
}
