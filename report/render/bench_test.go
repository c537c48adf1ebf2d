package render

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// saved writes a result as a run does.
func saved(tb testing.TB, res *record.Result) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), record.FileName)
	w, err := record.Create(path, res.Header)
	if err != nil {
		tb.Fatal(err)
	}
	for _, t := range res.Trials {
		if err := w.Trial(t); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(*res.Footer); err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkReport makes the HTML report of 10,000 trials from their file: of
// one point with many blocks, of a scenario's usual sweep, and of many points.
func BenchmarkReport(b *testing.B) {
	for _, points := range []int{1, 12, 96} {
		b.Run(fmt.Sprintf("points=%d", points), func(b *testing.B) {
			path := saved(b, fixture.Large(10_000, points))
			b.ReportAllocs()
			for b.Loop() {
				res, err := record.Read(path)
				if err != nil {
					b.Fatal(err)
				}
				rep, err := analyze.Analyze(res)
				if err != nil {
					b.Fatal(err)
				}
				if err := HTML(io.Discard, rep, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkResidency draws the residency of twelve strategies with 10,000
// samples each as PNG and SVG.
func BenchmarkResidency(b *testing.B) {
	r := longSeries(10_000)
	plots, err := Plots(r, PlotOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := plots[0].PNG(io.Discard); err != nil {
			b.Fatal(err)
		}
		if err := plots[0].SVG(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

// longSeries is a report of twelve cases whose residency has n samples.
func longSeries(n int) *analyze.Report {
	var cases []plotCase
	for i := range 12 {
		c := plotCases()[i%6]
		c.name, c.pages, c.noSeries = fmt.Sprintf("strategy-%d", i), float64(100*(i+1)), false
		cases = append(cases, c)
	}
	r := plotReport(cases, "p")
	for i := range r.Scenarios[0].Points[0].Cases {
		c := &r.Scenarios[0].Points[0].Cases[i]
		for k := range c.Series {
			s := &c.Series[k]
			s.X, s.Y = nil, nil
			for x := range int64(n) {
				s.X, s.Y = append(s.X, x), append(s.Y, int64(cases[i].pages)+x*7919%97)
			}
		}
	}
	return r
}
