package render

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

// pathData writes a path in SVG's notation. Arcs keep their shape only under
// rotation, translation and even scaling, which is all the plots use.
func (c *svgCanvas) pathData(p vg.Path) string {
	var b strings.Builder
	put := func(cmd string, pts ...vg.Point) {
		b.WriteString(cmd)
		for i, pt := range pts {
			if i > 0 {
				b.WriteByte(' ')
			}
			x, y := c.at(pt)
			b.WriteString(svgNum(x) + "," + svgNum(y))
		}
	}
	for _, s := range p {
		switch s.Type {
		case vg.MoveComp:
			put("M", s.Pos)
		case vg.LineComp:
			put("L", s.Pos)
		case vg.ArcComp:
			c.arc(&b, s, put)
		case vg.CurveComp:
			cmd := "Q"
			if len(s.Control) == 2 {
				cmd = "C"
			}
			put(cmd, append(append([]vg.Point{}, s.Control...), s.Pos)...)
		case vg.CloseComp:
			b.WriteByte('Z')
		}
	}
	return b.String()
}

// arc writes an arc as pieces of at most a third of a turn, since SVG cannot
// express a whole circle in one.
func (c *svgCanvas) arc(b *strings.Builder, s vg.PathComp, put func(string, ...vg.Point)) {
	on := func(angle float64) vg.Point {
		sin, cos := math.Sincos(angle)
		return vg.Point{X: s.Pos.X + s.Radius*vg.Length(cos), Y: s.Pos.Y + s.Radius*vg.Length(sin)}
	}
	if b.Len() == 0 {
		put("M", on(s.Start))
	} else {
		put("L", on(s.Start))
	}
	pieces := int(math.Ceil(math.Abs(s.Angle) / (2 * math.Pi / 3)))
	sweep := 0 // the y axis is flipped: counter-clockwise becomes 0
	if s.Angle < 0 {
		sweep = 1
	}
	r := svgNum(s.Radius.Points() * math.Hypot(c.state.m.a, c.state.m.b))
	for i := 1; i <= pieces; i++ {
		x, y := c.at(on(s.Start + s.Angle*float64(i)/float64(pieces)))
		fmt.Fprintf(b, "A%s %s 0 0 %d %s,%s", r, r, sweep, svgNum(x), svgNum(y))
	}
}

// svgPaint gives the attribute that paints with col: a class for a tone of the
// plots, which a page may restyle, the colour itself for any other.
func svgPaint(attr string, col color.Color) string {
	if t, ok := col.(tone); ok {
		return fmt.Sprintf(`class="%s%d"`, attr[:1], t)
	}
	if col == nil {
		col = color.Black
	}
	c := color.NRGBAModel.Convert(col).(color.NRGBA)
	s := fmt.Sprintf(`%s="#%02x%02x%02x"`, attr, c.R, c.G, c.B)
	if c.A != 255 {
		s += fmt.Sprintf(` %s-opacity="%s"`, attr, svgNum(float64(c.A)/255))
	}
	return s
}
