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
	if len(p) > longPath && straight(p) {
		c.polyline(&b, p)
		return b.String()
	}
	var atX, atY string // where the pen is
	put := func(cmd string, pts ...vg.Point) {
		if cmd == "L" {
			x, y := c.at(pts[0])
			switch newX, newY := svgPlace(x), svgPlace(y); {
			case newX == atX && newY != atY:
				b.WriteString("V" + newY)
				atY = newY
				return
			case newY == atY && newX != atX:
				b.WriteString("H" + newX)
				atX = newX
				return
			}
		}
		b.WriteString(cmd)
		for i, pt := range pts {
			if i > 0 {
				b.WriteByte(' ')
			}
			x, y := c.at(pt)
			atX, atY = svgPlace(x), svgPlace(y)
			b.WriteString(atX + "," + atY)
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
			atX, atY = "", ""
		case vg.CurveComp:
			cmd := "Q"
			if len(s.Control) == 2 {
				cmd = "C"
			}
			put(cmd, append(append([]vg.Point{}, s.Control...), s.Pos)...)
		case vg.CloseComp:
			b.WriteByte('Z')
			atX, atY = "", "" // back at the start
		}
	}
	return b.String()
}

// longPath is the number of pieces from which a path is written in steps.
const longPath = 12

// straight reports whether a path is one line of straight pieces.
func straight(p vg.Path) bool {
	for i, s := range p {
		if s.Type != vg.LineComp && (i > 0 || s.Type != vg.MoveComp) && (i < len(p)-1 || s.Type != vg.CloseComp) {
			return false
		}
	}
	return true
}

// polyline writes a long line as steps in tenths, half the size of places. Each
// step starts where the rounded ones before it ended, so no error adds up.
func (c *svgCanvas) polyline(b *strings.Builder, p vg.Path) {
	round := func(v float64) float64 { return math.Round(v * 10) }
	var x, y float64
	for i, s := range p {
		if s.Type == vg.CloseComp {
			b.WriteByte('Z')
			continue
		}
		px, py := c.at(s.Pos)
		px, py = round(px), round(py)
		switch {
		case i == 0:
			b.WriteString("M" + svgNum(px/10) + "," + svgNum(py/10) + "l")
		default:
			if i > 1 && px >= x { // a minus sign separates by itself
				b.WriteByte(' ')
			}
			b.WriteString(svgNum((px-x)/10) + "," + svgNum((py-y)/10))
		}
		x, y = px, py
	}
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
		fmt.Fprintf(b, "A%s %s 0 0 %d %s,%s", r, r, sweep, svgPlace(x), svgPlace(y))
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
	if attr == "stroke" {
		s = `fill="none" ` + s
	}
	if c.A != 255 {
		s += fmt.Sprintf(` %s-opacity="%s"`, attr, svgNum(float64(c.A)/255))
	}
	return s
}
