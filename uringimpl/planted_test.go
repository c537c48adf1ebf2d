package uringimpl

import (
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// verifyTrials are the verify trials that the smoke run of a built-in scenario has
// of some strategies, one a case.
func verifyTrials(t *testing.T, scenario string, strategies ...string) []record.Trial {
	t.Helper()
	sc, err := scenarios.Open(scenario)
	if err != nil {
		t.Fatal(err)
	}
	if sc, err = sc.Smoke(); err != nil {
		t.Fatal(err)
	}
	plan, err := harness.NewPlan(sc, registry(), harness.PlanOptions{Seed: 7, CPU: -1, OtherCPU: -1})
	if err != nil {
		t.Fatal(err)
	}
	var out []record.Trial
	for _, tr := range plan.Trials {
		if tr.Purpose == record.Verify && slices.Contains(strategies, tr.Strategy) {
			if tr.Workload.Load.Mode == "open" {
				tr.Workload.Load.RateHz = 20_000 // for the capacity, which nobody measures here
			}
			tr.Clock = record.Clock{Source: testClock.Source, TicksHz: testClock.TicksHz}
			tr.Peer = record.Peer{Network: tr.Workload.Transport, Token: "00112233445566778899aabbccddeeff"}
			out = append(out, tr)
		}
	}
	return out
}

// TestPlantedOffsetErrorIsFound: with the offsets of incremental consumption one
// byte off, the verify trial of every case of every built-in scenario that
// consumes incrementally fails, because of the bytes.
func TestPlantedOffsetErrorIsFound(t *testing.T) {
	shifted := func(r harness.Receiver) harness.Receiver {
		offByOne(r.(*incremental))
		return r
	}
	faulty := harness.Registry{altered(ringInc, shifted), altered(ringIncBundle, shifted)}
	cases := 0
	for _, name := range scenarios.Embedded() {
		if !strings.HasPrefix(name, "uring-") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, tr := range verifyTrials(t, name, ringInc.Name, ringIncBundle.Name) {
				cases++
				rec, _ := runTrialOf(t, tr, faulty, nil)
				because := func(words string) bool { return strings.Contains(rec.Error, words) }
				if rec.Status != record.Failed || !slices.ContainsFunc(found, because) {
					t.Errorf("%s: the trial is %s: %s", tr.Case, rec.Status, rec.Error)
				}
			}
		})
	}
	if cases == 0 {
		t.Error("no built-in scenario consumes incrementally")
	}
}
