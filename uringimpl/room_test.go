package uringimpl

import (
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// TestCompletionRingHasRoom: with a backlog on every socket no completion
// overflows, so each client asks for its receive once, and again only when it
// was refused a buffer. A multishot that overflowed would be asked for again.
func TestCompletionRingHasRoom(t *testing.T) {
	for _, c := range []struct {
		strategy harness.Strategy
		params   map[string]string
	}{
		{ringFixed, map[string]string{"chunk": "1KiB"}},
		{ringInc, map[string]string{"entries": "8"}},
		{ringFixed, map[string]string{"chunk": "1KiB", "group": "shared"}},
		{ringInc, map[string]string{"entries": "8", "group": "shared"}},
	} {
		for _, clients := range []int{1, 16, 40} {
			var f *provided
			s := altered(c.strategy, func(r harness.Receiver) harness.Receiver {
				f = providedBy(r)
				return r
			})
			w := wild()
			w.Clients, w.Load.Depth = clients, 64
			w.Sizes = record.Sizes{Kind: "fixed", Bytes: 60_000}
			rec, _ := runTrialOf(t, newTrial(s.Name, c.params, w, record.Timing, 1000), harness.Registry{s}, nil)
			if rec.Status != record.OK {
				t.Fatal(rec.Error)
			}
			if n := f.Counters(); n.SQEs != uint64(clients)+n.NoBufs {
				t.Errorf("%s, %d clients: %d receives asked for, %d refused for want of a buffer, %d calls",
					s.Name, clients, n.SQEs, n.NoBufs, n.Enters)
			}
		}
	}
}

// TestOneCallAWakeUp: each time round its loop a strategy calls
// io_uring_enter at most once, under a load that does not wait for it.
func TestOneCallAWakeUp(t *testing.T) {
	for _, plain := range []harness.Strategy{ringFixed, ringBundle, ringInc, ringIncBundle, provideLegacy, slot, heap} {
		var rounds, calls, before uint64
		var counters func() harness.Counters
		provides := func(p *provided) {
			take := p.take
			p.take = func(c []ring.CQE) error { calls++; return take(c) } // twice a round
		}
		receives := func(s *single) {
			recycled := s.recycled
			s.recycled = func() {
				rounds++
				if recycled != nil {
					recycled()
				}
			}
		}
		s := altered(plain, func(r harness.Receiver) harness.Receiver {
			counters, before = r.Counters, r.Counters().Enters // opening may take some
			switch v := r.(type) {
			case fixed, bundled, *incremental, legacyFixed:
				provides(providedBy(r))
			case slots:
				receives(v.single)
			case *heaps:
				receives(v.single)
			default:
				t.Fatalf("%s: %T is not known here", plain.Name, r)
			}
			return r
		})
		w := wild()
		w.Clients = 16
		rec, _ := runTrialOf(t, newTrial(s.Name, nil, w, record.Timing, 2000), harness.Registry{s}, nil)
		if rec.Status != record.OK {
			t.Fatal(rec.Error)
		}
		rounds += calls / 2
		if n := counters().Enters - before; n > rounds || rounds == 0 {
			t.Errorf("%s: %d calls in %d rounds", s.Name, n, rounds)
		}
	}
}
