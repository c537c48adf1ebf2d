package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// Each trial is written before the next one runs, in the order of the plan.
func TestRunnerOrder(t *testing.T) {
	p := smallPlan(t)
	s := newSession(p)
	var events []Event
	s.Progress = func(e Event) { events = append(events, e) }
	sum := s.run(t, context.Background())
	var want []string
	for _, id := range ids(p.Trials) {
		want = append(want, "run "+id, "write "+id)
	}
	if !slices.Equal(s.log, want) {
		t.Errorf("order\n%q, want\n%q", s.log, want)
	}
	if sum.Trials != len(p.Trials) || sum.Failed+sum.Invalid+sum.NotRun != 0 || sum.Interrupted || sum.FirstFailed != "" {
		t.Errorf("summary %+v", sum)
	}
	for i, e := range events {
		if e.Done != i+1 || e.Planned != len(p.Trials) || e.Line.Trial.ID != p.Trials[i].ID {
			t.Errorf("event %d: %d of %d, %s", i, e.Done, e.Planned, e.Line.Trial.ID)
		}
	}
	last := int64(0)
	for _, l := range s.out.res.Trials {
		if l.StartedNS < last || l.EndedNS <= l.StartedNS {
			t.Errorf("%s from %d to %d, after %d", l.Trial.ID, l.StartedNS, l.EndedNS, last)
		}
		last = l.EndedNS
		if l.Record.Metrics["blocked_sends"].Float == nil && l.Trial.Purpose == record.Timing {
			t.Errorf("%s lacks the generator's figures", l.Trial.ID)
		}
	}
}

// limited makes the generator the limit in the first attempts of a trial.
func limited(id string, attempts int) func(record.Trial, *Execution) {
	return func(t record.Trial, x *Execution) {
		if t.ID == id && t.Attempt < attempts {
			x.Generator.Limited = load.LimitedGenerator
		}
	}
}

func TestRunnerRerunsGeneratorLimited(t *testing.T) {
	const id = "beta/timing/block2"
	for limits, want := range map[int]struct{ runs, invalid int }{0: {1, 0}, 1: {2, 1}, 2: {3, 2}, 3: {3, 3}, 9: {3, 3}} {
		s := newSession(smallPlan(t))
		s.exec.change = limited(id, limits)
		dones := map[int]int{}
		s.Progress = func(e Event) { dones[e.Done]++ }
		sum := s.run(t, context.Background())
		lines := s.lines(id)
		if len(lines) != want.runs || sum.Invalid != want.invalid || sum.Trials != len(s.Plan.Trials)+want.runs-1 || sum.Failed != 0 {
			t.Fatalf("%d limits: %d lines, summary %+v", limits, len(lines), sum)
		}
		for i, l := range lines {
			invalid := ""
			if i < limits {
				invalid = "generator-limited"
			}
			if l.Trial.Attempt != i || l.Invalid != invalid || l.Record.Status != record.OK || l.Record.Metrics["go_allocs"].Den == 0 {
				t.Errorf("%d limits: line %d is attempt %d, invalid %q, %s: figures are kept", limits, i, l.Trial.Attempt, l.Invalid, l.Record.Status)
			}
			if l.Trial.Seed != lines[0].Trial.Seed {
				t.Errorf("%d limits: attempt %d has another seed", limits, i)
			}
		}
		if at := within(s.log, "run "+id); want.runs > 1 && s.log[at+2] != "run "+id+"#1" {
			t.Errorf("%d limits: after the first attempt comes %s", limits, s.log[at+2])
		}
		if dones[len(s.Plan.Trials)] != 1 {
			t.Errorf("%d limits: progress %v", limits, dones)
		}
	}
}

// Only timing trials are invalid when their generator is the limit.
func TestRunnerMarks(t *testing.T) {
	s := newSession(smallPlan(t, "{closed: 2}", "{open: 50%}"))
	s.exec.change = func(t record.Trial, x *Execution) {
		switch {
		case t.Purpose == record.Timing && t.Block == 0:
			x.Generator.Limited = load.LimitedReceiver
		case t.Purpose == record.Timing && t.Block == 1:
			x.Generator.AchievedHz = 97.9
		case t.Purpose == record.Timing && t.Block == 2:
			x.Generator.AchievedHz = 98
		case t.Purpose == record.Timing && t.Block == 3:
			x.Record.Window.StealNS = 20_001
		case t.Purpose == record.Timing && t.Block == 4:
			x.Record.Window.StealNS = 20_000
		case t.Purpose == record.Timing:
			x.Generator = nil
		default:
			x.Generator.Limited = load.LimitedGenerator
		}
	}
	sum := s.run(t, context.Background())
	want := map[string]string{
		"beta/timing/block1": "receiver-limited", "beta/timing/block2": "rate-not-achieved", "beta/timing/block3": "", "beta/timing/block4": "steal",
		"beta/timing/block5": "", "beta/timing/block6": "", "beta/verify": "generator-limited", "beta/capacity": "generator-limited", "beta/counting/1": "generator-limited",
	}
	for id, marks := range want {
		l := s.lines(id)
		if len(l) != 1 || strings.Join(l[0].Marks, ",") != marks || l[0].Invalid != "" || l[0].Record.Status != record.OK {
			t.Errorf("%s: %d lines, marks %q, invalid %q; want %q", id, len(l), l[0].Marks, l[0].Invalid, marks)
		}
	}
	if sum.Invalid != 0 || sum.Failed != 0 {
		t.Errorf("summary %+v", sum)
	}
}

func TestRunnerFailsUnequalWork(t *testing.T) {
	for name, change := range map[string]func(f *record.Fingerprint){
		"a message less": func(f *record.Fingerprint) { f.Ops-- }, "a byte more": func(f *record.Fingerprint) { f.Bytes++ },
		"another sum": func(f *record.Fingerprint) { f.Sum ^= 1 }, "nothing": func(f *record.Fingerprint) { *f = record.Fingerprint{} },
	} {
		const id = "alpha{chunk=1KiB}/timing/block3"
		s := newSession(smallPlan(t))
		s.exec.change = func(t record.Trial, x *Execution) {
			if t.ID == id {
				change(&x.Record.Fingerprint)
			}
		}
		sum := s.run(t, context.Background())
		l := s.lines(id)
		if len(l) != 1 || l[0].Record.Status != record.Failed || !strings.Contains(l[0].Record.Error, "does not match") {
			t.Errorf("%s: %+v", name, l[0].Record)
		}
		if sum.Failed != 1 || !strings.HasPrefix(sum.FirstFailed, id) || sum.Trials != len(s.Plan.Trials) {
			t.Errorf("%s: summary %+v", name, sum)
		}
	}
}

// A case that delivers wrong bytes is not measured further, and that is said.
func TestRunnerStopsWhatFailsVerification(t *testing.T) {
	s := newSession(smallPlan(t))
	s.exec.change = func(t record.Trial, x *Execution) {
		if t.ID == "alpha{chunk=4KiB}/verify" {
			*x = failed(t, errors.New("byte 7 is wrong"))
		}
	}
	var done int
	s.Progress = func(e Event) { done = e.Done }
	sum := s.run(t, context.Background())
	if l := s.lines("alpha{chunk=4KiB}/"); len(l) != 1 || l[0].Trial.Purpose != record.Verify {
		t.Errorf("%d lines of the case, want its verification alone", len(l))
	}
	if sum.NotRun != 2+6 || sum.Failed != 1 || sum.Trials != len(s.Plan.Trials)-8 {
		t.Errorf("summary %+v", sum)
	}
	want := "alpha{chunk=4KiB} failed its verification and was not measured further: byte 7 is wrong"
	if w := s.out.res.Warnings; len(w) != 1 || w[0] != want {
		t.Errorf("warnings %q, want %q", w, want)
	}
	if n := len(s.lines("alpha{chunk=1KiB}/")); n != 1+2+6 || done > len(s.Plan.Trials) {
		t.Errorf("%d lines of the other case, %d done", n, done)
	}
}

func TestRunnerSkips(t *testing.T) {
	p := smallPlan(t, "  - name: beta", "  - name: needy\n    params: {chunk: [1KiB, 2KiB]}\n  - name: beta")
	s := newSession(p)
	s.Probe = func(capability string) (string, string) {
		return capability + " is off", "turn " + capability + " on"
	}
	sum := s.run(t, context.Background())
	want := []record.Skip{
		{Case: "needy{chunk=1KiB}", Reason: "uring is off", Remedy: "turn uring on", Needs: "uring"},
		{Case: "needy{chunk=2KiB}", Reason: "uring is off", Remedy: "turn uring on", Needs: "uring"},
	}
	if !slices.Equal(s.out.res.Skips, want) || !slices.Equal(sum.Skipped, want) {
		t.Errorf("skips %+v, summary %+v, want %+v", s.out.res.Skips, sum.Skipped, want)
	}
	if !strings.HasPrefix(s.log[0], "write skip") || !strings.HasPrefix(s.log[1], "write skip") {
		t.Errorf("skips come after %q", s.log[:2])
	}
	if len(s.lines("needy")) != 0 || len(s.lines("beta")) != 9 || sum.Failed != 0 {
		t.Errorf("summary %+v", sum)
	}
}

// Without its baseline a point still needs a rate for the others.
func TestRunnerMeasuresCapacityWithWhatThereIs(t *testing.T) {
	p := smallPlan(t, "  - name: beta", "  - name: needy\n  - name: beta", "baseline: {name: beta}", "baseline: {name: needy}", "{closed: 2}", "{open: 50%}")
	s := newSession(p)
	s.Probe = func(string) (string, string) { return "off", "" }
	sum := s.run(t, context.Background())
	if sum.Failed != 0 {
		t.Fatalf("summary %+v", sum)
	}
	if first := s.exec.ran[0]; first.ID != "alpha{chunk=1KiB}/capacity" || first.Strategy != "alpha" || first.Params["chunk"] != "1KiB" {
		t.Errorf("first ran %+v", first)
	}
	if l := s.lines("beta/timing/block1"); len(l) != 1 || l[0].Trial.Workload.Load.RateHz != fakeRate/2 {
		t.Errorf("%+v", l)
	}
}

func TestRunnerFillsRatesIn(t *testing.T) {
	for _, c := range []struct {
		load, hold string
		timing     float64 // rate of a timing trial
		held       int     // messages held by a counting trial
	}{
		{"{open: 30%}", "0", 0.3 * fakeRate, 0},
		{"{open: 30%}", "8", 0.3 * fakeRate, 8},
		{"{open: 30%}", "2ms", 0.3 * fakeRate, 6},
		{"{open: 30%}", "1us", 0.3 * fakeRate, 1},
		{"{open: 500/s}", "10ms", 500, 5},
		{"{closed: 2}", "2ms", 0, 20},
		{"{closed: 2}", "3", 0, 3},
	} {
		s := newSession(smallPlan(t, "  load: {closed: 2}", "  hold: "+c.hold+"\n  load: "+c.load))
		if sum := s.run(t, context.Background()); sum.Failed != 0 {
			t.Fatalf("%+v: %+v", c, sum)
		}
		for _, ran := range s.exec.ran {
			w := ran.Workload
			switch ran.Purpose {
			case record.Timing, record.Floor:
				if w.Load.RateHz != c.timing || (w.HoldNS > 0) != strings.HasSuffix(c.hold, "s") {
					t.Errorf("%+v: %s has rate %g, hold %d ns", c, ran.ID, w.Load.RateHz, w.HoldNS)
				}
			case record.Counting:
				if w.Load.Mode != load.Lockstep || w.HoldMessages != c.held || w.HoldNS != 0 {
					t.Errorf("%+v: %s holds %d messages or %d ns under %+v", c, ran.ID, w.HoldMessages, w.HoldNS, w.Load)
				}
			}
		}
	}
}

func TestRunnerFailsByNameWithoutCapacity(t *testing.T) {
	s := newSession(smallPlan(t, "  load: {closed: 2}", "  load: [{open: 30%}, {closed: 2}]\n  hold: [0, 2ms]"))
	s.exec.change = func(t record.Trial, x *Execution) {
		if t.Purpose == record.Capacity && strings.Contains(t.Point, "2ms") {
			*x = failed(t, errors.New("no luck"))
		}
		if t.Purpose == record.Capacity && strings.Contains(t.Point, "hold=0") {
			delete(x.Record.Metrics, "messages_per_s")
		}
	}
	s.run(t, context.Background())
	for _, l := range s.out.res.Trials {
		open, timed := strings.Contains(l.Trial.Point, "open"), strings.Contains(l.Trial.Point, "2ms")
		var fails bool
		switch l.Trial.Purpose {
		case record.Capacity:
			fails = timed
		case record.Counting:
			fails = timed
		case record.Timing, record.Verify:
			fails = open
		}
		if fails != (l.Record.Status == record.Failed) {
			t.Errorf("%s: %s, %s", l.Trial.ID, l.Record.Status, l.Record.Error)
		}
		if fails && l.Trial.Purpose != record.Capacity && !strings.Contains(l.Record.Error, l.Trial.ID+" has no rate") {
			t.Errorf("%s: error %q", l.Trial.ID, l.Record.Error)
		}
	}
	for _, ran := range s.exec.ran {
		if ran.Workload.Load.Mode == "open" && ran.Workload.Load.RateHz == 0 && ran.Purpose != record.Floor {
			t.Errorf("%s was run without a rate", ran.ID)
		}
	}
}

func TestRunnerInterrupted(t *testing.T) {
	p := smallPlan(t)
	for _, stop := range []int{0, 1, 5, len(p.Trials) - 1} {
		s := newSession(p)
		ctx, cancel := context.WithCancel(context.Background())
		s.exec.change = func(tr record.Trial, x *Execution) {
			if tr.Order == stop {
				cancel()
				*x = failed(tr, errors.New("killed"))
			}
		}
		sum := s.run(t, ctx)
		if !sum.Interrupted || sum.Trials != stop || sum.Failed != 0 || len(s.out.res.Trials) != stop || len(s.exec.ran) != stop+1 {
			t.Errorf("stopped in trial %d: %+v, %d written, %d ran", stop, sum, len(s.out.res.Trials), len(s.exec.ran))
		}
	}
	t.Run("in the last trial, which ends well", func(t *testing.T) {
		s := newSession(p)
		ctx, cancel := context.WithCancel(context.Background())
		s.exec.change = func(tr record.Trial, _ *Execution) {
			if tr.Order == len(p.Trials)-1 {
				cancel()
			}
		}
		if sum := s.run(t, ctx); sum.Interrupted || sum.Trials != len(p.Trials) {
			t.Errorf("%+v", sum)
		}
	})
	t.Run("before a rerun", func(t *testing.T) {
		s := newSession(p)
		ctx, cancel := context.WithCancel(context.Background())
		s.exec.change = func(tr record.Trial, x *Execution) {
			if tr.ID == "beta/timing/block1" {
				cancel()
				x.Generator.Limited = load.LimitedGenerator
			}
		}
		if sum := s.run(t, ctx); !sum.Interrupted || sum.Invalid != 1 || len(s.lines("beta/timing/block1")) != 1 {
			t.Errorf("%+v", sum)
		}
	})
}

func TestRunnerWriteFailureSurfaces(t *testing.T) {
	p := smallPlan(t, "  - name: beta", "  - name: needy\n  - name: beta")
	for from := 1; from <= 12; from++ {
		s := newSession(p)
		s.Probe = func(string) (string, string) { return "off", "" }
		s.out.failFrom = from
		if _, err := s.Run(context.Background()); !errors.Is(err, errDiskFull) {
			t.Fatalf("line %d fails: error %v", from, err)
		}
		if n := len(s.exec.ran); n > from {
			t.Errorf("line %d fails: %d trials ran", from, n)
		}
	}
	s := newSession(smallPlan(t))
	s.exec.change = func(t record.Trial, x *Execution) {
		if t.Purpose == record.Verify {
			*x = failed(t, fmt.Errorf("wrong"))
		}
	}
	s.out.failFrom = 3 + 6 + 1 // verifications, floors, then the warning
	if _, err := s.Run(context.Background()); !errors.Is(err, errDiskFull) {
		t.Errorf("the warning fails: error %v", err)
	}
}
