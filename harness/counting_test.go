package harness

import (
	"context"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// Trials of every purpose through real processes.
func TestTrialsEndToEnd(t *testing.T) {
	for _, strategy := range []string{"null", "reader"} {
		for _, purpose := range []record.Purpose{record.Timing, record.Counting, record.Verify} {
			tr := trialOf(strategy, workload(), purpose, 400)
			x := behave(t, context.Background(), "well", tr)
			if x.Record.Status != record.OK {
				t.Fatalf("%s: %s\n%s", tr.ID, x.Record.Error, x.Stderr)
			}
			rec := x.Record
			if want := load.NewSchedule(tr).Fingerprint(tr.Seed); rec.Fingerprint != want {
				t.Errorf("%s: did %+v, want %+v", tr.ID, rec.Fingerprint, want)
			}
			if rec.WarmupEnd != int64(tr.Warmup) || rec.SetupNS <= 0 || rec.Window.NS <= 0 || rec.Placement != "not pinned" || x.Stderr != "" || x.Exit != "" {
				t.Errorf("%s: %+v", tr.ID, rec)
			}
			for _, m := range Metrics(record.KindReceive) {
				_, there := rec.Metrics[m.Name]
				_, not := rec.Unavailable[m.Name]
				ours := slices.ContainsFunc(table, func(r row) bool { return r.Name == m.Name && r.from != nil })
				if want := ours && m.Purpose == purpose; (there || not) != want || there && not {
					t.Errorf("%s: metric %s, value %t, reason %t", tr.ID, m.Name, there, not)
				}
			}
			if (x.Generator != nil) != (strategy == "reader") {
				t.Errorf("%s: generator %+v", tr.ID, x.Generator)
			}
		}
	}
}

// A strategy that does nothing must count nothing: whatever else is in the
// figures is the harness's own.
func TestHarnessCountsNothingOfItsOwn(t *testing.T) {
	repeats := 4
	if raceEnabled {
		repeats = 1
	}
	for _, c := range []struct {
		strategy string
		change   func(w *record.Workload)
	}{
		{"null", func(*record.Workload) {}},
		{"null", func(w *record.Workload) { w.HoldMessages = 8 }},
		{"null", func(w *record.Workload) { w.Assembly, w.HoldMessages = "vectored", 100 }},
		{"null", func(w *record.Workload) { w.Clients, w.Touch = 50, "payload" }},
		{"reader", func(w *record.Workload) { w.Assembly, w.HoldMessages = "vectored", 8 }},
		{"reader", func(w *record.Workload) { w.Assembly = "vectored" }},
	} {
		for range repeats {
			w := workload()
			c.change(&w)
			tr := trialOf(c.strategy, w, record.Counting, 2000)
			x := behave(t, context.Background(), "well", tr)
			if x.Record.Status != record.OK {
				t.Fatalf("%s: %s\n%s", tr.ID, x.Record.Error, x.Stderr)
			}
			m := x.Record.Metrics
			if a, b := m["go_allocs"], m["go_alloc_bytes"]; a != record.Count(0, 2000) || b != record.Count(0, 2000) {
				t.Errorf("%s, %s, hold %d: %d allocations of %d bytes", c.strategy, w.Assembly, w.HoldMessages, a.Num, b.Num)
			}
			if f := m["minor_faults"]; !raceEnabled && c.strategy == "null" && f != record.Count(0, 2000) {
				t.Errorf("%s, %s, hold %d: %d minor faults", c.strategy, w.Assembly, w.HoldMessages, f.Num)
			}
			for _, name := range []string{"syscalls", "copied_bytes", "wasted_bytes", "forced_releases"} {
				if v := m[name]; c.strategy == "null" && v != record.Count(0, 2000) {
					t.Errorf("null: %s is %+v", name, v)
				}
			}
		}
	}
}

// The window waits until the process has come to rest. A busy machine may make a
// process look at rest that is not, but not time and again.
func TestWindowWaitsForRest(t *testing.T) {
	for range 5 {
		x := behave(t, context.Background(), "well", trialOf("noisy", workload(), record.Counting, 50_000))
		if x.Record.Status != record.OK {
			t.Fatal(x.Record.Error)
		}
		if x.Record.Metrics["go_allocs"].Num == 0 {
			return
		}
	}
	t.Error("what the process allocates while it starts is counted")
}

// Two counting trials of one seed agree.
func TestCountsRepeat(t *testing.T) {
	w := workload()
	w.HoldMessages = 5
	var first record.Record
	for i := range 3 {
		x := behave(t, context.Background(), "well", trialOf("reader", w, record.Counting, 500))
		if x.Record.Status != record.OK {
			t.Fatal(x.Record.Error)
		}
		if i == 0 {
			first = x.Record
		}
		for _, name := range []string{"syscalls", "receives", "copied_bytes", "wasted_bytes", "go_allocs", "buffer_pages_mean", "buffer_pages_peak", "buffer_pages_end", "forced_releases"} {
			a, b := first.Metrics[name], x.Record.Metrics[name]
			if a != b || !a.IsCount() {
				t.Errorf("%s is %+v, then %+v", name, a, b)
			}
		}
	}
}
