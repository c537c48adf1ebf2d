package render

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// xy is a point in data units.
type xy struct{ x, y float64 }

// spot is a place on a curve that tells its values.
type spot struct {
	xy
	text   string
	marked bool // with the case's marker
}

// curve is one case's line. The faint ones are repeats of the same.
type curve struct {
	name  string
	mark  mark
	pts   []xy
	faint [][]xy
	spots []spot
}

// linePanel plots curves with their names at their right ends.
type linePanel struct {
	title        string // empty when the picture has only this panel
	xText, yText string
	x, y         axisRange
	xTicks       []plot.Tick // nil: by the range
	xUnit, yUnit string
	curves       []curve
	shadeTo      float64 // x up to which the ground is shaded
	shadeText    string
	names        []string // of the curves, in full
}

// maxPoints bounds the points of one line: more take seconds to draw.
const maxPoints = 5000

// pointsFor is how many points a line needs to look the same on w: a stretch
// of one point's width shows its first, lowest and highest.
func pointsFor(w vg.Length) int { return min(maxPoints, max(60, int(1.2*w))) }

const (
	leaderLength = vg.Length(16) // between the plot and the names
	nameMarker   = vg.Length(12) // room for the marker before a name
)

func headStyle() draw.TextStyle { return textStyle(sizeText, toneInk, true) }
func axisStyle() draw.TextStyle { return textStyle(sizeTick, toneMuted, false) }
func nameStyle() draw.TextStyle { return textStyle(sizeTick, toneInk, false) }

// gutter lays out the names right of the plot.
func (l *linePanel) gutter(w vg.Length) (names [][]string, width vg.Length) {
	most := min(w*0.36, 230) - leaderLength - nameMarker
	names = shortNames(nameStyle(), l.names, most)
	return names, widest(nameStyle(), names...) + leaderLength + nameMarker
}

func (l *linePanel) heads(w vg.Length) (title, y []string) {
	if l.title != "" {
		title = wrapWords(headStyle(), l.title, w)
	}
	return title, wrapWords(axisStyle(), l.yText, w)
}

func (l *linePanel) height(w vg.Length) vg.Length {
	title, y := l.heads(w)
	names, _ := l.gutter(w)
	var need vg.Length
	for _, n := range names {
		need += nameHeight(n)
	}
	h := vg.Length(len(title))*lineHeight(headStyle()) + vg.Length(len(y))*lineHeight(axisStyle())
	return h + max(min(max(w*0.52, 220), 390), need+50)
}

func nameHeight(lines []string) vg.Length { return vg.Length(len(lines))*lineHeight(nameStyle()) + 2 }

func (l *linePanel) draw(c draw.Canvas) {
	w := c.Max.X - c.Min.X
	title, ytext := l.heads(w)
	c.Max.Y = drawLines(c, headStyle(), c.Min.X, c.Max.Y, title)
	c.Max.Y = drawLines(c, axisStyle(), c.Min.X, c.Max.Y, ytext) - 6
	names, gutter := l.gutter(w)
	p := styled()
	p.X.Label.Text = elide(p.X.Label.TextStyle, l.xText, w-gutter)
	xt := l.xTicks
	if xt == nil {
		xt = l.x.ticks(max(2, int((w-gutter)/70)), l.xUnit)
	}
	l.x.apply(&p.X, l.x.thin(xt, w-gutter-40))
	l.y.apply(&p.Y, l.y.ticks(5, l.yUnit))
	p.Add(plotterFunc(l.shade), gridLines(false))
	p.Add(plotterFunc(l.lines))
	p.Add(plotterFunc(func(d draw.Canvas, at func(x, y float64) vg.Point) { l.label(d, at, names) }))
	p.Draw(draw.Crop(c, 0, -gutter, 0, 0))
}

// shade marks the part of the run before the window.
func (l *linePanel) shade(c draw.Canvas, at func(x, y float64) vg.Point) {
	if l.shadeTo <= l.x.lo {
		return
	}
	r := c.Rectangle
	r.Max.X = min(at(l.shadeTo, l.y.lo).X, r.Max.X)
	c.SetColor(toneShade)
	c.Fill(r.Path())
	sty := axisStyle()
	if sty.Width(l.shadeText) < r.Size().X-6 {
		writeAt(c, sty, vg.Point{X: r.Min.X + 4, Y: r.Max.Y - 8}, l.shadeText)
	}
}

func (l *linePanel) lines(c draw.Canvas, at func(x, y float64) vg.Point) {
	n := pointsFor(c.Max.X - c.Min.X)
	// The baseline is drawn first, and thick: a line equal to it stays visible.
	for _, base := range []bool{true, false} {
		for _, cv := range l.curves {
			if (cv.mark.tone == toneBase) != base {
				continue
			}
			for _, f := range cv.faint {
				sty := cv.mark.line()
				sty.Width, sty.Dashes = 0.35, nil
				c.StrokeLines(sty, c.ClipLinesXY(mapPoints(decimate(f, n/4), at))...)
			}
			c.StrokeLines(cv.mark.line(), c.ClipLinesXY(mapPoints(decimate(cv.pts, n), at))...)
			for _, s := range cv.spots {
				if s.marked {
					cv.mark.glyph(&c, at(s.x, s.y), markerRadius)
				}
			}
		}
	}
	for _, cv := range l.curves {
		for _, s := range cv.spots {
			hotspot(c, at(s.x, s.y), s.text)
		}
	}
}

// label writes the names right of the plot, moved apart, each joined to the
// end of its line.
func (l *linePanel) label(c draw.Canvas, at func(x, y float64) vg.Point, names [][]string) {
	slots := make([]slot, len(l.curves))
	for i, cv := range l.curves {
		end := cv.pts[len(cv.pts)-1]
		slots[i] = slot{at(end.x, end.y).Y, nameHeight(names[i])}
	}
	ys := spread(slots, c.Min.Y-30, c.Max.Y+8)
	for i, cv := range l.curves {
		end := cv.pts[len(cv.pts)-1]
		from := at(end.x, end.y)
		sty := draw.LineStyle{Color: cv.mark.tone, Width: 0.6, Dashes: []vg.Length{1.5, 1.5}}
		edge := max(c.Max.X, from.X)
		c.StrokeLines(sty, []vg.Point{from, {X: edge + 2, Y: from.Y}, {X: edge + leaderLength - 3, Y: ys[i]}})
		x := c.Max.X + leaderLength
		cv.mark.glyph(&c, vg.Point{X: x + 4, Y: ys[i]}, markerRadius)
		drawLines(c, nameStyle(), x+nameMarker, ys[i]+vg.Length(len(names[i]))*lineHeight(nameStyle())/2, names[i])
	}
}

func mapPoints(pts []xy, at func(x, y float64) vg.Point) []vg.Point {
	out := make([]vg.Point, len(pts))
	for i, p := range pts {
		out[i] = at(p.x, p.y)
	}
	return out
}

// decimate keeps at most about n points: of each stretch of the line the
// first, the lowest and the highest, in order, so that no peak is lost.
func decimate(pts []xy, n int) []xy {
	if len(pts) <= n || n < 3 {
		return pts
	}
	stretch := (len(pts)*3 + n - 1) / n
	out := make([]xy, 0, n+3)
	for i := 0; i < len(pts); i += stretch {
		end := min(i+stretch, len(pts))
		lo, hi := i, i
		for k := i; k < end; k++ {
			if pts[k].y < pts[lo].y {
				lo = k
			}
			if pts[k].y > pts[hi].y {
				hi = k
			}
		}
		out = append(out, pts[i])
		for _, k := range []int{min(lo, hi), max(lo, hi)} {
			if k != i && pts[k] != out[len(out)-1] {
				out = append(out, pts[k])
			}
		}
	}
	if out[len(out)-1] != pts[len(pts)-1] {
		out = append(out, pts[len(pts)-1])
	}
	return out
}
