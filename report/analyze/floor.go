package analyze

import "github.com/zcbench/zcbench/harness/record"

// FloorFactor is how many times the harness floor a figure must exceed to be
// called the strategy's own.
const FloorFactor = 3

// floorStrategy is the harness measuring itself; near its own floor it always is.
const floorStrategy = "null"

// floorAt is the median of a metric over the null strategy's trials at a point,
// at all points if it ran at other points only; n is the number of trials.
func (r *run) floorAt(metric, point string) (v float64, n int) {
	var here, all []float64
	for _, t := range r.floor {
		x, ok := t.Record.Metrics[metric]
		if !ok {
			continue
		}
		all = append(all, x.Float64())
		if t.Trial.Point == point {
			here = append(here, x.Float64())
		}
	}
	if len(here) == 0 {
		here = all
	}
	if len(here) == 0 {
		return 0, 0
	}
	return Median(here), len(here)
}

// floorValues are the medians of what the null strategy's trials report, over
// all points, in the order of the file's metrics.
func (r *run) floorValues() []FloorValue {
	var out []FloorValue
	for _, m := range r.res.Header.Metrics {
		var v []float64
		for _, t := range r.floor {
			if x, ok := t.Record.Metrics[m.Name]; ok {
				v = append(v, x.Float64())
			}
		}
		if len(v) > 0 {
			out = append(out, FloorValue{Metric: m.Name, Unit: m.Unit, V: Median(v), N: len(v)})
		}
	}
	return out
}

// nearFloor reports whether a case's figure is mostly the harness's own cost at
// the same point.
func (r *run) nearFloor(c *caseData, m record.Metric, v float64) bool {
	if c.info.Strategy == floorStrategy {
		return false
	}
	floor, n := r.floorAt(m.Name, c.info.Point)
	return n > 0 && nearFloor(m, v, floor)
}

// nearFloor reports whether v is mostly the harness's own cost. Only times and
// rates have a floor: a count of zero is a good count.
func nearFloor(m record.Metric, v, floor float64) bool {
	if floor <= 0 {
		return false
	}
	if m.Better == record.Higher {
		return m.Per == record.PerSecond && v >= floor/FloorFactor
	}
	return (m.Unit == record.UnitSeconds || m.Unit == record.UnitTSC) && v <= floor*FloorFactor
}
