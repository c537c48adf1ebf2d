package harness

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// eventful is a plan and a fake behaviour in which everything happens: a skip, a
// capacity, reruns, a failed trial and a failed verification.
func eventful(t *testing.T) *session {
	s := newSession(smallPlan(t, "  - name: beta", "  - name: needy\n  - name: beta", "{closed: 2}", "{open: 50%}", "[1KiB, 4KiB]", "[1KiB, 2KiB, 4KiB]"))
	s.Probe = func(string) (string, string) { return "off", "turn it on" }
	s.exec.change = func(t record.Trial, x *Execution) {
		switch t.ID {
		case "alpha{chunk=2KiB}/verify":
			x.Record.Status, x.Record.Error = record.Failed, "wrong bytes"
		case "alpha{chunk=4KiB}/timing/block2":
			x.Record.Status, x.Record.Error = record.Failed, "crashed"
		case "beta/timing/block1":
			limited(t.ID, 2)(t, x)
		case "beta/timing/block4":
			limited(t.ID, 9)(t, x)
		case "alpha{chunk=1KiB}/counting/1":
			x.Generator.Limited = load.LimitedGenerator
		}
	}
	return s
}

// timeless is a result without its times.
func timeless(r record.Result) record.Result {
	r.Trials = slices.Clone(r.Trials)
	for i := range r.Trials {
		r.Trials[i].StartedNS, r.Trials[i].EndedNS = 0, 0
	}
	return r
}

// Whatever an interrupted run has written, resuming it runs exactly what is
// missing and ends in the same result.
func TestResumeRunsExactlyWhatIsMissing(t *testing.T) {
	whole := eventful(t)
	wholeSum := whole.run(t, context.Background())
	want := timeless(whole.out.res)
	if len(want.Warnings) != 1 || len(want.Skips) != 1 || wholeSum.Failed != 2 || wholeSum.Invalid != 5 || wholeSum.NotRun != 8 {
		t.Fatalf("the run is not eventful: %+v", wholeSum)
	}
	for n := range len(want.Trials) + 1 {
		for _, skipTold := range []bool{true, false} {
			if !skipTold && n > 0 {
				continue // skips are written before trials
			}
			s := eventful(t)
			past := record.Result{Trials: slices.Clone(want.Trials[:n])}
			if skipTold {
				past.Skips = slices.Clone(want.Skips)
			}
			if n == len(want.Trials) {
				past.Warnings = slices.Clone(want.Warnings)
			}
			s.Finished = &past
			sum := s.run(t, context.Background())
			got := timeless(record.Result{
				Trials: append(past.Trials, s.out.res.Trials...), Skips: append(past.Skips, s.out.res.Skips...),
				Warnings: append(past.Warnings, s.out.res.Warnings...),
			})
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("after %d lines: the results differ", n)
			}
			if len(s.exec.ran) != len(want.Trials)-n {
				t.Errorf("after %d lines: %d trials ran, want %d", n, len(s.exec.ran), len(want.Trials)-n)
			}
			if !reflect.DeepEqual(sum, wholeSum) {
				t.Errorf("after %d lines: summary %+v, want %+v", n, sum, wholeSum)
			}
		}
	}
}

// What is skipped in the first part and there in the second is measured.
func TestResumeWithACapabilityMore(t *testing.T) {
	first := eventful(t)
	first.run(t, context.Background())
	s := eventful(t)
	s.Finished = &first.out.res
	s.Probe = func(string) (string, string) { return "", "" }
	sum := s.run(t, context.Background())
	if len(s.exec.ran) != 1+2+6 || len(s.out.res.Skips) != 0 || len(sum.Skipped) != 1 {
		t.Errorf("%d trials ran; summary %+v", len(s.exec.ran), sum)
	}
	for _, ran := range s.exec.ran {
		if ran.Strategy != "needy" {
			t.Errorf("%s ran again", ran.ID)
		}
	}
}
