package uringimpl

import (
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
)

// TestCompletionRingHasRoom: with a backlog on every socket no completion
// overflows, so each client asks for its receive once, and again only when it
// was refused a buffer. A multishot that overflowed would be asked for again.
func TestCompletionRingHasRoom(t *testing.T) {
	for _, c := range []struct {
		strategy harness.Strategy
		params   map[string]string
		ring     func(harness.Receiver) *provided
	}{
		{ringFixed, map[string]string{"chunk": "1KiB"}, func(r harness.Receiver) *provided { return r.(fixed).provided }},
		{ringInc, map[string]string{"entries": "8"}, func(r harness.Receiver) *provided { return r.(*incremental).provided }},
	} {
		for _, clients := range []int{1, 16, 40} {
			var f *provided
			s := altered(c.strategy, func(r harness.Receiver) harness.Receiver {
				f = c.ring(r)
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
