package harness

import (
	"math"
	"slices"

	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// Outcome is everything a window left behind, from which the metric table picks.
type Outcome struct {
	Trial    record.Trial
	Messages int64
	Bytes    int64
	WallNS   int64
	CPUNS    int64 // of the process, user and system together
	Faults   int64 // minor, of the measured thread
	Count    Counters
	TicksHz  float64 // of the ticks in Count
	Copied   int64   // bytes the sink copied to make messages contiguous
	Forced   int64
	Allocs   int64 // Go heap objects; counting trials
	AllocB   int64
	Latency  latencies
	Fair     fairness
	Refused  refusals
	Kernel   *kernelObjects
	Memory   *memoryLevels
	Posts    *Posts // of kinds that post work requests
	Work     record.Fingerprint
	Notes    []string
	Series   []record.Series
	Skip     *Skip // set when the trial cannot be measured on this device
	Perf     map[string]float64
	NoPerf   map[string]string // metric -> reason
}

// Skip is why a trial cannot be measured, and what to do about it. As the error
// of a receive strategy's Open it makes the trial a skip, not a failure.
type Skip struct{ Reason, Remedy string }

func (s *Skip) Error() string { return s.Reason + "; " + s.Remedy }

// latencies are the sorted latencies of a window in nanoseconds, whole and by
// size band.
type latencies struct {
	all    []int64
	bands  [3][]int64
	banded bool // the sizes differ
}

// Bands of message sizes, in order.
var bandNames = [3]string{"small", "medium", "large"}

func newLatencies(s *Sink, sizes record.Sizes, clk clock.Clock) latencies {
	var l latencies
	small, medium := load.Bands(sizes)
	l.banded = small < load.Largest(sizes)
	l.all = make([]int64, len(s.ticks))
	for i, d := range s.ticks {
		ns := max(0, clk.NS(d))
		l.all[i] = ns
		b := 2
		switch size := int64(s.sizes[i]); {
		case size <= small:
			b = 0
		case size <= medium:
			b = 1
		}
		l.bands[b] = append(l.bands[b], ns)
	}
	slices.Sort(l.all)
	for _, b := range l.bands {
		slices.Sort(b)
	}
	return l
}

// nanoseconds are the latencies of a window, in the order the messages came.
func nanoseconds(ticks []uint64, clk clock.Clock) []int64 {
	out := make([]int64, len(ticks))
	for i, d := range ticks {
		out[i] = max(0, clk.NS(d))
	}
	return out
}

// quantile returns the p-quantile of sorted values by nearest rank. It is told
// only where at least ten values lie above it.
func quantile(sorted []int64, p float64) (int64, string) {
	if len(sorted) == 0 {
		return 0, "no latencies were taken"
	}
	// A little slack: 10000 * (1 - 0.999) falls short of ten in floating point.
	const slack = 1e-6
	n := float64(len(sorted))
	if n*(1-p) < 10-slack {
		return 0, "fewer than ten messages lie above it in one window"
	}
	rank := int(math.Ceil(n*p - slack))
	return sorted[max(rank, 1)-1], ""
}
