package render

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// svgFontStack starts with the face the layout was measured with and goes on
// with fonts of the same metrics.
const svgFontStack = "'Liberation Sans',Arial,Helvetica,sans-serif"

// svgCanvas is a gonum canvas that writes SVG. It differs from gonum's own in
// what an inline picture needs: colours are classes, so that a page can restyle
// them for a dark background; every text states its length, so that a missing
// font cannot make labels overlap; and hotspots carry the value under them.
// One unit is one point of the layout.
type svgCanvas struct {
	w, h  vg.Length
	body  bytes.Buffer
	spots bytes.Buffer // hotspots: above the drawing, which would hide them
	state svgState
	saved []svgState
}

type svgState struct {
	m         affine
	color     color.Color
	width     vg.Length
	dash      []vg.Length
	dashStart vg.Length
}

// affine maps (x, y) to (a*x + c*y + e, b*x + d*y + f), y growing upwards.
type affine struct{ a, b, c, d, e, f float64 }

// then returns the map that applies n first and m after it.
func (m affine) then(n affine) affine {
	return affine{
		m.a*n.a + m.c*n.b, m.b*n.a + m.d*n.b,
		m.a*n.c + m.c*n.d, m.b*n.c + m.d*n.d,
		m.a*n.e + m.c*n.f + m.e, m.b*n.e + m.d*n.f + m.f,
	}
}

func newSVGCanvas(w, h vg.Length) *svgCanvas {
	c := &svgCanvas{w: w, h: h}
	c.state.m = affine{a: 1, d: 1}
	vg.Initialize(c)
	return c
}

// Size returns the width and the height.
func (c *svgCanvas) Size() (x, y vg.Length) { return c.w, c.h }

// SetLineWidth sets the width of strokes.
func (c *svgCanvas) SetLineWidth(w vg.Length) { c.state.width = w }

// SetLineDash sets the dash pattern of strokes.
func (c *svgCanvas) SetLineDash(d []vg.Length, start vg.Length) {
	c.state.dash, c.state.dashStart = d, start
}

// SetColor sets the colour of strokes, fills and text.
func (c *svgCanvas) SetColor(col color.Color) { c.state.color = col }

// Rotate turns the coordinates counter-clockwise by rad.
func (c *svgCanvas) Rotate(rad float64) {
	s, k := math.Sincos(rad)
	c.state.m = c.state.m.then(affine{a: k, b: s, c: -s, d: k})
}

// Translate moves the origin.
func (c *svgCanvas) Translate(p vg.Point) {
	c.state.m = c.state.m.then(affine{a: 1, d: 1, e: p.X.Points(), f: p.Y.Points()})
}

// Scale scales the coordinates; text keeps its size.
func (c *svgCanvas) Scale(x, y float64) { c.state.m = c.state.m.then(affine{a: x, d: y}) }

// Push saves the state.
func (c *svgCanvas) Push() { c.saved = append(c.saved, c.state) }

// Pop restores the state saved last.
func (c *svgCanvas) Pop() {
	c.state = c.saved[len(c.saved)-1]
	c.saved = c.saved[:len(c.saved)-1]
}

// at maps a point to SVG coordinates, y growing downwards.
func (c *svgCanvas) at(p vg.Point) (x, y float64) {
	m, px, py := c.state.m, p.X.Points(), p.Y.Points()
	return m.a*px + m.c*py + m.e, c.h.Points() - (m.b*px + m.d*py + m.f)
}

// Stroke draws the outline of a path.
func (c *svgCanvas) Stroke(p vg.Path) {
	if c.state.width <= 0 {
		return
	}
	dash := ""
	if len(c.state.dash) > 0 {
		parts := make([]string, len(c.state.dash))
		for i, d := range c.state.dash {
			parts[i] = svgNum(d.Points())
		}
		dash = ` stroke-dasharray="` + strings.Join(parts, " ") + `"`
		if c.state.dashStart != 0 {
			dash += ` stroke-dashoffset="` + svgNum(c.state.dashStart.Points()) + `"`
		}
	}
	fmt.Fprintf(&c.body, `<path fill="none" %s stroke-width="%s"%s d="%s"/>`+"\n",
		svgPaint("stroke", c.state.color), svgNum(c.state.width.Points()), dash, c.pathData(p))
}

// Fill fills a path.
func (c *svgCanvas) Fill(p vg.Path) {
	fmt.Fprintf(&c.body, `<path %s d="%s"/>`+"\n", svgPaint("fill", c.state.color), c.pathData(p))
}

// FillString writes text with its baseline starting at pt.
func (c *svgCanvas) FillString(f font.Face, pt vg.Point, s string) {
	s = xmlText(s)
	if f.Font.Size == 0 || strings.TrimSpace(s) == "" {
		return
	}
	x, y := c.at(pt)
	attrs := ""
	if f.Font.Weight >= 2 { // semi-bold and up
		attrs += ` font-weight="bold"`
	}
	if w := f.Width(s).Points(); w > 0 {
		attrs += ` textLength="` + svgNum(w) + `" lengthAdjust="spacingAndGlyphs"`
	}
	if deg := -math.Atan2(c.state.m.b, c.state.m.a) * 180 / math.Pi; math.Abs(deg) > 1e-9 {
		attrs += fmt.Sprintf(` transform="rotate(%s %s %s)"`, svgNum(deg), svgNum(x), svgNum(y))
	}
	fmt.Fprintf(&c.body, `<text %s x="%s" y="%s" font-size="%s"%s>%s</text>`+"\n",
		svgPaint("fill", c.state.color), svgNum(x), svgNum(y), svgNum(f.Font.Size.Points()),
		attrs, html.EscapeString(s))
}

// DrawImage embeds img as a PNG.
func (c *svgCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		// gonum's interface has no error to return; a picture that cannot be
		// encoded leaves a visible frame.
		c.Stroke(r.Path())
		return
	}
	x, y := c.at(vg.Point{X: r.Min.X, Y: r.Max.Y})
	fmt.Fprintf(&c.body, `<image x="%s" y="%s" width="%s" height="%s" preserveAspectRatio="none" href="data:image/png;base64,%s"/>`+"\n",
		svgNum(x), svgNum(y), svgNum(r.Size().X.Points()), svgNum(r.Size().Y.Points()),
		base64.StdEncoding.EncodeToString(b.Bytes()))
}

// hotspot marks a round area that tells text when pointed at.
func (c *svgCanvas) hotspot(center vg.Point, radius vg.Length, text string) {
	x, y := c.at(center)
	fmt.Fprintf(&c.spots, `<circle class="hot" fill="none" pointer-events="all" cx="%s" cy="%s" r="%s"><title>%s</title></circle>`+"\n",
		svgNum(x), svgNum(y), svgNum(radius.Points()), html.EscapeString(xmlText(text)))
}

// write emits the document. An inline picture leaves colours to the page; a
// file of its own brings a white ground and the colours.
func (c *svgCanvas) write(w io.Writer, alt string, inline bool) error {
	head := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img" aria-label="%s" font-family="%s"`
	args := []any{svgNum(c.w.Points()), svgNum(c.h.Points()), html.EscapeString(xmlText(alt)), svgFontStack}
	if inline {
		head += ` class="plot">` + "\n"
	} else {
		head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + head + ` width="%s" height="%s">` + "\n" +
			`<style>` + svgToneCSS(false) + `</style>` + "\n" + `<rect width="100%%" height="100%%" fill="#fff"/>` + "\n"
		args = append(args, args[0], args[1])
	}
	if _, err := fmt.Fprintf(w, head, args...); err != nil {
		return err
	}
	for _, part := range [][]byte{c.body.Bytes(), c.spots.Bytes(), []byte("</svg>\n")} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// svgNum prints a coordinate with two decimals at most.
func svgNum(v float64) string {
	s := strconv.FormatFloat(v, 'f', 2, 64)
	s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	if s == "-0" || s == "" {
		return "0"
	}
	return s
}

// xmlText drops the characters XML 1.0 does not allow.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return ' '
		case r < 0x20, r == 0xFFFE, r == 0xFFFF:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
