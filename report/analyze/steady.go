package analyze

import (
	"fmt"
	"math"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/figure"
)

const (
	// driftP is the level of the test of one cell: at five blocks a side only
	// halves that do not overlap reach it (p = .0079).
	driftP = 0.01
	// driftChange is the smallest change of the median worth a warning; without
	// it one cell in a hundred would warn by chance alone.
	driftChange = 0.05
	// driftBlocks a half are the fewest that can reach driftP.
	driftBlocks = 5
)

// steadiness compares the first half of the blocks with the second for every
// timed metric, and marks the cells that moved.
func (r *run) steadiness(s *Scenario) Steady {
	out := Steady{}
	for pi := range s.Points {
		for ci := range s.Points[pi].Cases {
			c := &s.Points[pi].Cases[ci]
			for _, m := range s.Metrics {
				cell := c.Cells[m.Name]
				d, tested := drift(m, &cell)
				if !tested {
					continue
				}
				out.Tested++
				if d != nil {
					d.Case = c.Info.ID
					out.Drifts = append(out.Drifts, *d)
					cell.Marks = append(slices.Clone(cell.Marks), MarkDrift)
					c.Cells[m.Name] = cell
				}
			}
		}
	}
	out.Summary = out.summary()
	return out
}

// drift tests one cell; tested is false when it has too few blocks to tell, or
// is an extreme, which is shown and never tested.
func drift(m record.Metric, c *Cell) (d *Drift, tested bool) {
	half := len(c.Samples) / 2
	if purposeOf(m) != record.Timing || m.Name == "latency_max" || half < driftBlocks {
		return nil, false
	}
	var v []float64
	for _, s := range c.Samples {
		v = append(v, s.V)
	}
	first, second := v[:half], v[len(v)-half:]
	was, is := Median(first), Median(second)
	if was <= 0 || is <= 0 {
		return nil, false
	}
	change := is/was - 1
	p := MannWhitney(first, second).P
	if p > driftP || math.Abs(change) < driftChange {
		return nil, true
	}
	return &Drift{Metric: m.Name, Change: change, P: p}, true
}

func (s *Steady) summary() string {
	switch {
	case s.Tested == 0:
		return fmt.Sprintf("steady state cannot be told: fewer than %d blocks", 2*driftBlocks)
	case len(s.Drifts) == 0:
		return fmt.Sprintf("steady state reached: none of %d timed figures moved by %.0f%% between the halves of the run", s.Tested, driftChange*100)
	}
	var names []string
	for _, d := range s.Drifts {
		names = append(names, fmt.Sprintf("%s of %s %s%%", figure.Name(d.Metric), d.Case, figure.Signed(100*d.Change, "")))
	}
	return fmt.Sprintf("steady state not reached: %d of %d timed figures moved between the halves of the run: %s", len(s.Drifts), s.Tested, list(names))
}
