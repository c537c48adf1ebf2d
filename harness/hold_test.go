package harness

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// A hold queue against a plain list: messages come out in the order they came,
// of all or of one client, through growth and reuse of places.
func TestHoldQueueAgainstAList(t *testing.T) {
	const clients = 5
	for _, each := range []int{0, 3} {
		q := newHoldQueue(0, each, clients, 1)
		rng := rand.New(rand.NewPCG(7, uint64(each)))
		var list []held
		for step := range 5000 {
			client := int32(rng.IntN(clients))
			mine := slices.IndexFunc(list, func(h held) bool { return h.client == client })
			switch {
			case rng.IntN(100) < 55:
				h := q.push(client)
				h.off = uint64(step)
				list = append(list, held{client: client, off: uint64(step)})
			case each > 0 && mine >= 0:
				if got := q.remove(q.clients[client].first); got.off != list[mine].off || got.client != client {
					t.Fatalf("step %d: message %d of client %d came out, want %d", step, got.off, got.client, list[mine].off)
				}
				list = slices.Delete(list, mine, mine+1)
			case len(list) > 0:
				if got := q.remove(q.oldest); got.off != list[0].off {
					t.Fatalf("step %d: message %d came out, want %d", step, got.off, list[0].off)
				}
				list = list[1:]
			}
			at, n := q.oldest, 0
			for ; at != noPlace; at = q.places[at].younger {
				if n >= len(list) || q.places[at].off != list[n].off {
					t.Fatalf("step %d: place %d of the queue differs from the list", step, n)
				}
				n++
			}
			if n != len(list) || q.n != n {
				t.Fatalf("step %d: %d messages in the queue, it says %d, want %d", step, n, q.n, len(list))
			}
		}
	}
}

func TestHoldQueueHasItsPlacesBeforehand(t *testing.T) {
	for _, c := range []struct{ messages, each, places int }{{8, 0, 9}, {0, 4, 13}, {0, 0, 1}} {
		if q := newHoldQueue(c.messages, c.each, 3, 0); len(q.places) != c.places {
			t.Errorf("%d messages, %d each: %d places, want %d", c.messages, c.each, len(q.places), c.places)
		}
	}
}

// Where each client holds its own, a quiet client's message stays however many
// come to the others, until memory runs out.
func TestEachClientHoldsItsOwn(t *testing.T) {
	f := newFeed(t, feedTrial(record.Verify, func(w *record.Workload) { w.HoldEach = 2; w.Clients = 3 }))
	count := make([]int, 3)
	first := make([]int, 3)
	for i, m := range f.all {
		if count[m.client]++; count[m.client] == 1 {
			first[m.client] = i
		}
		f.deliver(i)
	}
	if err := f.sink.Err(); err != nil {
		t.Fatal(err)
	}
	if got := f.sink.Holding(); got != 6 {
		t.Errorf("%d messages held, want 2 of each of 3 clients", got)
	}
	for c, n := range count {
		if held := f.sink.refs[first[c]] > 0; held != (n <= 2) {
			t.Errorf("client %d, %d messages: its first is held: %v", c, n, held)
		}
	}
	for f.sink.ForceRelease() {
	}
	if f.sink.Holding() != 0 || f.sink.forced != 6 {
		t.Errorf("%d held after all are let go, %d forced", f.sink.Holding(), f.sink.forced)
	}
	for id, refs := range f.sink.refs {
		if refs != 0 {
			t.Errorf("buffer %d still has %d holders", id, refs)
		}
	}
}
