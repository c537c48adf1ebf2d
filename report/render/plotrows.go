package render

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// rowPanel plots a row per case on a common axis: bars stacked from zero, or
// dots, with the figures in words below.
type rowPanel struct {
	title, hint string
	legend      []flowItem
	x           axisRange
	unit        string
	rows        []valueRow
}

// valueRow is one case in a row panel.
type valueRow struct {
	caseView
	bars    []barPart   // from zero on, in order
	apart   *barPart    // thin, below the bars, on the same axis
	whisker *[2]float64 // interval around the end of the bars
	lanes   []dotLane
	end     string     // right of the axis
	detail  []flowItem // below the row
}

// barPart is a piece of a bar.
type barPart struct {
	tone  tone
	v     float64 // length, in the unit of the axis
	hover string
}

// dotLane is a line of dots of one look.
type dotLane struct {
	mark   mark
	hollow bool // the first is
	vs     []float64
	text   []string // hovers
}

// flowItem is a short text that is set beside others, with a swatch if it has
// a look.
type flowItem struct {
	text   string
	swatch tone // toneInk: none, unless mark is set
	mark   *mark
	hollow bool // the swatch is an outline
}

const (
	barHeight  = vg.Length(11)
	apartSpace = vg.Length(5)
	laneHeight = vg.Length(13)
	swatchRoom = vg.Length(12)
	flowGap    = vg.Length(12)
)

// width is the room an item takes.
func (f flowItem) width() vg.Length {
	w := axisStyle().Width(f.text)
	if f.swatch != toneInk || f.mark != nil || f.hollow {
		w += swatchRoom
	}
	return w
}

// flow breaks items into lines of at most w.
func flow(items []flowItem, w vg.Length) [][]flowItem {
	var lines [][]flowItem
	var used vg.Length
	for _, it := range items {
		it.text = elideEnd(axisStyle(), it.text, w-swatchRoom)
		if n := len(lines); n > 0 && used+flowGap+it.width() <= w {
			lines[n-1] = append(lines[n-1], it)
			used += flowGap + it.width()
			continue
		}
		lines = append(lines, []flowItem{it})
		used = it.width()
	}
	return lines
}

func flowHeight(items []flowItem, w vg.Length) vg.Length {
	return vg.Length(len(flow(items, w))) * lineHeight(axisStyle())
}

// drawFlow sets items from x, y down and returns the y below them.
func drawFlow(c draw.Canvas, items []flowItem, x, y, w vg.Length) vg.Length {
	for _, line := range flow(items, w) {
		at, mid := x, y-lineHeight(axisStyle())/2
		for _, it := range line {
			left := at
			if it.width() > axisStyle().Width(it.text) {
				it.drawSwatch(c, at, mid)
				left += swatchRoom
			}
			writeAt(c, axisStyle(), vg.Point{X: left, Y: mid}, it.text)
			at += it.width() + flowGap
		}
		y -= lineHeight(axisStyle())
	}
	return y
}

func (f flowItem) drawSwatch(c draw.Canvas, x, mid vg.Length) {
	if f.mark != nil {
		f.mark.glyph(&c, vg.Point{X: x + 4, Y: mid}, markerRadius)
		return
	}
	r := box{Min: vg.Point{X: x, Y: mid - 4}, Max: vg.Point{X: x + 8, Y: mid + 4}}
	if f.hollow {
		c.SetColor(toneInk)
		c.SetLineStyle(draw.LineStyle{Color: toneInk, Width: 0.8})
		c.Stroke(r.Path())
		return
	}
	c.SetColor(f.swatch)
	c.Fill(r.Path())
}

// graphHeight is what the bars or lanes of a row take.
func (r *valueRow) graphHeight() vg.Length {
	h := barHeight
	if len(r.lanes) > 0 {
		h = vg.Length(len(r.lanes)) * laneHeight
	}
	if r.apart != nil {
		h += apartSpace
	}
	return h
}

// bodyHeight is what a row takes without its detail.
func (r *valueRow) bodyHeight(name []string) vg.Length {
	return max(r.graphHeight()+5, nameHeight(name)+3)
}

// layout gives the names' lines and the widths left and right of the axis.
func (p *rowPanel) layout(w vg.Length) (names [][]string, left, right vg.Length) {
	var full []string
	for _, r := range p.rows {
		full = append(full, r.name)
		right = max(right, axisStyle().Width(r.end)+8)
	}
	names = shortNames(nameStyle(), full, w*0.36-nameMarker)
	return names, widest(nameStyle(), names...) + nameMarker + 8, right + 4
}

func (p *rowPanel) heads(w vg.Length) (title, hint []string) {
	title = wrapWords(headStyle(), p.title, w)
	if p.hint != "" {
		hint = wrapWords(axisStyle(), p.hint, w)
	}
	return title, hint
}

func (p *rowPanel) height(w vg.Length) vg.Length {
	names, left, _ := p.layout(w)
	title, hint := p.heads(w)
	h := vg.Length(len(title))*lineHeight(headStyle()) + vg.Length(len(hint))*lineHeight(axisStyle()) + 6 + forestAxis
	if len(p.legend) > 0 {
		h += flowHeight(p.legend, w) + 4
	}
	for i := range p.rows {
		h += p.rows[i].bodyHeight(names[i]) + flowHeight(p.rows[i].detail, w-left) + p.gap()
	}
	return h
}

// gap is the room between rows.
func (p *rowPanel) gap() vg.Length {
	if slices.ContainsFunc(p.rows, func(r valueRow) bool { return len(r.detail) > 0 }) {
		return 5
	}
	return 1
}

func (p *rowPanel) draw(c draw.Canvas) {
	w := c.Max.X - c.Min.X
	names, left, right := p.layout(w)
	c.Min.Y = c.Max.Y - p.height(w)
	title, hint := p.heads(w)
	c.Max.Y = drawLines(c, headStyle(), c.Min.X, c.Max.Y, title)
	c.Max.Y = drawLines(c, axisStyle(), c.Min.X, c.Max.Y, hint)
	if len(p.legend) > 0 {
		c.Max.Y = drawFlow(c, p.legend, c.Min.X, c.Max.Y-2, w) - 2
	}
	c.Max.Y -= 6
	tops := make([]vg.Length, len(p.rows))
	y := c.Max.Y
	for i := range p.rows {
		tops[i] = y
		y -= p.rows[i].bodyHeight(names[i]) + flowHeight(p.rows[i].detail, w-left) + p.gap()
	}
	g := styled()
	g.HideY()
	g.Y.Min, g.Y.Max = 0, 1
	ticks := p.x.ticks(max(2, int((w-left-right)/46)), p.unit)
	p.x.apply(&g.X, p.x.thin(ticks, w-left-right))
	g.Add(gridLines(true), plotterFunc(func(d draw.Canvas, at func(x, y float64) vg.Point) {
		for i := range p.rows {
			p.rows[i].draw(d, at, tops[i], names[i], c.Min.X, right)
		}
	}))
	g.Draw(draw.Crop(c, left, -right, 0, 0))
}

// draw draws the row below top; x0 is the left end of its name.
func (r *valueRow) draw(c draw.Canvas, at func(x, y float64) vg.Point, top vg.Length, name []string, x0, right vg.Length) {
	body := r.bodyHeight(name)
	mid := top - body/2
	r.mark.glyph(&c, vg.Point{X: x0 + 4, Y: mid}, markerRadius)
	drawLines(c, nameStyle(), x0+nameMarker, mid+vg.Length(len(name))*lineHeight(nameStyle())/2, name)
	y := mid + r.graphHeight()/2
	if len(r.lanes) > 0 {
		for i := range r.lanes {
			r.lanes[i].draw(c, at, y-laneHeight*(vg.Length(i)+0.5))
		}
	} else {
		r.drawBars(c, at, y)
	}
	writeAt(c, nameStyle(), vg.Point{X: c.Max.X + 8, Y: mid}, r.end)
	drawGround(c, r.detail, top-body, c.Max.X+right-c.Min.X)
	drawFlow(c, r.detail, c.Min.X, top-body, c.Max.X+right-c.Min.X)
}

// drawGround clears the grid from behind the texts of a row.
func drawGround(c draw.Canvas, items []flowItem, y, w vg.Length) {
	if len(items) == 0 {
		return
	}
	c.SetColor(toneGround)
	r := box{Min: vg.Point{X: c.Min.X + 1, Y: y - flowHeight(items, w)}, Max: vg.Point{X: c.Max.X, Y: y}}
	c.Fill(r.Path())
}

// drawBars draws the stack from y down, with a gap of ground between its parts,
// and what stands apart below.
func (r *valueRow) drawBars(c draw.Canvas, at func(x, y float64) vg.Point, y vg.Length) {
	sum := 0.0
	for _, b := range r.bars {
		from := at(sum, 0).X
		sum += b.v
		to := at(sum, 0).X
		piece := box{Min: vg.Point{X: from, Y: y - barHeight}, Max: vg.Point{X: max(to-0.8, from+0.4), Y: y}}
		if b.v > 0 {
			c.SetColor(b.tone)
			c.Fill(piece.Path())
		}
		piece.Max.X = max(piece.Max.X, from+4)
		hotArea(c, piece, b.hover)
	}
	if r.whisker != nil {
		lo, hi, m := at(r.whisker[0], 0).X, at(r.whisker[1], 0).X, y-barHeight/2
		sty := draw.LineStyle{Color: toneInk, Width: 1}
		c.StrokeLine2(sty, lo, m, hi, m)
		c.StrokeLine2(sty, lo, m-2.5, lo, m+2.5)
		c.StrokeLine2(sty, hi, m-2.5, hi, m+2.5)
	}
	if r.apart != nil {
		to := max(at(r.apart.v, 0).X, c.Min.X+0.5)
		piece := box{Min: vg.Point{X: c.Min.X, Y: y - barHeight - apartSpace}, Max: vg.Point{X: to, Y: y - barHeight - 2}}
		c.SetLineStyle(draw.LineStyle{Color: toneInk, Width: 0.8})
		c.Stroke(piece.Path())
		hotArea(c, piece, r.apart.hover)
	}
}

// draw draws the lane's dots, joined.
func (l *dotLane) draw(c draw.Canvas, at func(x, y float64) vg.Point, y vg.Length) {
	if len(l.vs) > 1 {
		c.StrokeLine2(draw.LineStyle{Color: l.mark.tone, Width: 1.4}, at(slices.Min(l.vs), 0).X, y, at(slices.Max(l.vs), 0).X, y)
	}
	for i, v := range l.vs {
		pt := vg.Point{X: at(v, 0).X, Y: y}
		l.mark.glyph(&c, pt, markerRadius+0.6)
		if i == 0 && l.hollow {
			hollow := mark{tone: toneGround, shape: l.mark.shape}
			hollow.glyph(&c, pt, markerRadius-1.1)
		}
		hotspot(c, pt, l.text[i])
	}
}
