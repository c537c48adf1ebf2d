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

// What most texts and lines have is said once.
const (
	svgFontSize    = "11" // as sizeTick
	svgStrokeWidth = "0.8"
)

// svgCanvas is a gonum canvas that writes SVG. It differs from gonum's own in
// what an inline picture needs: colours are classes, so that a page can restyle
// them for a dark background; every text states its length, so that a missing
// font cannot make labels overlap; and hotspots carry the value under them.
// One unit is one point of the layout. The classes need the rules of svgToneCSS.
type svgCanvas struct {
	w, h  vg.Length
	body  bytes.Buffer
	spots bytes.Buffer // hotspots: above the drawing, which would hide them
	state svgState
	saved []svgState
	// inline is set of a picture inside a page, which has its colours and its
	// script; a file of its own brings them.
	inline bool

	joinAt    int // length of body up to a path that lines may join; else -1
	joinAttrs string
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

func newSVGCanvas(w, h vg.Length, inline bool) *svgCanvas {
	c := &svgCanvas{w: w, h: h, inline: inline, joinAt: -1}
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
	width := ""
	if w := svgNum(c.state.width.Points()); w != svgStrokeWidth {
		width = ` stroke-width="` + w + `"`
	}
	c.put(svgPaint("stroke", c.state.color)+width+dash, c.pathData(p), dash == "")
}

// Fill fills a path.
func (c *svgCanvas) Fill(p vg.Path) {
	c.put(svgPaint("fill", c.state.color), c.pathData(p), false)
}

const svgPathEnd = "\"/>\n"

// put writes a path. Lines that look like those before join their element, as
// grid lines and ticks do.
func (c *svgCanvas) put(attrs, data string, joins bool) {
	if joins && c.body.Len() == c.joinAt && attrs == c.joinAttrs {
		c.body.Truncate(c.joinAt - len(svgPathEnd))
		c.body.WriteString(data + svgPathEnd)
	} else {
		c.body.WriteString("<path " + attrs + ` d="` + data + svgPathEnd)
	}
	c.joinAt, c.joinAttrs = -1, attrs
	if joins {
		c.joinAt = c.body.Len()
	}
}

// FillString writes text with its baseline starting at pt.
func (c *svgCanvas) FillString(f font.Face, pt vg.Point, s string) {
	s = xmlText(s)
	if f.Font.Size == 0 || strings.TrimSpace(s) == "" {
		return
	}
	x, y := c.at(pt)
	attrs := ""
	if size := svgNum(f.Font.Size.Points()); size != svgFontSize {
		attrs += ` font-size="` + size + `"`
	}
	if f.Font.Weight >= 2 { // semi-bold and up
		attrs += ` font-weight="bold"`
	}
	if w := f.Width(s).Points(); w > 0 {
		attrs += ` textLength="` + svgPlace(w) + `"`
		if !c.inline { // the script of a page adds it there
			attrs += ` lengthAdjust="spacingAndGlyphs"`
		}
	}
	if deg := -math.Atan2(c.state.m.b, c.state.m.a) * 180 / math.Pi; math.Abs(deg) > 1e-9 {
		attrs += fmt.Sprintf(` transform="rotate(%s %s %s)"`, svgNum(deg), svgPlace(x), svgPlace(y))
	}
	fmt.Fprintf(&c.body, `<text %s x="%s" y="%s"%s>%s</text>`+"\n",
		svgPaint("fill", c.state.color), svgPlace(x), svgPlace(y), attrs, html.EscapeString(s))
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
	fmt.Fprintf(&c.spots, `<circle class="hot" cx="%s" cy="%s" r="%s"><title>%s</title></circle>`+"\n",
		svgPlace(x), svgPlace(y), svgPlace(radius.Points()), html.EscapeString(xmlText(text)))
}

// hotArea marks a rectangle that tells text when pointed at.
func (c *svgCanvas) hotArea(r vg.Rectangle, text string) {
	x, y := c.at(vg.Point{X: r.Min.X, Y: r.Max.Y})
	fmt.Fprintf(&c.spots, `<rect class="hot" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`+"\n",
		svgPlace(x), svgPlace(y), svgPlace(r.Size().X.Points()), svgPlace(r.Size().Y.Points()), html.EscapeString(xmlText(text)))
}

// write emits the document. An inline picture leaves colours to the page; a
// file of its own brings a white ground and the colours.
func (c *svgCanvas) write(w io.Writer, alt string) error {
	head := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" role="img" aria-label="%s" font-family="%s" font-size="` + svgFontSize + `" stroke-width="` + svgStrokeWidth + `"`
	args := []any{svgNum(c.w.Points()), svgNum(c.h.Points()), html.EscapeString(xmlText(alt)), svgFontStack}
	if c.inline {
		head += ` class="plot">` + "\n"
	} else {
		head = `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + head + ` width="%s" height="%s">` + "\n" +
			`<style>` + svgToneCSS() + `</style>` + "\n" + `<rect width="100%%" height="100%%" fill="#fff"/>` + "\n"
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

// svgPlace prints a coordinate in tenths: a twentieth of a point cannot be seen.
func svgPlace(v float64) string { return svgNum(math.Round(v*10) / 10) }

// svgNum prints a number with two decimals at most.
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
