package render

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zcbench/zcbench/report/analyze"
)

// layout gives the names' lines and the widths left and right of the axis.
func (f *forestPanel) layout(w vg.Length) (names [][]string, left, right vg.Length) {
	var full []string
	for _, r := range f.rows {
		full = append(full, r.name)
		if r.onAxis {
			right = max(right, headStyle().Width(r.text)*sizeTick/sizeText)
		}
	}
	names = shortNames(nameStyle(), full, w*0.36-nameMarker)
	return names, widest(nameStyle(), names...) + nameMarker + 8, right + 10
}

func rowHeight(lines []string) vg.Length { return max(18, nameHeight(lines)+3) }

const forestAxis = vg.Length(20) // height of the axis and its labels

func (f *forestPanel) head(w vg.Length) []string { return wrapWords(headStyle(), f.title, w) }

func (f *forestPanel) height(w vg.Length) vg.Length {
	names, _, _ := f.layout(w)
	h := vg.Length(len(f.head(w)))*lineHeight(headStyle()) + 4 + forestAxis
	if f.hint != "" {
		h += lineHeight(axisStyle())
	}
	for _, n := range names {
		h += rowHeight(n)
	}
	return h
}

func (f *forestPanel) draw(c draw.Canvas) {
	w := c.Max.X - c.Min.X
	names, left, right := f.layout(w)
	c.Min.Y = c.Max.Y - f.height(w)
	c.Max.Y = drawLines(c, headStyle(), c.Min.X, c.Max.Y, f.head(w))
	if f.hint != "" {
		c.Max.Y = drawLines(c, axisStyle(), c.Min.X, c.Max.Y, []string{f.axisName() + ", " + f.hint})
	}
	c.Max.Y -= 4
	// Rows are placed in points from the top, so that names of several lines fit.
	middles := make([]vg.Length, len(names))
	y := c.Max.Y
	for i, n := range names {
		middles[i] = y - rowHeight(n)/2
		y -= rowHeight(n)
	}
	p := styled()
	p.HideY()
	p.Y.Min, p.Y.Max = 0, 1
	ticks := f.x.ticks(max(2, int((w-left-right)/52)), f.tickUnit())
	f.x.apply(&p.X, f.x.thin(ticks, w-left-right))
	p.Add(gridLines(true), plotterFunc(func(d draw.Canvas, at func(x, y float64) vg.Point) {
		f.rowsOn(d, at, middles, names, c.Min.X)
	}))
	p.Draw(draw.Crop(c, left, -right, 0, 0))
}

func (f *forestPanel) axisName() string {
	if f.stat == analyze.Ratio {
		return "ratio, log scale"
	}
	return "difference"
}

func (f *forestPanel) tickUnit() string {
	if f.stat == analyze.Ratio {
		return unitRatio
	}
	return f.unit
}

func (f *forestPanel) rowsOn(c draw.Canvas, at func(x, y float64) vg.Point, middles []vg.Length, names [][]string, nameX vg.Length) {
	null := at(f.null(), 0).X
	c.StrokeLine2(draw.LineStyle{Color: toneBase, Width: 1.4}, null, c.Min.Y, null, c.Max.Y)
	for i, r := range f.rows {
		y := middles[i]
		r.mark.glyph(&c, vg.Point{X: nameX + 4, Y: y}, markerRadius)
		drawLines(c, nameStyle(), nameX+nameMarker, y+vg.Length(len(names[i]))*lineHeight(nameStyle())/2, names[i])
		if !r.onAxis {
			text := elideEnd(axisStyle(), r.text, c.Max.X-c.Min.X-8)
			ground := axisStyle().Rectangle(text).Add(vg.Point{X: c.Min.X + 4, Y: y})
			c.SetColor(toneGround)
			c.Fill(ground.Path())
			writeAt(c, axisStyle(), vg.Point{X: c.Min.X + 4, Y: y}, text)
			hotspot(c, vg.Point{X: c.Min.X + 12, Y: y}, r.hover)
			continue
		}
		f.effectOn(c, at, r, y)
	}
}

func (f *forestPanel) null() float64 {
	if f.stat == analyze.Ratio {
		return 1
	}
	return 0
}

// effectOn draws one interval, its marker and its value.
func (f *forestPanel) effectOn(c draw.Canvas, at func(x, y float64) vg.Point, r effectRow, y vg.Length) {
	e := r.effect
	x := at(e.Estimate, 0).X
	if f.hasBar(e) {
		lo, hi := at(e.Lo, 0).X, at(e.Hi, 0).X
		bar := draw.LineStyle{Color: r.mark.tone, Width: 1.8}
		c.StrokeLine2(bar, lo, y, hi, y)
		bar.Width = 1.2
		c.StrokeLine2(bar, lo, y-3.5, lo, y+3.5)
		c.StrokeLine2(bar, hi, y-3.5, hi, y+3.5)
	}
	r.mark.glyph(&c, vg.Point{X: x, Y: y}, markerRadius+0.8)
	value := textStyle(sizeTick, toneInk, true)
	if !e.Differs() {
		hollow := mark{tone: toneGround, shape: r.mark.shape}
		hollow.glyph(&c, vg.Point{X: x, Y: y}, markerRadius-0.9)
		value = axisStyle()
	}
	writeAt(c, value, vg.Point{X: c.Max.X + 8, Y: y}, r.text)
	hotspot(c, vg.Point{X: x, Y: y}, r.hover)
}
