package harness

import (
	"testing"

	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// floorBatch is how many messages of the floor are measured by one sink.
const floorBatch = 100_000

// floorClocks are the clocks a run may stamp messages with.
func floorClocks(tb testing.TB) []clock.Clock {
	out := []clock.Clock{monotonic(tb)}
	if clock.HasTSC {
		c, err := clock.New(clock.SourceTSC, 1e9)
		if err != nil {
			tb.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// openNull opens the null strategy over a sink of its own.
func openNull(tb testing.TB, w record.Workload, clk clock.Clock) Receiver {
	tb.Helper()
	return openNullTrial(tb, trialOf("null", w, record.Floor, floorBatch), clk)
}

func openNullTrial(tb testing.TB, tr record.Trial, clk clock.Clock) Receiver {
	tb.Helper()
	s, err := NewSink(tr, clk, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(s.close)
	r, err := Null.Open(&Bench{Trial: tr, Sink: s}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// The null strategy does the work of its point, checked in verify trials as any
// other, under each kind of load.
func TestNullDoesTheWork(t *testing.T) {
	for _, purpose := range []record.Purpose{record.Timing, record.Floor, record.Counting, record.Verify} {
		for _, l := range []record.Load{{Mode: "closed", Depth: 1}, {Mode: "open", RateHz: 1000}, {Mode: "open", Fraction: .5}, {Mode: load.Lockstep}} {
			for _, assembly := range []string{"contiguous", "vectored"} {
				for _, hold := range []int{0, 3, -1} {
					w := workload()
					w.Load, w.Assembly, w.HoldMessages = l, assembly, max(hold, 0)
					if hold < 0 {
						w.HoldNS = 20_000
					}
					tr := trialOf("null", w, purpose, 300)
					rec := RunTrial(tr, childRegistry(), nil)
					want := load.NewSchedule(tr).Fingerprint(tr.Seed)
					if rec.Status != record.OK || rec.Fingerprint != want || rec.WarmupEnd != int64(tr.Warmup) {
						t.Fatalf("%s, %+v: %s %s, did %+v, want %+v", purpose, l, rec.Status, rec.Error, rec.Fingerprint, want)
					}
					if err := rec.Check(tr.ID); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// The floor's latency is the time from one message to the next, taken once each.
func TestNullLatencies(t *testing.T) {
	tr := trialOf("null", workload(), record.Floor, 2000)
	r := openNullTrial(t, tr, monotonic(t))
	sink := r.(*null).sink
	if err := r.Receive(uint64(tr.Warmup)); err != nil {
		t.Fatal(err)
	}
	begin := r.(*null).now
	sink.StartWindow()
	if err := r.Receive(uint64(tr.Warmup + tr.Messages)); err != nil {
		t.Fatal(err)
	}
	var sum uint64
	for _, d := range sink.ticks {
		sum += d
	}
	if len(sink.ticks) != tr.Messages || sum != r.(*null).now-begin {
		t.Errorf("%d latencies that add up to %d, want %d and %d", len(sink.ticks), sum, tr.Messages, r.(*null).now-begin)
	}
	if got := r.Counters().Receives; got != uint64(tr.Warmup+tr.Messages) {
		t.Errorf("%d receives", got)
	}
}

// A tampered null trial fails: the sink looks at what it is given.
func TestNullTampered(t *testing.T) {
	tr := trialOf("null", workload(), record.Verify, 100)
	rec := RunTampered(tr, childRegistry(), nil, func(client int, p []byte) (int, []byte) {
		if len(p) > load.HeaderBytes {
			p[load.HeaderBytes] ^= 1
		}
		return client, p
	})
	if rec.Status != record.Failed || rec.Error == "" {
		t.Errorf("%s: %q", rec.Status, rec.Error)
	}
}

func TestRunTrialRefuses(t *testing.T) {
	for name, change := range map[string]func(tr *record.Trial){
		"strategy": func(tr *record.Trial) { tr.Strategy = "none" },
		"param":    func(tr *record.Trial) { tr.Params = map[string]string{"size": "1"} },
		"clock":    func(tr *record.Trial) { tr.Clock.Source = "sundial" },
		"CPU":      func(tr *record.Trial) { tr.CPU = 1 << 20 },
		"address":  func(tr *record.Trial) { tr.Strategy, tr.Peer.Address = "reader", "10.0.0.1:80" },
		"token":    func(tr *record.Trial) { tr.Strategy, tr.Peer.Address = "reader", "127.0.0.1:1" },
	} {
		tr := trialOf("null", workload(), record.Timing, 10)
		change(&tr)
		if rec := RunTrial(tr, childRegistry(), nil); rec.Status != record.Failed || rec.Error == "" || rec.Trial != tr.ID {
			t.Errorf("%s: %+v", name, rec)
		}
	}
}
