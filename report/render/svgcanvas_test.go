package render

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func svgOf(t *testing.T, inline bool, paint func(c *svgCanvas)) string {
	t.Helper()
	c := newSVGCanvas(200, 100)
	paint(c)
	var b bytes.Buffer
	if err := c.write(&b, `alt "text" <b>`, inline); err != nil {
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
		`d="M10,80L30,80Q40,80 40,70C1,99 2,98 3,97Z"`,
		`d="M100,50L100,30"`, // up by 10, doubled
		`stroke-dasharray="3 1" stroke-dashoffset="2" d="M0,100L10,100"`,
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
	want := "M60,50L60,50A10 10 0 0 0 45,41.34A10 10 0 0 0 45,58.66A10 10 0 0 0 60,50Z"
	if !strings.Contains(got, want) {
		t.Errorf("no %s in\n%s", want, got)
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
