package render

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// logScale is gonum's logarithmic scale without its panics: what is not
// positive sits at the lower end.
type logScale struct{}

// Normalize returns where x lies between lo and hi, 0 to 1.
func (logScale) Normalize(lo, hi, x float64) float64 {
	if lo <= 0 || hi <= lo || x <= 0 {
		return 0
	}
	return math.Log(x/lo) / math.Log(hi/lo)
}

// axisRange is a range that can always be drawn: finite and not empty.
type axisRange struct {
	lo, hi float64
	log    bool
}

// plottable reports whether v has a place on an axis. No quantity comes near
// the bounds; beyond them float64 runs out when ranges are widened.
func plottable(v float64, log bool) bool {
	return math.Abs(v) < 1e100 && (!log || v > 1e-100)
}

// valueRange spans the values usable on the axis; false when there are none.
func valueRange(log bool, vs ...float64) (axisRange, bool) {
	r := axisRange{lo: math.Inf(1), hi: math.Inf(-1), log: log}
	for _, v := range vs {
		if !plottable(v, log) {
			continue
		}
		r.lo, r.hi = math.Min(r.lo, v), math.Max(r.hi, v)
	}
	return r, r.lo <= r.hi
}

// padded widens the range by share on both sides, at least so far that a
// single value gets a range around it which float64 can tell apart.
func (r axisRange) padded(share float64) axisRange {
	if r.log {
		f := math.Max(math.Pow(r.hi/r.lo, share), 1.05)
		if r.hi/r.lo < 1.3 {
			f = math.Max(f, 1.3)
		}
		return axisRange{r.lo / f, r.hi * f, true}
	}
	pad := (r.hi - r.lo) * share
	if r.hi-r.lo <= math.Max(math.Abs(r.lo), math.Abs(r.hi))*1e-9 {
		pad = math.Max(math.Max(math.Abs(r.hi), math.Abs(r.lo))*0.1, 1e-12)
		if r.lo == 0 && r.hi == 0 {
			pad = 1 // nothing tells how large a difference would be
		}
	}
	return axisRange{lo: r.lo - pad, hi: r.hi + pad}
}

// fromZero makes a linear range start at zero when it is all on one side, which keeps
// lengths proportional to values.
func (r axisRange) fromZero() axisRange {
	switch {
	case r.log:
	case r.lo > 0:
		r.lo = 0
	case r.hi < 0:
		r.hi = 0
	}
	if !r.log && r.lo == r.hi {
		r.hi = r.lo + 1
	}
	return r
}

// apply sets a gonum axis to the range and the ticks.
func (r axisRange) apply(a *plot.Axis, ticks []plot.Tick) {
	a.Min, a.Max = r.lo, r.hi
	a.Scale = plot.LinearScale{}
	if r.log {
		a.Scale = logScale{}
	}
	a.Tick.Marker = plot.ConstantTicks(ticks)
}

// ticks places about n labelled ticks, at least two where the range allows.
// The labels are in the display unit that suits unit; the axis title names
// the unit where it is not part of the label.
func (r axisRange) ticks(n int, unit string) []plot.Tick {
	if !r.log || r.hi/r.lo < 2.5 {
		return linearTicks(r.lo, r.hi, n, unit)
	}
	mantissas, every := logSteps(r.lo, r.hi, n)
	var ts []plot.Tick
	for d := int(math.Floor(math.Log10(r.lo))); d <= int(math.Ceil(math.Log10(r.hi))); d++ {
		decade := math.Pow(10, float64(d))
		for m := 1.0; m < 10; m++ {
			v := m * decade
			switch {
			case v < r.lo*(1-1e-9) || v > r.hi*(1+1e-9) || decade == 0:
			case slices.Contains(mantissas, m) && d%every == 0:
				ts = append(ts, plot.Tick{Value: v, Label: tickLabel(v, unit)})
			case every == 1:
				ts = append(ts, plot.Tick{Value: v})
			case m == 1:
				ts = append(ts, plot.Tick{Value: v})
			}
		}
	}
	return ts
}

// thin takes the labels from ticks that would run into another on an axis of
// the given length. The label of 1, the mark of no effect, stays.
func (r axisRange) thin(ts []plot.Tick, length vg.Length) []plot.Tick {
	sty := textStyle(sizeTick, toneInk, false)
	type span struct{ lo, hi vg.Length }
	var kept []span
	for _, first := range []bool{true, false} {
		for i, t := range ts {
			if t.IsMinor() || (t.Value == 1) != first {
				continue
			}
			mid := vg.Length(r.norm(t.Value)) * length
			half := sty.Width(t.Label)/2 + 3
			s := span{mid - half, mid + half}
			if slices.ContainsFunc(kept, func(k span) bool { return s.lo < k.hi && k.lo < s.hi }) {
				ts[i].Label = ""
				continue
			}
			kept = append(kept, s)
		}
	}
	return ts
}

// norm returns where v lies in the range, 0 to 1.
func (r axisRange) norm(v float64) float64 {
	if r.log {
		return logScale{}.Normalize(r.lo, r.hi, v)
	}
	return plot.LinearScale{}.Normalize(r.lo, r.hi, v)
}

// logSteps picks the mantissas to label, and in every how many decades, so
// that about n labels result.
func logSteps(lo, hi float64, n int) (mantissas []float64, every int) {
	best, bestMiss := []float64{1}, math.Inf(1)
	for _, ms := range [][]float64{{1}, {1, 3}, {1, 2, 5}, {1, 2, 3, 5, 7}, {1, 2, 3, 4, 5, 6, 7, 8, 9}} {
		count := 0
		for d := math.Floor(math.Log10(lo)); d <= math.Ceil(math.Log10(hi)); d++ {
			for _, m := range ms {
				if v := m * math.Pow(10, d); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
					count++
				}
			}
		}
		miss := math.Abs(float64(count - n))
		if count < 2 {
			miss += 100
		}
		if miss < bestMiss {
			best, bestMiss = ms, miss
		}
	}
	every = 1
	if len(best) == 1 {
		for math.Log10(hi/lo)/float64(every) > float64(n)*1.5 {
			every++
		}
	}
	return best, every
}

// linearTicks places ticks at multiples of 1, 2, 2.5 or 5 times a power of
// ten of the display unit.
func linearTicks(lo, hi float64, n int, unit string) []plot.Tick {
	sc := tickScale(math.Max(math.Abs(lo), math.Abs(hi)), unit)
	lo, hi = lo/sc.Div, hi/sc.Div
	step := niceStep((hi - lo) / math.Max(float64(n), 1))
	for range 3 { // one tick alone gives no scale
		if math.Floor(hi/step)-math.Ceil(lo/step) >= 1 {
			break
		}
		step = niceStep(step / 2.1)
	}
	decimals := max(0, int(math.Ceil(-math.Log10(step)-1e-9)))
	if m := step * math.Pow(10, float64(decimals)); math.Abs(m-math.Round(m)) > 1e-6 {
		decimals++ // 2.5
	}
	var ts []plot.Tick
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9 && len(ts) < 100; i++ {
		v := i * step
		if i == 0 {
			v = 0 // never -0
		}
		s := strconv.FormatFloat(v, 'f', decimals, 64)
		if decimals > 9 || math.Abs(v) >= 1e15 {
			s = strconv.FormatFloat(v, 'g', 6, 64)
		}
		if v != 0 || unit == unitRatio {
			s += sc.Suffix
		}
		ts = append(ts, plot.Tick{Value: v * sc.Div, Label: s})
	}
	return ts
}

// unitRatio is the unit of an axis of ratios.
const unitRatio = "x"

// tickScale is the display unit of a linear axis up to v. Pages are named by
// the axis title only.
func tickScale(v float64, unit string) figure.Scale {
	switch unit {
	case unitRatio:
		return figure.Scale{Div: 1, Suffix: "x"}
	case record.UnitPages, record.UnitOne:
		return figure.ScaleOf(v, record.UnitOne)
	}
	return figure.ScaleOf(v, unit)
}

// tickLabel labels a tick of a logarithmic axis in its own display unit.
func tickLabel(v float64, unit string) string {
	sc := tickScale(v, unit)
	return figure.In(v, sc) + sc.Suffix
}

func niceStep(raw float64) float64 {
	if !(raw > 0) || math.IsInf(raw, 0) {
		return 1
	}
	mag := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if raw <= m*mag*(1+1e-9) {
			return m * mag
		}
	}
	return 10 * mag
}
