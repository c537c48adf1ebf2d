package render

import (
	"fmt"
	"math"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

const (
	residencySeries = "buffer_pages"
	maxRepeats      = 5 // of a case, drawn beside its first trial
)

// residencyPicture plots resident buffer pages over the run, one panel per point.
func residencyPicture(pts []pointView) *picture {
	f := &picture{minPanel: 300,
		title:    "Resident buffer pages over the run",
		subtitle: "The first counting trial of each case; hair lines are its repeats. The warm-up is shaded."}
	for _, p := range pts {
		l := residencyPanel(p)
		if len(l.curves) == 0 {
			f.panels = append(f.panels, notePanel{p.name, "No residency over time: no counting trial sampled the resident pages of its buffers."})
			continue
		}
		f.panels = append(f.panels, l)
	}
	f.notes = absences(pts, "samples of resident pages", func(c *analyze.Case) bool { return len(timeLines(c, residencySeries)) > 0 })
	return f
}

// timeLine is one trial's sampled level, ready to draw.
type timeLine struct {
	pts       []xy
	warmupEnd float64
}

// timeLines returns the usable series of a case called name.
func timeLines(c *analyze.Case, name string) []timeLine {
	var out []timeLine
	for _, s := range c.Series {
		n := min(len(s.X), len(s.Y))
		if s.Name != name || n == 0 {
			continue
		}
		t := timeLine{warmupEnd: float64(s.WarmupEnd)}
		for i := range n {
			t.pts = append(t.pts, xy{float64(s.X[i]), float64(s.Y[i])})
		}
		out = append(out, t)
	}
	return out
}

func residencyPanel(p pointView) *linePanel {
	l := &linePanel{title: p.name, yText: "resident pages of the receive buffers",
		xText: "messages received", xUnit: record.UnitOne, yUnit: record.UnitPages}
	xs, ys := []float64{0}, []float64{0}
	var warm, ends []float64
	for i := range p.cases {
		c := &p.cases[i]
		lines := timeLines(c.Case, residencySeries)
		if len(lines) == 0 {
			continue
		}
		cv := curve{name: c.name, mark: c.mark, pts: lines[0].pts}
		for k, t := range lines {
			if k > 0 && k <= maxRepeats {
				cv.faint = append(cv.faint, t.pts)
			}
			for _, q := range t.pts {
				xs, ys = append(xs, q.x), append(ys, q.y)
			}
			warm = append(warm, t.warmupEnd)
		}
		ends = append(ends, lines[0].pts[len(lines[0].pts)-1].y)
		cv.spots = timeSpots(c.name, lines[0].pts)
		l.curves = append(l.curves, cv)
		l.names = append(l.names, c.name)
	}
	if len(l.curves) == 0 {
		return l
	}
	l.x, _ = valueRange(false, xs...)
	l.x = l.x.fromZero()
	l.y = levelRange(ys, ends)
	if l.y.log {
		l.raise()
		l.yText += " (log scale)"
		if slices.Contains(ys[1:], 0) {
			l.yText += "; 0 lies on the lower edge"
		}
	}
	l.shadeTo, l.shadeText = slices.Min(warm), "warm-up"
	if d := slices.Max(warm) - slices.Min(warm); d > 0.01*l.x.hi {
		l.shadeText = "warm-up (of the shortest)"
	}
	return l
}

// wideSpan is how far the levels reached may lie apart before a linear axis
// would press the smaller ones onto its edge.
const wideSpan = 25

// levelRange is the axis of levels: linear from zero, or logarithmic when what
// the cases reached in the end spans more than wideSpan.
func levelRange(ys, ends []float64) axisRange {
	reached, ok := valueRange(true, ends...)
	if ok && reached.hi/reached.lo > wideSpan {
		if r, ok := valueRange(true, ys...); ok {
			// The first samples of a run may be of a page or two: no reason to
			// give them half of the height.
			r.lo = math.Max(r.lo, reached.lo/10)
			return r.padded(0.04)
		}
	}
	r, _ := valueRange(false, ys...)
	r = r.fromZero()
	r.hi += (r.hi - r.lo) * 0.04
	return r
}

// raise puts what lies below a logarithmic axis on its lower edge.
func (l *linePanel) raise() {
	up := func(pts []xy) {
		for i := range pts {
			pts[i].y = math.Max(pts[i].y, l.y.lo)
		}
	}
	for _, cv := range l.curves {
		up(cv.pts)
		for _, f := range cv.faint {
			up(f)
		}
		for i := range cv.spots {
			cv.spots[i].y = math.Max(cv.spots[i].y, l.y.lo)
		}
	}
}

// timeSpots are about twenty places of a time line that tell their values; five
// carry the marker.
func timeSpots(name string, pts []xy) []spot {
	var out []spot
	every := int(math.Ceil(float64(len(pts)) / 20))
	for i := every / 2; i < len(pts); i += every {
		out = append(out, spot{pts[i], fmt.Sprintf("%s: %s after %s messages", name,
			figure.Format(pts[i].y, record.UnitPages), figure.Digits(pts[i].x, 3)), len(out)%4 == 2})
	}
	return out
}
