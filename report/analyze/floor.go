package analyze

import "github.com/zcbench/zcbench/harness/record"

// FloorFactor is how many times the harness floor a figure must exceed to be
// called the strategy's own.
const FloorFactor = 3

// floorValues are the medians of what the null strategy's trials report, in the
// order of the file's metrics.
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
