package uringimpl

import (
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
)

// TestCompletionRingHasRoom: with a backlog in many small chunks on every
// socket no completion overflows, so each client asks for its receive once. A
// multishot that overflowed would be asked for again.
func TestCompletionRingHasRoom(t *testing.T) {
	for _, clients := range []int{1, 16, 40} {
		var f *provided
		s := altered(ringFixed, func(r harness.Receiver) harness.Receiver {
			f = r.(fixed).provided
			return r
		})
		w := wild()
		w.Clients, w.Load.Depth = clients, 64
		w.Sizes = record.Sizes{Kind: "fixed", Bytes: 60_000}
		tr := newTrial(s.Name, map[string]string{"chunk": "1KiB"}, w, record.Timing, 3000)
		rec, _ := runTrialOf(t, tr, harness.Registry{s}, nil)
		if rec.Status != record.OK {
			t.Fatal(rec.Error)
		}
		if c := f.Counters(); c.SQEs != uint64(clients)+c.NoBufs {
			t.Errorf("%d clients: %d receives asked for, %d refused for want of a buffer, %d calls", clients, c.SQEs, c.NoBufs, c.Enters)
		}
	}
}
