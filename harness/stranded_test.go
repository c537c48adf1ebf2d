package harness

import (
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// keeper says that a buffer keeps a thousand bytes, and buffer 3 only a hundred.
type keeper struct{ Receiver }

func (keeper) Kept(id int32) int64 {
	if id == 3 {
		return 100
	}
	return 1000
}

func TestStrandedCountsEachBufferOnce(t *testing.T) {
	f := newFeed(t, feedTrial(record.Counting, func(w *record.Workload) { w.HoldMessages = 8; w.Assembly = "vectored" }))
	s := newStranded(keeper{}, len(f.all))
	if m, k := s.look(f.sink); m != 0 || k != 0 {
		t.Errorf("nothing held: %d bytes keep %d", m, k)
	}
	// Two messages in buffer 0, one in buffer 3, and the first half of one in
	// buffer 5.
	var bytes int64
	for i, id := range []int32{0, 0, 3} {
		f.sink.Deliver(f.all[i].client, f.bufs[i], id, 0)
		bytes += int64(len(f.bufs[i]))
	}
	if m, k := s.look(f.sink); m != bytes || k != 1100 {
		t.Errorf("three held: %d bytes keep %d, want %d and 1100", m, k, bytes)
	}
	half := f.bufs[3][:100]
	f.sink.Deliver(f.all[3].client, half, 5, 0)
	if m, k := s.look(f.sink); m != bytes+100 || k != 2100 {
		t.Errorf("and half a message: %d bytes keep %d, want %d and 2100", m, k, bytes+100)
	}
	if m, k := s.look(f.sink); m != bytes+100 || k != 2100 {
		t.Errorf("a second look differs: %d bytes keep %d", m, k)
	}
}

// Contiguous assembly copies a message out of its buffers: it keeps none.
func TestAssembledMessagesKeepNoBuffer(t *testing.T) {
	f := newFeed(t, feedTrial(record.Counting, func(w *record.Workload) { w.HoldMessages = 8; w.Assembly = "contiguous" }))
	s := newStranded(keeper{}, len(f.all))
	f.sink.Deliver(f.all[0].client, f.bufs[0][:60], 0, 0)
	f.sink.Deliver(f.all[0].client, f.bufs[0][60:], 1, 0)
	if m, k := s.look(f.sink); m != 0 || k != 0 {
		t.Errorf("%d bytes keep %d", m, k)
	}
}

func TestStrandedWithoutAKeeper(t *testing.T) {
	s := newStranded(nil, 4)
	if m, k := s.look(nil); m != 0 || k != 0 {
		t.Errorf("%d bytes keep %d", m, k)
	}
}

// The window is sampled at its own steps from its first message on, the warm-up
// at longer ones.
func TestSamplesOfWarmupAndWindow(t *testing.T) {
	for _, c := range []struct {
		warmup, early, every uint64
		want                 []uint64
	}{
		{0, 10, 10, []uint64{10, 20, 30}},
		{100, 40, 10, []uint64{40, 80, 110, 120, 130}},
		{80, 40, 10, []uint64{40, 80, 90, 100}},
		{5, 10, 10, []uint64{15, 25}},
	} {
		s := sampler{warmup: c.warmup, early: c.early, every: c.every}
		at := uint64(0)
		for i, want := range c.want {
			if at = s.next(at); at != want {
				t.Errorf("warm-up of %d: sample %d at %d, want %d", c.warmup, i, at, want)
			}
		}
	}
}
