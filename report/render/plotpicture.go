package render

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is one set of axes in a figure, or a note in its place.
type panel interface {
	// height is what the panel needs at width w.
	height(w vg.Length) vg.Length
	// draw fills the canvas, which is as high as asked for or higher.
	draw(c draw.Canvas)
}

// picture is a grid of panels under a title, with notes below.
type picture struct {
	title    string
	subtitle string
	panels   []panel
	minPanel vg.Length // width below which panels go below each other
	notes    []string
}

const (
	figureMargin = vg.Length(10)
	panelGap     = vg.Length(18)
)

// columns is how many panels fit beside each other in w.
func (f *picture) columns(w vg.Length) int {
	n := int((w + panelGap) / (f.minPanel + panelGap))
	return max(1, min(n, len(f.panels)))
}

// header lays out the title and subtitle; full is false inside a page that
// has them as text.
func (f *picture) header(w vg.Length, full bool) (title, subtitle []string) {
	if !full {
		return nil, nil
	}
	return wrapWords(textStyle(sizeTitle, toneInk, true), f.title, w),
		wrapWords(textStyle(sizeText, toneMuted, false), f.subtitle, w)
}

// rows gives the height of each row of panels.
func (f *picture) rows(w vg.Length) []vg.Length {
	cols := f.columns(w)
	pw := (w - vg.Length(cols-1)*panelGap) / vg.Length(cols)
	var hs []vg.Length
	for i, p := range f.panels {
		if i%cols == 0 {
			hs = append(hs, 0)
		}
		hs[len(hs)-1] = max(hs[len(hs)-1], p.height(pw))
	}
	return hs
}

// size is the height of the whole figure at width w.
func (f *picture) size(w vg.Length, full bool) vg.Length {
	inner := w - 2*figureMargin
	title, sub := f.header(inner, full)
	h := 2*figureMargin +
		vg.Length(len(title))*lineHeight(textStyle(sizeTitle, toneInk, true)) +
		vg.Length(len(sub))*lineHeight(textStyle(sizeText, toneMuted, false))
	if len(title)+len(sub) > 0 {
		h += 8
	}
	for i, r := range f.rows(inner) {
		if i > 0 {
			h += panelGap
		}
		h += r
	}
	for _, n := range f.notes {
		h += 4 + vg.Length(len(wrapWords(noteStyle(), n, inner)))*lineHeight(noteStyle())
	}
	return h
}

// paint draws the figure on a canvas of its size.
func (f *picture) paint(c draw.Canvas, full bool) {
	inner := draw.Crop(c, figureMargin, -figureMargin, figureMargin, -figureMargin)
	w := inner.Max.X - inner.Min.X
	y := inner.Max.Y
	title, sub := f.header(w, full)
	y = drawLines(c, textStyle(sizeTitle, toneInk, true), inner.Min.X, y, title)
	y = drawLines(c, textStyle(sizeText, toneMuted, false), inner.Min.X, y, sub)
	if len(title)+len(sub) > 0 {
		y -= 8
	}
	cols := f.columns(w)
	pw := (w - vg.Length(cols-1)*panelGap) / vg.Length(cols)
	for r, h := range f.rows(w) {
		for k := range cols {
			if i := r*cols + k; i < len(f.panels) {
				x := inner.Min.X + vg.Length(k)*(pw+panelGap)
				f.panels[i].draw(draw.Canvas{Canvas: c.Canvas, Rectangle: box{
					Min: vg.Point{X: x, Y: y - h}, Max: vg.Point{X: x + pw, Y: y},
				}})
			}
		}
		y -= h + panelGap
	}
	y += panelGap
	for _, n := range f.notes {
		y = drawLines(c, noteStyle(), inner.Min.X, y-4, wrapWords(noteStyle(), n, w))
	}
}

func noteStyle() draw.TextStyle { return textStyle(sizeTick, toneMuted, false) }

// notePanel stands where there is nothing to plot and says why.
type notePanel struct{ head, text string }

func (n notePanel) lines(w vg.Length) (head, text []string) {
	return wrapWords(textStyle(sizeText, toneInk, true), n.head, w-24),
		wrapWords(textStyle(sizeText, toneMuted, false), n.text, w-24)
}

func (n notePanel) height(w vg.Length) vg.Length {
	h, t := n.lines(w)
	return 28 + vg.Length(len(h)+len(t))*lineHeight(textStyle(sizeText, toneInk, true))
}

func (n notePanel) draw(c draw.Canvas) {
	frame := c.Rectangle
	frame.Min.Y = frame.Max.Y - n.height(frame.Size().X)
	c.SetColor(toneShade)
	c.Fill(frame.Path())
	head, text := n.lines(frame.Size().X)
	y := drawLines(c, textStyle(sizeText, toneInk, true), frame.Min.X+12, frame.Max.Y-12, head)
	drawLines(c, textStyle(sizeText, toneMuted, false), frame.Min.X+12, y-4, text)
}

// plotterFunc draws on the data area of a plot; at maps data to the canvas.
type plotterFunc func(c draw.Canvas, at func(x, y float64) vg.Point)

// Plot implements plot.Plotter.
func (f plotterFunc) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	f(c, func(px, py float64) vg.Point { return vg.Point{X: x(px), Y: y(py)} })
}

// gridLines draws the labelled ticks of an axis across the plot.
func gridLines(vertical bool) plot.Plotter {
	return plotterGrid{vertical}
}

type plotterGrid struct{ vertical bool }

// Plot implements plot.Plotter.
func (g plotterGrid) Plot(c draw.Canvas, p *plot.Plot) {
	sty := draw.LineStyle{Color: toneGrid, Width: 0.8}
	a := &p.Y
	if g.vertical {
		a = &p.X
	}
	for _, t := range a.Tick.Marker.Ticks(a.Min, a.Max) {
		if t.IsMinor() || t.Value < a.Min || t.Value > a.Max {
			continue
		}
		if g.vertical {
			x := c.X(a.Norm(t.Value))
			c.StrokeLine2(sty, x, c.Min.Y, x, c.Max.Y)
		} else {
			y := c.Y(a.Norm(t.Value))
			c.StrokeLine2(sty, c.Min.X, y, c.Max.X, y)
		}
	}
}

// hotspot lets the reader of an SVG point at a place and see text.
func hotspot(c draw.Canvas, at vg.Point, text string) {
	if s := inSVG(c); s != nil {
		s.hotspot(at, 9, text)
	}
}

// hotArea does the same for a rectangle.
func hotArea(c draw.Canvas, r box, text string) {
	if s := inSVG(c); s != nil {
		s.hotArea(r, text)
	}
}

// inSVG is the SVG canvas under a canvas; nil when it is none.
func inSVG(c draw.Canvas) *svgCanvas {
	var v vg.Canvas = c
	for {
		d, ok := v.(draw.Canvas)
		if !ok {
			break
		}
		v = d.Canvas
	}
	s, _ := v.(*svgCanvas)
	return s
}

// empty reports whether the picture has nothing but notes in place of panels.
func (f *picture) empty() bool {
	return !slices.ContainsFunc(f.panels, func(p panel) bool { _, note := p.(notePanel); return !note })
}

// why says why an empty picture is.
func (f *picture) why() string {
	for _, p := range f.panels {
		if n, ok := p.(notePanel); ok {
			return n.text
		}
	}
	return f.title + ": no data."
}
