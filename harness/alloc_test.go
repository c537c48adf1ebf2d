package harness

import (
	"fmt"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// In the steady state the sink makes no allocation, whatever it is asked to do.
func TestSinkDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const chunk, runs, warm = 512, 3000, 1500
	for _, assembly := range []string{"contiguous", "vectored"} {
		for _, hold := range []int{0, 8, 100} {
			for _, purpose := range []record.Purpose{record.Timing, record.Counting, record.Verify} {
				w := workload()
				w.Assembly, w.HoldMessages, w.Touch = assembly, hold, "payload"
				tr := trialOf("feed", w, purpose, runs+warm+1)
				tr.Warmup = 0
				f := newFeed(t, tr)
				f.sink.Buffers(4096)
				next, id := 0, int32(0)
				one := func() {
					m := &f.all[next]
					p := f.bufs[next]
					for len(p) > 0 {
						n := min(chunk, len(p))
						id = (id + 1) % 4096
						f.sink.Lend(id)
						f.sink.Deliver(m.client, p[:n], id, uint64(next))
						f.sink.Unref(id)
						p = p[n:]
					}
					f.sink.TakeFreed()
					next++
				}
				for range warm {
					one()
				}
				if n := testing.AllocsPerRun(runs, one); n != 0 {
					t.Errorf("%s, hold %d, %s: %g allocations a message", assembly, hold, purpose, n)
				}
				if err := f.sink.Err(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// Lists of pieces have their size from the start: none grows in a window, however
// late the largest message comes.
func TestPieceListsDoNotGrow(t *testing.T) {
	for _, hold := range []int{0, 8} {
		w := workload()
		w.Clients, w.Assembly, w.HoldMessages = 1, "vectored", hold
		w.Sizes = record.Sizes{Kind: "fixed", Bytes: 64 << 10}
		tr := trialOf("feed", w, record.Counting, 30)
		tr.Warmup = 0
		f := newFeed(t, tr)
		f.sink.Buffers(64 * 30)
		next, id := 0, int32(0)
		n := testing.AllocsPerRun(20, func() {
			p := f.bufs[next]
			for len(p) > 0 {
				f.sink.Lend(id)
				f.sink.Deliver(0, p[:1<<10], id, 0)
				f.sink.Unref(id)
				p, id = p[1<<10:], id+1
			}
			next++
		})
		if n != 0 {
			t.Errorf("hold %d: %g allocations a message of 64 pieces", hold, n)
		}
	}
}

// The memory of many long lists is bounded.
func TestPieceListsAreBounded(t *testing.T) {
	w := workload()
	w.Clients, w.Assembly, w.HoldMessages = 10_000, "vectored", 100_000
	w.Sizes = record.Sizes{Kind: "fixed", Bytes: 16 << 20}
	s, err := NewSink(record.Trial{Workload: w, Purpose: record.Counting}, monotonic(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	total := 0
	for i := range s.conns {
		total += cap(s.conns[i].pend)
	}
	for i := range s.hold.places {
		total += cap(s.hold.places[i].pieces)
	}
	if bytes := total * 16; bytes > pieceTableBytes || cap(s.conns[0].pend) < 8 {
		t.Errorf("%d bytes of lists, %d pieces each", bytes, cap(s.conns[0].pend))
	}
}

// BenchmarkFloor is what the harness itself takes for a message: one op is a
// message made in memory, stamped by the clock and taken by the sink.
func BenchmarkFloor(b *testing.B) {
	for _, c := range []struct {
		name   string
		change func(w *record.Workload)
	}{
		{"released-at-once", func(*record.Workload) {}},
		{"held", func(w *record.Workload) { w.HoldMessages = 8 }},
		{"payload", func(w *record.Workload) { w.Touch = "payload" }},
	} {
		for _, source := range floorClocks(b) {
			b.Run(fmt.Sprintf("%s/%s", c.name, source.Source), func(b *testing.B) {
				w := workload()
				c.change(&w)
				b.ReportAllocs()
				b.StopTimer()
				for n := 0; n < b.N; n += floorBatch {
					r := openNull(b, w, source)
					b.StartTimer()
					if err := r.Receive(uint64(min(floorBatch, b.N-n))); err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
				}
			})
		}
	}
}
