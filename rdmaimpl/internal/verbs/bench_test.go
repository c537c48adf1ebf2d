//go:build cgo && !noverbs

package verbs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
)

// benchContext is the device, or the null device where there is none.
func benchContext(b *testing.B) *Context {
	b.Helper()
	c, err := Open("")
	if errors.Is(err, ErrUnavailable) {
		return openNull(b)
	}
	if err != nil {
		b.Fatal(err)
	}
	closing(b, c)
	return c
}

// wholeTicks runs n batches timed as a whole and returns the median over segments
// of ticks per request: a segment that was interrupted does not count.
func wholeTicks(b *testing.B, w *Window, n int) float64 {
	b.Helper()
	w.cfg.Batches, w.cfg.Totals = 0, n
	r := ran(b, w)
	var each []float64
	for _, t := range r.Totals {
		each = append(each, float64(t.Ticks)/float64(t.Batches*w.cfg.Batch))
	}
	slices.Sort(each)
	return each[len(each)/2]
}

// interleaved returns the median of the ratios of lane x to lane y over rounds, in
// which each runs once, in turn first, and the upper end of its 95% interval. Both
// run on one window, for where arrays and queues lie is worth several per cent.
func interleaved(b *testing.B, w *Window, x, y Lane, rounds, batches int) (median, upper float64) {
	b.Helper()
	run := func(l Lane) float64 {
		w.asLane(l)
		return wholeTicks(b, w, batches)
	}
	ratios := make([]float64, rounds)
	for i := range rounds {
		var first, second float64
		if i%2 == 0 {
			first = run(x)
			second = run(y)
		} else {
			second = run(y)
			first = run(x)
		}
		ratios[i] = first / second
	}
	slices.Sort(ratios)
	// The order statistic whose rank is half a binomial's 97.5% point.
	rank := min(int(math.Ceil(float64(rounds)/2+0.98*math.Sqrt(float64(rounds)))), rounds-1)
	return ratios[rounds/2], ratios[rank]
}

// BenchmarkArrayLinkedOverBare holds the array-linked lane to a bare C loop: the
// upper end of the ratio's interval is to be at most 1.03.
func BenchmarkArrayLinkedOverBare(b *testing.B) {
	for _, n := range []int{1, 5, 33, 128} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			c := benchContext(b)
			w := warmed(b, opened(b, c.OpenWindow, Config{Lane: RecvArrayLinked, Batch: n, Bytes: 64, Totals: 1}))
			for b.Loop() {
				median, upper := interleaved(b, w, RecvArrayLinked, RecvBare, 101, 8*w.segment)
				b.ReportMetric(median, "ratio")
				b.ReportMetric(upper, "ratio_upper")
			}
		})
	}
}

// BenchmarkLanes prints what each lane costs a request, as a whole.
func BenchmarkLanes(b *testing.B) {
	for _, lane := range Lanes() {
		for _, n := range []int{1, 16, 128} {
			b.Run(fmt.Sprintf("%s/batch=%d", lane, n), func(b *testing.B) { benchLane(b, lane, n) })
		}
	}
}

func benchLane(b *testing.B, lane Lane, n int) {
	c := benchContext(b)
	if c.null() && !onNull(lane) {
		b.Skip("needs a device")
	}
	w := warmed(b, opened(b, c.OpenWindow, Config{Lane: lane, Batch: n, Bytes: 256, Totals: 1}))
	for b.Loop() {
		b.ReportMetric(wholeTicks(b, w, max(20*w.segment, 1)), "ticks/wr")
	}
}

// BenchmarkWindowOverhead is what a window adds to the lane's loop: two readings
// of the clock, as a share of a segment.
func BenchmarkWindowOverhead(b *testing.B) {
	c := benchContext(b)
	w := opened(b, c.OpenWindow, Config{Lane: RecvArrayLinked, Batch: 16, Bytes: 64, Totals: 1})
	for b.Loop() {
		w.cfg.Totals = 100 * w.segment
		r := ran(b, w)
		var ticks uint64
		for _, t := range r.Totals {
			ticks += t.Ticks
		}
		b.ReportMetric(100*float64(r.ClockTicks)*float64(len(r.Totals))/float64(ticks), "%")
	}
}
