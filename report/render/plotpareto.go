package render

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

const (
	paretoX = "buffer_pages_mean"
	paretoY = "cpu_per_msg"
)

// paretoPicture plots memory held against CPU spent, one panel per point.
func paretoPicture(s *analyze.Scenario, pts []pointView) *picture {
	f := &picture{minPanel: 300,
		title:    "Memory held against CPU spent",
		subtitle: "Lower left is better. The dashed line joins the cases that no other beats on both; bars are exact intervals of the median."}
	has := func(c *analyze.Case) bool { _, ok := paretoPoint(caseView{Case: c}); return ok }
	for _, p := range pts {
		s := newScatterPanel(p, metricOf(s, paretoX), metricOf(s, paretoY))
		if len(s.dots) == 0 {
			f.panels = append(f.panels, notePanel{p.name, fmt.Sprintf("No plot of memory against CPU: no case has both %s and %s.",
				figure.Name(paretoX), figure.Name(paretoY))})
			continue
		}
		f.panels = append(f.panels, s)
	}
	f.notes = absences(pts, "value for both axes", has)
	return f
}

// dot is a case in the plane.
type dot struct {
	caseView
	x, y  analyze.Cell
	front bool
}

func paretoPoint(c caseView) (dot, bool) {
	x, okX := c.Cells[paretoX]
	y, okY := c.Cells[paretoY]
	ok := okX && okY && c.Skip == nil && x.Unavailable == "" && y.Unavailable == "" &&
		plottable(x.Median, false) && plottable(y.Median, false)
	// What is left of an interval that cannot be drawn is its middle.
	x.HasInterval = x.HasInterval && plottable(x.Lo, false) && plottable(x.Hi, false)
	y.HasInterval = y.HasInterval && plottable(y.Lo, false) && plottable(y.Hi, false)
	return dot{caseView: c, x: x, y: y}, ok
}

// scatterPanel plots cases in the plane of two metrics, both better when less.
type scatterPanel struct {
	title        string
	xText, yText string
	xUnit, yUnit string
	x, y         axisRange
	dots         []dot
}

func newScatterPanel(p pointView, mx, my record.Metric) *scatterPanel {
	s := &scatterPanel{title: p.name, xText: metricTitle(mx), yText: metricTitle(my), xUnit: mx.Unit, yUnit: my.Unit}
	var xs, ys []float64
	for _, c := range p.cases {
		if d, ok := paretoPoint(c); ok {
			s.dots = append(s.dots, d)
			xs, ys = append(xs, bounds(d.x)...), append(ys, bounds(d.y)...)
		}
	}
	if len(s.dots) == 0 {
		return s
	}
	s.x, s.y = planeRange(xs), planeRange(ys)
	if s.x.log {
		s.xText += " (log scale)"
	}
	if s.y.log {
		s.yText += " (log scale)"
	}
	s.markFront()
	return s
}

func bounds(c analyze.Cell) []float64 {
	if c.HasInterval {
		return []float64{c.Median, c.Lo, c.Hi}
	}
	return []float64{c.Median}
}

// planeRange is logarithmic when the values span more than a factor of 20, else
// linear; from zero when zero is near.
func planeRange(vs []float64) axisRange {
	if plottable(slices.Min(vs), true) && slices.Max(vs)/slices.Min(vs) > 20 {
		r, _ := valueRange(true, vs...)
		return r.padded(0.06)
	}
	r, ok := valueRange(false, vs...)
	if !ok {
		return axisRange{hi: 1}
	}
	if r.lo > 0.4*r.hi || r.hi < 0.4*r.lo {
		return r.padded(0.12)
	}
	r = r.fromZero()
	r.hi += (r.hi - r.lo) * 0.08
	return r
}

// markFront finds the dots no other is at least as good as on both axes and
// better on one.
func (s *scatterPanel) markFront() {
	for i := range s.dots {
		a := &s.dots[i]
		a.front = !slices.ContainsFunc(s.dots, func(b dot) bool {
			return b.x.Median <= a.x.Median && b.y.Median <= a.y.Median && (b.x.Median < a.x.Median || b.y.Median < a.y.Median)
		})
	}
}

func (s *scatterPanel) heads(w vg.Length) (title, y []string) {
	if s.title != "" {
		title = wrapWords(headStyle(), s.title, w)
	}
	return title, wrapWords(axisStyle(), s.yText, w)
}

func (s *scatterPanel) height(w vg.Length) vg.Length {
	title, y := s.heads(w)
	return vg.Length(len(title))*lineHeight(headStyle()) + vg.Length(len(y))*lineHeight(axisStyle()) +
		max(min(max(w*0.52, 240), 390), vg.Length(len(s.dots))*16+60)
}

func (s *scatterPanel) draw(c draw.Canvas) {
	w := c.Max.X - c.Min.X
	title, ytext := s.heads(w)
	c.Max.Y = drawLines(c, headStyle(), c.Min.X, c.Max.Y, title)
	c.Max.Y = drawLines(c, axisStyle(), c.Min.X, c.Max.Y, ytext) - 6
	p := styled()
	p.X.Label.Text = elide(p.X.Label.TextStyle, s.xText, w-60)
	s.x.apply(&p.X, s.x.thin(s.x.ticks(max(2, int(w/80)), s.xUnit), w-60))
	s.y.apply(&p.Y, s.y.ticks(5, s.yUnit))
	p.Add(gridLines(false), gridLines(true), plotterFunc(s.frontLine), plotterFunc(s.points))
	p.Draw(draw.Crop(c, 0, -8, 0, 0))
}

// frontLine joins the front by steps: between two of its cases nothing measured
// reaches below the upper one's CPU.
func (s *scatterPanel) frontLine(c draw.Canvas, at func(x, y float64) vg.Point) {
	c.StrokeLines(draw.LineStyle{Color: toneMuted, Width: 1.2, Dashes: []vg.Length{5, 3}}, s.frontSteps(at)...)
}

func (s *scatterPanel) frontSteps(at func(x, y float64) vg.Point) [][]vg.Point {
	var front []dot
	for _, d := range s.dots {
		if d.front {
			front = append(front, d)
		}
	}
	slices.SortStableFunc(front, func(a, b dot) int {
		if a.x.Median < b.x.Median {
			return -1
		} else if a.x.Median > b.x.Median {
			return 1
		}
		return 0
	})
	var line []vg.Point
	for i, d := range front {
		pt := at(d.x.Median, d.y.Median)
		if i > 0 {
			line = append(line, vg.Point{X: pt.X, Y: line[len(line)-1].Y})
		}
		line = append(line, pt)
	}
	if len(line) < 2 {
		return nil
	}
	return [][]vg.Point{line}
}

func (s *scatterPanel) points(c draw.Canvas, at func(x, y float64) vg.Point) {
	labels := make([]pointLabel, len(s.dots))
	names := make([]string, len(s.dots))
	var obstacles []box
	for i, d := range s.dots {
		names[i] = d.name
		pt := at(d.x.Median, d.y.Median)
		s.cross(c, at, d)
		d.mark.glyph(&c, pt, markerRadius+1)
		hotspot(c, pt, fmt.Sprintf("%s: %s, %s", d.name,
			figure.Format(d.x.Median, d.x.Unit), figure.Format(d.y.Median, d.y.Unit)+figure.PerShort(d.y.Per)))
		obstacles = append(obstacles, around(pt, pt, 6))
		if d.x.HasInterval {
			obstacles = append(obstacles, around(at(d.x.Lo, d.y.Median), at(d.x.Hi, d.y.Median), 1.5))
		}
		if d.y.HasInterval {
			obstacles = append(obstacles, around(at(d.x.Median, d.y.Lo), at(d.x.Median, d.y.Hi), 1.5))
		}
	}
	for _, line := range s.frontSteps(at) {
		for i := 1; i < len(line); i++ {
			obstacles = append(obstacles, around(line[i-1], line[i], 2))
		}
	}
	short := shortNames(nameStyle(), names, (c.Max.X-c.Min.X)*0.45)
	for i, d := range s.dots {
		labels[i] = pointLabel{at(d.x.Median, d.y.Median), vg.Point{X: widest(nameStyle(), short[i]) + 2, Y: nameHeight(short[i])}}
	}
	for i, b := range placeLabels(labels, obstacles, c.Rectangle) {
		s.nameAt(c, s.dots[i], labels[i].at, b, short[i])
	}
}

// cross draws the intervals of a dot on both axes.
func (s *scatterPanel) cross(c draw.Canvas, at func(x, y float64) vg.Point, d dot) {
	sty := draw.LineStyle{Color: d.mark.tone, Width: 1}
	if d.x.HasInterval {
		c.StrokeLines(sty, c.ClipLinesXY([]vg.Point{at(d.x.Lo, d.y.Median), at(d.x.Hi, d.y.Median)})...)
	}
	if d.y.HasInterval {
		c.StrokeLines(sty, c.ClipLinesXY([]vg.Point{at(d.x.Median, d.y.Lo), at(d.x.Median, d.y.Hi)})...)
	}
}

// nameAt writes a dot's name into its box; one further away gets a leader.
func (s *scatterPanel) nameAt(c draw.Canvas, d dot, from vg.Point, b box, lines []string) {
	near := vg.Point{X: clampLength(from.X, b.Min.X, b.Max.X), Y: clampLength(from.Y, b.Min.Y, b.Max.Y)}
	if math.Hypot(float64(near.X-from.X), float64(near.Y-from.Y)) > 14 {
		c.StrokeLines(draw.LineStyle{Color: toneMuted, Width: 0.6}, []vg.Point{from, near})
	}
	drawLines(c, nameStyle(), b.Min.X+1, b.Max.Y-1, lines)
}
