package render

import (
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

const (
	ridgeBins   = 110 // over the whole axis
	ridgeHeight = vg.Length(26)
	// ridgeTail is the share of messages left out at either end of the axis: a
	// single one far away would leave no room for the rest.
	ridgeTail = 0.0005
)

// distributionPicture draws the latency histogram of every case, one below the
// other, one panel per point.
func distributionPicture(pts []pointView) *picture {
	f := &picture{minPanel: 300, title: "Distribution of message latency",
		subtitle: "Height: share of messages by latency, each case to its own peak. Ticks: median and 99th percentile of all timing trials merged. The slowest and fastest 0.05% lie outside."}
	for _, p := range pts {
		r := newRidgePanel(p)
		if len(r.rows) == 0 {
			f.panels = append(f.panels, notePanel{p.name, "No latency distribution: no timing trial recorded a latency histogram."})
			continue
		}
		f.panels = append(f.panels, r)
	}
	f.notes = absences(pts, "latency histogram", func(c *analyze.Case) bool { d := c.Distribution("latency"); return d != nil && len(d.Buckets) > 0 })
	return f
}

// ridge is one case's histogram.
type ridge struct {
	caseView
	d       *analyze.Distribution
	density []float64 // by bin of the axis, the peak 1
}

type ridgePanel struct {
	title string
	x     axisRange
	rows  []ridge
}

func newRidgePanel(p pointView) *ridgePanel {
	r := &ridgePanel{title: p.name}
	var ends []float64
	for _, c := range p.cases {
		d := c.Distribution("latency")
		if c.Skip != nil || d == nil || len(d.Buckets) == 0 {
			continue
		}
		lo, hi := coreOf(d)
		if !plottable(lo, true) || !plottable(hi, true) {
			continue
		}
		r.rows = append(r.rows, ridge{caseView: c, d: d})
		ends = append(ends, lo, hi)
	}
	r.x, _ = valueRange(true, ends...)
	if len(r.rows) > 0 {
		r.x = r.x.padded(0.02)
	}
	for i := range r.rows {
		r.rows[i].density = densityOf(r.rows[i].d, r.x)
	}
	return r
}

// coreOf is the range of a distribution without its extreme tails.
func coreOf(d *analyze.Distribution) (lo, hi float64) {
	tail := int64(float64(d.N) * ridgeTail)
	var below int64
	for _, b := range d.Buckets {
		if below <= tail {
			lo = math.Max(b.From, b.To*1e-3)
		}
		if below += b.Count; below >= d.N-tail {
			return lo, b.To
		}
	}
	return lo, d.Buckets[len(d.Buckets)-1].To
}

// densityOf spreads the buckets over bins of equal width on the log axis.
func densityOf(d *analyze.Distribution, x axisRange) []float64 {
	out := make([]float64, ridgeBins)
	for _, b := range d.Buckets {
		from, to := x.norm(b.From)*ridgeBins, x.norm(b.To)*ridgeBins
		if b.From <= 0 || !(to > from) {
			from = to - 1
		}
		for k := max(0, int(from)); k < ridgeBins && float64(k) < to; k++ {
			over := math.Min(to, float64(k+1)) - math.Max(from, float64(k))
			out[k] += float64(b.Count) * math.Max(over, 0) / (to - from)
		}
	}
	peak := 0.0
	for _, v := range out {
		peak = math.Max(peak, v)
	}
	if peak > 0 {
		for k := range out {
			out[k] /= peak
		}
	}
	return out
}

func (r *ridgePanel) layout(w vg.Length) (names [][]string, left vg.Length) {
	var full []string
	for _, row := range r.rows {
		full = append(full, row.name)
	}
	names = shortNames(nameStyle(), full, w*0.36-nameMarker)
	return names, widest(nameStyle(), names...) + nameMarker + 8
}

func (r *ridgePanel) rowHeight(name []string) vg.Length {
	return max(ridgeHeight, nameHeight(name)) + 4
}

func (r *ridgePanel) heads(w vg.Length) (title, hint []string) {
	if r.title != "" {
		title = wrapWords(headStyle(), r.title, w)
	}
	return title, wrapWords(axisStyle(), "latency, from the intended send time (log scale)", w)
}

func (r *ridgePanel) height(w vg.Length) vg.Length {
	names, _ := r.layout(w)
	title, hint := r.heads(w)
	h := vg.Length(len(title))*lineHeight(headStyle()) + vg.Length(len(hint))*lineHeight(axisStyle()) + 6 + forestAxis
	for _, n := range names {
		h += r.rowHeight(n)
	}
	return h
}

func (r *ridgePanel) draw(c draw.Canvas) {
	w := c.Max.X - c.Min.X
	names, left := r.layout(w)
	c.Min.Y = c.Max.Y - r.height(w)
	title, hint := r.heads(w)
	c.Max.Y = drawLines(c, headStyle(), c.Min.X, c.Max.Y, title)
	c.Max.Y = drawLines(c, axisStyle(), c.Min.X, c.Max.Y, hint) - 6
	g := styled()
	g.HideY()
	g.Y.Min, g.Y.Max = 0, 1
	r.x.apply(&g.X, r.x.thin(r.x.ticks(max(2, int((w-left)/64)), record.UnitSeconds), w-left-12))
	g.Add(gridLines(true), plotterFunc(func(d draw.Canvas, at func(x, y float64) vg.Point) {
		top := c.Max.Y
		for i := range r.rows {
			r.rows[i].draw(d, at, r.x, top-r.rowHeight(names[i]), names[i], c.Min.X)
			top -= r.rowHeight(names[i])
		}
	}))
	g.Draw(draw.Crop(c, left, -12, 0, 0))
}

// draw draws the ridge on the line at height y.
func (r *ridge) draw(c draw.Canvas, at func(x, y float64) vg.Point, x axisRange, y vg.Length, name []string, x0 vg.Length) {
	mid := y + max(ridgeHeight, nameHeight(name))/2
	r.mark.glyph(&c, vg.Point{X: x0 + 4, Y: mid}, markerRadius)
	drawLines(c, nameStyle(), x0+nameMarker, mid+vg.Length(len(name))*lineHeight(nameStyle())/2, name)
	step := (c.Max.X - c.Min.X) / ridgeBins
	shape := []vg.Point{{X: c.Min.X, Y: y}}
	for k, v := range r.density {
		shape = append(shape, vg.Point{X: c.Min.X + step*(vg.Length(k)+0.5), Y: y + vg.Length(v)*(ridgeHeight-2)})
	}
	shape = append(shape, vg.Point{X: c.Max.X, Y: y})
	c.FillPolygon(r.mark.tone, shape)
	c.StrokeLine2(draw.LineStyle{Color: r.mark.tone, Width: 0.6}, c.Min.X, y, c.Max.X, y)
	for _, q := range shownPercentiles(r.d) {
		if q.Q > 0.995 || (q.Q > 0.51 && q.Q < 0.98) || q.V < x.lo || q.V > x.hi {
			continue
		}
		px := at(q.V, 0).X
		c.StrokeLine2(draw.LineStyle{Color: toneGround, Width: 3}, px, y, px, y+ridgeHeight)
		c.StrokeLine2(draw.LineStyle{Color: toneInk, Width: 1.2}, px, y, px, y+ridgeHeight)
		hotArea(c, box{Min: vg.Point{X: px - 5, Y: y}, Max: vg.Point{X: px + 5, Y: y + ridgeHeight}},
			fmt.Sprintf("%s: p%s %s (%d messages)", r.name, percentText(q.Q), figure.Format(q.V, r.d.Unit), r.d.N))
	}
}
