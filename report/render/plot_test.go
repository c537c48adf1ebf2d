package render

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/png"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// alter returns the usual report with every cell of every case changed.
func alter(change func(c *analyze.Case, i int)) *analyze.Report {
	r := plotReport(plotCases(), "p")
	for i := range r.Scenarios[0].Points[0].Cases {
		change(&r.Scenarios[0].Points[0].Cases[i], i)
	}
	return r
}

// allValues sets every number of a case to v.
func allValues(v float64) func(*analyze.Case, int) {
	return func(c *analyze.Case, _ int) {
		for name, cell := range c.Cells {
			cell.Unavailable = ""
			cell.Median, cell.Lo, cell.Hi, cell.HasInterval = v, v, v, true
			if cell.Effect != nil {
				*cell.Effect = analyze.Effect{Stat: analyze.Ratio, Estimate: v, Lo: v, Hi: v, HasInterval: true, N: 1}
			}
			c.Cells[name] = cell
		}
		for k := range c.Distributions {
			for q := range c.Distributions[k].Quantiles {
				c.Distributions[k].Quantiles[q].V = v
			}
		}
	}
}

// degenerate are reports that a plotting library trips over.
func degenerate(t *testing.T) map[string]*analyze.Report {
	out := map[string]*analyze.Report{
		"no scenario": {},
		"no point":    plotReport(plotCases()),
		"no case":     plotReport(nil, "p"),
		"one case":    plotReport(plotCases()[:1], "p"),
		"one trial":   reportOf(t, fixture.New(fixture.Spec{Blocks: 1, Repeats: 1, Messages: 25})),
		"few blocks":  reportOf(t, fixture.New(fixture.Spec{Blocks: 2, Repeats: 1})),
		"identical":   plotReport([]plotCase{{name: "a", latency: 1e-5, cpu: 1e-6, pages: 4}, {name: "b", latency: 1e-5, cpu: 1e-6, pages: 4}}, "p"),
		"skipped":     alter(func(c *analyze.Case, _ int) { c.Skip = &record.Skip{Reason: "no io_uring here"} }),
		"nothing measured": alter(func(c *analyze.Case, _ int) {
			c.Cells, c.Distributions, c.Series = nil, nil, nil
		}),
		"broken series": alter(func(c *analyze.Case, i int) {
			c.Series = []analyze.Series{{Name: "buffer_pages", X: []int64{5, 6}, Y: []int64{7}}, {Name: "buffer_pages"}}[i%2:]
		}),
		"one quantile": alter(func(c *analyze.Case, _ int) {
			c.Distributions = []analyze.Distribution{{Name: "latency", Unit: "s", N: 20, Quantiles: []analyze.Quantile{{Q: 0.5, V: 1e-3}}}}
		}),
		"extreme series": alter(func(c *analyze.Case, _ int) {
			c.Series = []analyze.Series{{Name: "buffer_pages", X: []int64{math.MinInt64, math.MaxInt64}, Y: []int64{math.MaxInt64, math.MinInt64}}}
		}),
	}
	for name, v := range map[string]float64{"zero": 0, "one": 1, "half": 0.5, "huge": math.MaxFloat64, "tiny": math.SmallestNonzeroFloat64,
		"negative": -3, "most negative": -math.MaxFloat64, "NaN": math.NaN(), "infinite": math.Inf(1)} {
		out["all "+name] = alter(allValues(v))
	}
	out["mixed extremes"] = alter(func(c *analyze.Case, i int) {
		allValues([]float64{math.MaxFloat64, 5e-324, 0, -math.MaxFloat64, 1, math.NaN()}[i])(c, i)
	})
	return out
}

// checkSVG parses an SVG and returns its texts.
func checkSVG(t *testing.T, b []byte) []string {
	t.Helper()
	var texts []string
	inText := false
	for dec := xml.NewDecoder(bytes.NewReader(b)); ; {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return texts
		}
		if err != nil {
			t.Fatalf("the SVG is not well formed: %v", err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			if e.Name.Local == "script" || e.Name.Local == "a" || e.Name.Local == "foreignObject" {
				t.Errorf("the SVG has an element %s", e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
					t.Errorf("attribute %s=%q of %s", a.Name.Local, a.Value, e.Name.Local)
				}
			}
			inText = e.Name.Local == "text"
		case xml.CharData:
			if inText {
				texts = append(texts, string(e))
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// checkPNG decodes a PNG and wants more than one colour in it.
func checkPNG(t *testing.T, b []byte) image.Image {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("not a PNG: %v", err)
	}
	seen := map[[3]uint32]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}]++
		}
	}
	if len(seen) < 3 {
		t.Errorf("the picture has %d colours only", len(seen))
	}
	return img
}

func TestNoDataBreaksAPlot(t *testing.T) {
	for name, r := range degenerate(t) {
		t.Run(name, func(t *testing.T) {
			plots, err := Plots(r, PlotOptions{Width: 420, DPI: 72})
			if err != nil {
				t.Fatal(err)
			}
			for _, kind := range usualPlots {
				n := 0
				for _, p := range plots {
					if p.Kind == kind {
						n++
					}
				}
				timed := 0
				for _, sc := range r.Scenarios {
					if sc.Info.Blocks > 0 || len(sc.Points) == 0 || kind != PlotLatency && kind != PlotPareto {
						timed++
					}
				}
				if n < timed {
					t.Errorf("%d plots of kind %s, want %d: what has no data still gets its note", n, kind, timed)
				}
			}
			for _, p := range plots {
				var svg, raster bytes.Buffer
				if err := errors.Join(p.SVG(&svg), p.PNG(&raster)); err != nil {
					t.Fatal(err)
				}
				if texts := checkSVG(t, svg.Bytes()); len(texts) < 2 {
					t.Errorf("%s says only %q", p.Name, texts)
				}
				checkPNG(t, raster.Bytes())
			}
		})
	}
}

func TestEmptyPlotsSayWhy(t *testing.T) {
	plots, err := Plots(alter(func(c *analyze.Case, i int) {
		*c = analyze.Case{Name: c.Name, Info: c.Info}
		if i == 0 {
			c.Skip = &record.Skip{Case: c.Name, Reason: "this kernel has no io_uring"}
		}
	}), PlotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plots {
		var b bytes.Buffer
		if err := p.SVG(&b); err != nil {
			t.Fatal(err)
		}
		texts := strings.Join(checkSVG(t, b.Bytes()), " ")
		if !strings.Contains(texts, "No ") || !strings.Contains(texts, "this kernel has no io_uring") {
			t.Errorf("%s does not say why it is empty: %s", p.Name, texts)
		}
	}
}

func TestPicturesOfTheFixture(t *testing.T) {
	dir := os.Getenv(shotsEnv)
	if dir == "" {
		dir = t.TempDir()
	}
	for sub, c := range map[string]struct {
		res   *record.Result
		names []string
	}{
		"one": {fixture.Result(), []string{"residency", "memory", "waste", "latency", "distribution", "pareto", "effects"}},
		"sweep": {fixture.New(fixture.Spec{Points: []string{"clients=1", "clients=2"}}),
			[]string{"residency", "memory", "waste", "latency", "distribution", "pareto", "effects-1", "effects-2"}},
		"shared": {fixture.Shared(), []string{"residency", "memory", "starvation", "waste", "latency", "distribution", "pareto", "effects"}},
	} {
		r := reportOf(t, c.res)
		for ext, write := range map[string]func(string, *analyze.Report) ([]string, error){".png": WritePNGs, ".svg": WriteSVGs} {
			paths, err := write(filepath.Join(dir, sub), r)
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range c.names {
				if len(paths) != len(c.names) || filepath.Base(paths[i]) != n+ext {
					t.Fatalf("wrote %q, want %q as %s", paths, c.names, ext)
				}
				b, err := os.ReadFile(paths[i])
				if err != nil {
					t.Fatal(err)
				}
				if ext == ".svg" {
					checkSVG(t, b)
				} else if w := checkPNG(t, b).Bounds().Dx(); w != 1520 {
					t.Errorf("%s is %d px wide, want 760 points at 144 dpi", paths[i], w)
				}
			}
		}
	}
}

func TestLongRunsAreDrawnWithFewPoints(t *testing.T) {
	r := alter(func(c *analyze.Case, i int) {
		one := analyze.Series{Name: residencySeries}
		for k := range int64(50_000) {
			one.X, one.Y = append(one.X, k), append(one.Y, k*7919%1000+int64(i)*1000)
		}
		one.Y[31_337] = 20_000
		c.Series = slices.Repeat([]analyze.Series{one}, 6)
	})
	plots, err := Plots(r, PlotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := plots[0].SVG(&b); err != nil {
		t.Fatal(err)
	}
	if plots[0].Kind != PlotResidency || b.Len() > 400_000 {
		t.Errorf("%s of six lines of 50000 points takes %d bytes", plots[0].Name, b.Len())
	}
}

func TestPlotOptionsAreChecked(t *testing.T) {
	for _, o := range []PlotOptions{{Width: 10}, {Width: math.NaN()}, {Width: -1}, {Width: 1e9}, {DPI: 5}, {DPI: 9999}} {
		if _, err := Plots(plotReport(plotCases(), "p"), o); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

func TestWritingPlotsReportsAFileInTheWay(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := WritePNGs(file, plotReport(plotCases(), "p")); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("error %v does not name %s", err, file)
	}
}

// hostileNames are labels as a file from elsewhere might have them.
func hostileNames() []string {
	long := strings.Repeat("x", 290)
	return []string{
		`</text></svg><script>window.pwned=1</script>`, `<img src=x onerror="window.pwned=1">`, `"onload="window.pwned=1" x="`, `'"&amp;]]><!--`,
		"\u202eevil\u202c\u2066gpj\u2069\u200f", "שלום عالم", "line\nbreak\x00\x1b[31m\x7f\ufffe", long + "-first", long + "-other",
		"nan", "null", "../../etc/passwd", "日本語{chunk=4KiB}", "bad\xffutf8", "{{.Script}}", "${window.pwned=1}", strings.Repeat("{k=v,", 60), "",
	}
}

func TestHostileNamesStayText(t *testing.T) {
	var cases []plotCase
	for i, n := range hostileNames() {
		cases = append(cases, plotCase{name: n, latency: 1e-5 * float64(i+1), spread: 0.4, pages: float64(10 * (i + 1)), cpu: 1e-6, wasted: 1})
	}
	plots, err := Plots(plotReport(cases, hostileNames()[0], hostileNames()[4]), PlotOptions{DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	safe := regexp.MustCompile(`^[a-z]+(-[0-9]+)?$`)
	var all []string
	for _, p := range plots {
		if !safe.MatchString(p.Name) {
			t.Errorf("plot name %q is not a plain file stem", p.Name)
		}
		var svg, raster bytes.Buffer
		if err := errors.Join(p.SVG(&svg), p.PNG(&raster)); err != nil {
			t.Fatal(err)
		}
		all = append(all, checkSVG(t, svg.Bytes())...)
		checkPNG(t, raster.Bytes())
		if strings.ContainsAny(svg.String(), "\u202e\u202c\u2066\u2069\u200f\x00\x1b\x7f") {
			t.Errorf("%s holds control or direction characters", p.Name)
		}
	}
	for _, want := range []string{"שלום عالم", "nan", "null"} {
		if !slices.Contains(all, want) {
			t.Errorf("no label reads %q", want)
		}
	}
	long := map[string]bool{}
	for _, s := range all {
		if strings.Contains(s, "xxx") {
			long[s] = true
		}
	}
	if len(long) < 2 {
		t.Errorf("names that differ at their end read alike: %q", slices.Collect(maps.Keys(long)))
	}
}
