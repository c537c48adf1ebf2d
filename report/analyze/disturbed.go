package analyze

import (
	"math"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
)

// Marks of a timing trial that was disturbed far more than the others of its case.
const (
	stolen    = "steal"
	preempted = "preempted"
)

// A trial stands out if its figure lies beyond the median of its case's timing
// trials by farMADs times their median absolute deviation, and by a floor as well:
// where all are almost alike, the next one is no outlier. Below leastTrials the
// rest does not tell what is usual.
const (
	farMADs     = 5
	leastTrials = 5
	// floorSwitches a second: each costs a millisecond or so of another's turn, so
	// that less than a hundredth of the window is gone. A few happen to anybody.
	floorSwitches = 10.0
	fewSwitches   = 3
	floorSteal    = 0.01 // of the window
)

// disturbances are what a window lost to others, as a rate.
var disturbances = []struct {
	mark  string
	of    func(w record.Window) float64
	floor func(w record.Window) float64
}{
	{preempted, func(w record.Window) float64 { return 1e9 * float64(w.Involuntary) / float64(w.NS) },
		func(w record.Window) float64 { return max(floorSwitches, 1e9*fewSwitches/float64(w.NS)) }},
	{stolen, func(w record.Window) float64 { return float64(w.StealNS) / float64(w.NS) },
		func(record.Window) float64 { return floorSteal }},
}

// disturbed marks the timing trials of a case that stand out. They are kept: what
// disturbs the machine meets all cases alike, and leaving out what looks bad would
// make any case look good.
func (c *caseData) disturbed() {
	var timing []*record.TrialLine
	for _, t := range c.used {
		if t.Trial.Purpose == record.Timing && t.Record.Window.NS > 0 {
			timing = append(timing, t)
		}
	}
	if len(timing) < leastTrials {
		return
	}
	for _, d := range disturbances {
		var rates []float64
		for _, t := range timing {
			rates = append(rates, d.of(t.Record.Window))
		}
		usual := Median(rates)
		var off []float64
		for _, v := range rates {
			off = append(off, math.Abs(v-usual))
		}
		far := farMADs * Median(off)
		for i, t := range timing {
			if rates[i] > usual+max(far, d.floor(t.Record.Window)) && !slices.Contains(trialMarks(t), d.mark) {
				c.marks[markKey{d.mark, record.Timing}]++
			}
		}
	}
}
