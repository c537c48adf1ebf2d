package harness

import (
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// A plant burns once for so many messages, in timing trials only, and not at all
// when nothing is planted.
func TestPlantBurnsInTimingTrialsOnly(t *testing.T) {
	for _, c := range []struct {
		purpose record.Purpose
		ns      int64
		due     uint64
	}{
		{record.Timing, 50, plantEvery},
		{record.Timing, 0, 0},
		{record.Counting, 50, 0},
		{record.Verify, 50, 0},
	} {
		f := newFeed(t, feedTrial(c.purpose, nil))
		f.sink.plant(c.ns)
		if f.sink.sampled != c.due {
			t.Errorf("%s with %d ns: the first burn is due at message %d, want %d", c.purpose, c.ns, f.sink.sampled, c.due)
		}
		if c.due == 0 {
			continue
		}
		if next := f.sink.sample(c.due); next != 2*plantEvery {
			t.Errorf("the second burn is due at message %d, want %d", next, 2*plantEvery)
		}
	}
}

// Twice the time takes twice the turns, whatever the machine's speed.
func TestPlantScales(t *testing.T) {
	s := newFeed(t, feedTrial(record.Timing, nil)).sink
	small, large := s.turnsIn(10_000), s.turnsIn(1_000_000)
	if ratio := float64(large) / float64(small); ratio < 50 || ratio > 200 {
		t.Errorf("a hundred times the time takes %d turns against %d", large, small)
	}
}
