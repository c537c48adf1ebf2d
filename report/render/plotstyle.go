package render

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// tone is a colour by its role, so that one drawing serves a light and a dark
// background.
type tone int

// Tones of the plots. The first is the baseline's; the others up to toneInk
// tell cases apart.
const (
	toneBase tone = iota
	toneBlue
	toneVermillion
	toneGreen
	tonePurple
	toneOrange
	toneSky
	toneOlive
	toneInk    // text and axes
	toneMuted  // secondary text
	toneGrid   // grid lines
	toneShade  // shaded areas
	toneGround // behind the plot
	toneCount
)

// tones holds the colours of each tone on white and on near-black. The series
// follow Okabe and Ito's palette for colour-blind readers; its yellow is
// darkened on white and others are lightened on black, to keep 3:1 contrast.
var tones = [toneCount]struct{ light, dark uint32 }{
	toneBase:       {0x1a1a1a, 0xf2f2f2},
	toneBlue:       {0x0072b2, 0x56b4e9},
	toneVermillion: {0xd55e00, 0xf0803c},
	toneGreen:      {0x009e73, 0x2fc99b},
	tonePurple:     {0xb85c92, 0xe39cc3},
	toneOrange:     {0xc98500, 0xe69f00},
	toneSky:        {0x3c97c9, 0x9ad3f5},
	toneOlive:      {0x8a7f00, 0xf0e442},
	toneInk:        {0x1f2328, 0xe6e6e6},
	toneMuted:      {0x59636e, 0xa9b1ba},
	toneGrid:       {0xe2e5e9, 0x33383f},
	toneShade:      {0xeef0f3, 0x23272d},
	toneGround:     {0xffffff, 0x16181c},
}

// RGBA gives the colour on white, for pictures that cannot adapt.
func (t tone) RGBA() (r, g, b, a uint32) {
	v := tones[t].light
	return color.RGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255}.RGBA()
}

// svgHotCSS makes hotspots unseen areas that notice the pointer.
const svgHotCSS = ".hot{fill:none;pointer-events:all}"

// svgToneCSS gives the classes of all tones with their colours on white.
func svgToneCSS() string {
	var b strings.Builder
	for i, t := range tones {
		fmt.Fprintf(&b, ".s%d{fill:none;stroke:#%06x}.f%d{fill:#%06x}", i, t.light, i, t.light)
	}
	return b.String() + svgHotCSS
}

// mark is how one case looks in every plot.
type mark struct {
	tone   tone
	shape  int // index into the shapes
	dashes []vg.Length
}

// dashPatterns tell lines apart without colour.
var dashPatterns = [][]vg.Length{nil, {7, 2.5}, {2, 2}, {8, 2, 2, 2}, {4, 2}, {10, 3, 2, 3, 2, 3}}

const (
	shapeCount   = 7
	seriesTones  = int(toneInk) - 1 // without the baseline's
	baseWidth    = vg.Length(2.4)
	seriesWidth  = vg.Length(1.5)
	markerRadius = vg.Length(3.6)
)

// markOf gives the look of the i-th case that is not the baseline. Of
// the first 42 none share both colour and shape.
func markOf(i int, baseline bool) mark {
	if baseline {
		return mark{tone: toneBase}
	}
	round, k := i/seriesTones, i%seriesTones
	return mark{
		tone:   tone(1 + k),
		shape:  1 + (k+round)%(shapeCount-1),
		dashes: dashPatterns[(1+k+round)%len(dashPatterns)],
	}
}

// line is the style of a case's line.
func (m mark) line() draw.LineStyle {
	w := seriesWidth
	if m.tone == toneBase {
		w = baseWidth
	}
	return draw.LineStyle{Color: m.tone, Width: w, Dashes: m.dashes}
}

// glyph draws the case's marker.
func (m mark) glyph(c *draw.Canvas, at vg.Point, r vg.Length) {
	c.SetColor(m.tone)
	if m.shape == 0 {
		var p vg.Path
		p.Move(vg.Point{X: at.X + r, Y: at.Y})
		p.Arc(at, r, 0, 2*math.Pi)
		p.Close()
		c.Fill(p)
		return
	}
	c.Fill(shapePath(m.shape, at, r))
}

// shapePath gives the outline of a filled marker of about radius r.
func shapePath(shape int, at vg.Point, r vg.Length) vg.Path {
	corners, turn := [...]int{0, 4, 3, 4, 3, 5, 6}[shape], [...]float64{0, .25, .5, .5, -.5, .5, .5}[shape]
	var p vg.Path
	for i := range corners {
		a := math.Pi*turn + 2*math.Pi*float64(i)/float64(corners)
		pt := vg.Point{X: at.X + r*1.2*vg.Length(math.Cos(a)), Y: at.Y + r*1.2*vg.Length(math.Sin(a))}
		if i == 0 {
			p.Move(pt)
		} else {
			p.Line(pt)
		}
	}
	p.Close()
	return p
}

// Font sizes in points.
const (
	sizeTitle = vg.Length(14)
	sizeText  = vg.Length(12)
	sizeTick  = vg.Length(11)
)

// textStyle is sans-serif text of the given size and tone, left-aligned on its
// vertical middle.
func textStyle(size vg.Length, t tone, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: t, Font: f, XAlign: text.XLeft, YAlign: text.YCenter, Handler: plot.DefaultTextHandler}
}

// styled returns a plot with our fonts and quiet axes and no labels yet.
func styled() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.LineStyle = draw.LineStyle{Color: toneMuted, Width: 0.8}
		a.Tick.LineStyle = draw.LineStyle{Color: toneMuted, Width: 0.8}
		a.Tick.Length = 4
		a.Padding = 0
		a.Label.Padding = 3
		xa, ya := a.Tick.Label.XAlign, a.Tick.Label.YAlign
		a.Tick.Label = textStyle(sizeTick, toneInk, false)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = xa, ya
		xa, ya = a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign
		a.Label.TextStyle = textStyle(sizeTick, toneMuted, false)
		a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = xa, ya
	}
	return p
}
