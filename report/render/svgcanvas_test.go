package render

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func svgOf(t *testing.T, inline bool, paint func(c *svgCanvas)) string {
	t.Helper()
	c := newSVGCanvas(200, 100, inline)
	paint(c)
	var b bytes.Buffer
	if err := c.write(&b, `alt "text" <b>`); err != nil {
		t.Fatal(err)
	}
	checkSVG(t, b.Bytes())
	return b.String()
}

func TestSVGCoordinates(t *testing.T) {
	got := svgOf(t, true, func(c *svgCanvas) {
		var p vg.Path
		p.Move(vg.Point{X: 10, Y: 20})
		p.Line(vg.Point{X: 30, Y: 20})
		p.QuadTo(vg.Point{X: 40, Y: 20}, vg.Point{X: 40, Y: 30})
		p.CubeTo(vg.Point{X: 1, Y: 1}, vg.Point{X: 2, Y: 2}, vg.Point{X: 3, Y: 3})
		p.Close()
		c.Fill(p)
		c.Push()
		c.Translate(vg.Point{X: 100, Y: 50})
		c.Rotate(math.Pi / 2)
		c.Scale(2, 2)
		c.Stroke(vg.Path{{Type: vg.MoveComp}, {Type: vg.LineComp, Pos: vg.Point{X: 10}}})
		c.Pop()
		c.SetLineDash([]vg.Length{3, 1}, 2)
		c.Stroke(vg.Path{{Type: vg.MoveComp}, {Type: vg.LineComp, Pos: vg.Point{X: 10}}})
	})
	for _, want := range []string{
		`d="M10,80H30Q40,80 40,70C1,99 2,98 3,97Z"`,
		`d="M100,50V30"`, // up by 10, doubled
		`stroke-dasharray="3 1" stroke-dashoffset="2" d="M0,100H10"`,
		`aria-label="alt &#34;text&#34; &lt;b&gt;"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestSVGCircleIsWhole(t *testing.T) {
	got := svgOf(t, true, func(c *svgCanvas) {
		d := draw.New(c)
		markOf(0, true).glyph(&d, vg.Point{X: 50, Y: 50}, 10)
	})
	want := "M60,50L60,50A10 10 0 0 0 45,41.3A10 10 0 0 0 45,58.7A10 10 0 0 0 60,50Z"
	if !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

func TestLinesOfOneLookShareAnElement(t *testing.T) {
	got := svgOf(t, true, func(c *svgCanvas) {
		d := draw.New(c)
		for _, x := range []vg.Length{10, 20, 30} {
			d.StrokeLine2(draw.LineStyle{Color: toneGrid, Width: 1}, x, 0, x, 50)
		}
		d.StrokeLine2(draw.LineStyle{Color: toneInk, Width: 1}, 5, 0, 5, 50)
		markOf(0, false).glyph(&d, vg.Point{X: 50, Y: 50}, 10)
		markOf(0, false).glyph(&d, vg.Point{X: 55, Y: 50}, 10) // fills may overlap
		d.StrokeLine2(draw.LineStyle{Color: toneGrid, Width: 1}, 6, 0, 6, 50)
	})
	if n := strings.Count(got, "<path"); n != 5 {
		t.Errorf("%d paths, want 5:\n%s", n, got)
	}
	if want := `d="M10,100V50M20,100V50M30,100V50"`; !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
	}
}

func TestLongLinesAreWrittenInSteps(t *testing.T) {
	var p vg.Path
	want := []vg.Point{}
	for i := range 400 {
		pt := vg.Point{X: vg.Length(i) / 3, Y: 50 + 40*vg.Length(math.Sin(float64(i)/7))}
		want = append(want, pt)
		if i == 0 {
			p.Move(pt)
		} else {
			p.Line(pt)
		}
	}
	got := svgOf(t, true, func(c *svgCanvas) { c.Stroke(p) })
	_, d, _ := strings.Cut(got, ` d="M`)
	d, _, _ = strings.Cut(d, `"`)
	start, steps, ok := strings.Cut(d, "l")
	if !ok || strings.ContainsAny(steps, "MLZ") {
		t.Fatalf("path %q", d)
	}
	x, y := 0.0, 0.0
	fmt.Sscanf(start, "%g,%g", &x, &y)
	pairs := regexp.MustCompile(`-?[0-9.]+,-?[0-9.]+`).FindAllString(steps, -1)
	if len(pairs) != len(want)-1 {
		t.Fatalf("%d steps for %d points", len(pairs), len(want))
	}
	for i, s := range pairs {
		var dx, dy float64
		fmt.Sscanf(s, "%g,%g", &dx, &dy)
		x, y = x+dx, y+dy
		if math.Abs(x-want[i+1].X.Points()) > 0.051 || math.Abs(100-y-want[i+1].Y.Points()) > 0.051 {
			t.Fatalf("step %d ends at %.2f,%.2f; want %v", i, x, 100-y, want[i+1])
		}
	}
	if len(d) > 10*len(want) {
		t.Errorf("%d bytes for %d points", len(d), len(want))
	}
}

func TestSVGTextIsEscapedAndHasItsLength(t *testing.T) {
	got := svgOf(t, true, func(c *svgCanvas) {
		draw.New(c).FillString(nameStyle().Handler.Cache().Lookup(nameStyle().Font, 11), vg.Point{X: 5, Y: 5}, "<a>&\x01\ufffe\"b\"\xff")
		c.hotspot(vg.Point{X: 1, Y: 1}, 9, `</title><script>`)
	})
	for _, want := range []string{`textLength="`, `>&lt;a&gt;&amp;&#34;b&#34;` + "\uFFFD" + `</text>`, `<title>&lt;/title&gt;&lt;script&gt;</title>`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestSVGColoursAndImages(t *testing.T) {
	got := svgOf(t, true, func(c *svgCanvas) {
		c.SetColor(color.NRGBA{R: 255, A: 128})
		c.Fill(box{Max: vg.Point{X: 1, Y: 1}}.Path())
		c.SetColor(toneBlue)
		c.Fill(box{Max: vg.Point{X: 1, Y: 1}}.Path())
		c.DrawImage(box{Max: vg.Point{X: 20, Y: 10}}, image.NewGray(image.Rect(0, 0, 2, 2)))
	})
	for _, want := range []string{`fill="#ff0000" fill-opacity="0.5"`, `<path class="f1"`, `<image x="0" y="90" width="20" height="10"`, "data:image/png;base64,"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestInlineSVGLeavesColoursToThePage(t *testing.T) {
	plain := func(*svgCanvas) {}
	inline, file := svgOf(t, true, plain), svgOf(t, false, plain)
	if strings.Contains(inline, "<?xml") || strings.Contains(inline, "<style") || strings.Contains(inline, "<rect") {
		t.Errorf("inline: %s", inline)
	}
	if !strings.HasPrefix(file, "<?xml") || !strings.Contains(file, "<style") || !strings.Contains(file, `width="200"`) {
		t.Errorf("file: %s", file)
	}
}

// contrast is the WCAG contrast ratio of two colours.
func contrast(a, b uint32) float64 {
	lum := func(c uint32) float64 {
		sum := 0.0
		for i, w := range []float64{0.0722, 0.7152, 0.2126} {
			v := float64(c>>(8*i)&255) / 255
			if v <= 0.04045 {
				v /= 12.92
			} else {
				v = math.Pow((v+0.055)/1.055, 2.4)
			}
			sum += w * v
		}
		return sum
	}
	la, lb := lum(a), lum(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func TestTonesStandOutOnBothGrounds(t *testing.T) {
	for i, c := range tones[:toneGrid] {
		want := 3.0
		if tone(i) == toneInk || tone(i) == toneMuted {
			want = 4.5
		}
		if got := min(contrast(c.light, tones[toneGround].light), contrast(c.dark, tones[toneGround].dark)); got < want {
			t.Errorf("tone %d has a contrast of %.2f, want %.1f", i, got, want)
		}
	}
}

func TestMarksDiffer(t *testing.T) {
	seen := []mark{markOf(0, true)}
	for i := range 40 {
		m := markOf(i, false)
		if slices.ContainsFunc(seen, func(o mark) bool { return o.tone == m.tone && o.shape == m.shape }) {
			t.Errorf("case %d looks like one before: %+v", i, m)
		}
		seen = append(seen, m)
	}
}
