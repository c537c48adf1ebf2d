package uringimpl

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

var testClock = func() clock.Clock {
	c, _ := clock.Choose("/", 20*time.Millisecond)
	return c
}()

func registry() harness.Registry { return append(harness.Registry{harness.Null}, Strategies()...) }

// wild is a workload whose sizes vary wildly; tests change what they need.
func wild() record.Workload {
	return record.Workload{
		Kind: "receive", Transport: "tcp", Clients: 4,
		Sizes:       record.Sizes{Kind: "lognormal", Median: 2048, Sigma: 1.6, Max: 64 << 10},
		BudgetBytes: 256 << 10,
		Load:        record.Load{Mode: "closed", Depth: 4},
		Assembly:    "contiguous", Touch: "header",
	}
}

func newTrial(strategy string, params map[string]string, w record.Workload, purpose record.Purpose, messages int) record.Trial {
	if purpose == record.Counting {
		w.Load = record.Load{Mode: load.Lockstep}
	}
	return record.Trial{
		Schema: record.Schema, ID: fmt.Sprintf("test/%s/%s", strategy, purpose), Strategy: strategy, Params: params,
		Workload: w, Purpose: purpose, Seed: 42, Warmup: load.WarmupMessages(w), Messages: messages,
		Clock: record.Clock{Source: testClock.Source, TicksHz: testClock.TicksHz},
		CPU:   -1, OtherCPU: -1, DeadlineMS: 60_000,
		Peer: record.Peer{Network: w.Transport, Token: "00112233445566778899aabbccddeeff"},
	}
}

// runTrial runs a trial against a generator in this process.
func runTrial(t *testing.T, tr record.Trial, tamper harness.Tamper) (record.Record, record.Generator) {
	t.Helper()
	return runTrialOf(t, tr, registry(), tamper)
}

// runTrialOf is runTrial with other strategies.
func runTrialOf(t *testing.T, tr record.Trial, reg harness.Registry, tamper harness.Tamper) (record.Record, record.Generator) {
	t.Helper()
	f, err := load.NewProgressFile(tr.Workload.Clients)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	mine, theirs := mapProgress(t, f, tr), mapProgress(t, f, tr)
	defer mine.Close()
	ln, err := load.Listen(tr.Peer.Network)
	if err != nil {
		t.Fatal(err)
	}
	tr.Peer.Address = ln.Addr().String()
	type sent struct {
		rep record.Generator
		err error
	}
	done := make(chan sent, 1)
	go func() {
		defer theirs.Close()
		rep, err := load.Generate(tr, ln, theirs)
		ln.Close()
		done <- sent{rep, err}
	}()
	got := make(chan record.Record, 1)
	go func() { got <- harness.RunTampered(tr, reg, mine, tamper) }()
	rec := <-got
	s := <-done
	if s.err != nil && rec.Status == record.OK {
		t.Errorf("generator: %v", s.err)
	}
	return rec, s.rep
}

func mapProgress(t *testing.T, f *os.File, tr record.Trial) *load.Progress {
	t.Helper()
	p, err := load.MapProgress(int(f.Fd()), tr.Workload.Clients)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestEveryStrategyEveryPurpose(t *testing.T) {
	for _, s := range Strategies() {
		for _, purpose := range []record.Purpose{record.Timing, record.Counting, record.Verify} {
			t.Run(s.Name+"/"+string(purpose), func(t *testing.T) {
				tr := newTrial(s.Name, nil, wild(), purpose, 600)
				rec, rep := runTrial(t, tr, nil)
				if rec.Status != record.OK {
					t.Fatalf("%s: %s", rec.Status, rec.Error)
				}
				if want := load.NewSchedule(tr).Fingerprint(tr.Seed); rec.Fingerprint != want {
					t.Errorf("fingerprint %+v, want %+v", rec.Fingerprint, want)
				}
				for k, v := range rec.Metrics {
					t.Logf("%s %g", k, v.Float64())
				}
				t.Log(rec.Notes, rec.Unavailable, rep, rec.Window)
			})
		}
	}
}
