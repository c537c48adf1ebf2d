package render

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// PlotTrend is the kind of a plot over time.
const PlotTrend = "trend"

// TrendPlots draws each metric of each scenario over time, a panel for every
// series and point, a line for every case. A metric that is exact and the same
// in every run of every case has none.
func TrendPlots(t *analyze.Trends, o PlotOptions) []Plot {
	if o.Width == 0 {
		o.Width = 760
	}
	if o.DPI == 0 {
		o.DPI = 144
	}
	var out []Plot
	for i := range t.Scenarios {
		s := &t.Scenarios[i]
		n := 0
		for _, m := range trendMetrics(s) {
			pic := trendPicture(s, m)
			if pic == nil {
				continue
			}
			n++
			p := Plot{Name: fmt.Sprintf("trend-scenario%d-%d", i+1, n), Kind: PlotTrend, Scenario: i, Title: pic.title, Caption: pic.subtitle, pic: pic, opt: o}
			if p.Alt = p.Title; s.Title != "" {
				p.Alt += ": " + cleanText(s.Title)
			}
			out = append(out, p)
		}
	}
	return out
}

// trendMetrics are the columns of any series, each once.
func trendMetrics(s *analyze.TrendScenario) []record.Metric {
	var out []record.Metric
	seen := map[string]bool{}
	for i := range s.Series {
		for _, m := range s.Series[i].Metrics {
			if !seen[m.Name] {
				seen[m.Name] = true
				out = append(out, m)
			}
		}
	}
	return out
}

// trendPicture plots a metric; nil when it never changed.
func trendPicture(s *analyze.TrendScenario, m record.Metric) *picture {
	f := &picture{minPanel: 300, title: capital(metricTitle(m)) + " over time",
		subtitle: cleanText(s.Name) + betterWords(m) + ". Medians of runs; the lines between join what was measured alike."}
	marks := map[string]mark{}
	moved := false
	left := 0
	for k := range s.Series {
		e := &s.Series[k]
		for _, point := range trendPoints(e) {
			l, changed := trendPanel(e, point, m, marks)
			moved = moved || changed
			switch {
			case l == nil:
			case len(f.panels) == maxPanels:
				left++
			default:
				f.panels = append(f.panels, l)
			}
		}
	}
	if !moved {
		return nil
	}
	if left > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%s more are in the table and the CSV only.", countOf(left, "panel")))
	}
	return f
}

// capital begins a title with a capital, unless its first word is a symbol as p99 is.
func capital(s string) string {
	if len(s) > 1 && s[1] >= '0' && s[1] <= '9' {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// trendPanel plots a metric of the cases of one point; changed says whether any
// of them ever varied.
func trendPanel(e *analyze.TrendSeries, point string, m record.Metric, marks map[string]mark) (l *linePanel, changed bool) {
	l = &linePanel{yText: metricTitle(m), xText: "time of the run (UTC)", yUnit: m.Unit}
	var title []string
	xs, ys := []float64{}, []float64{}
	for i := range e.Lines {
		line := &e.Lines[i]
		if line.Metric != m.Name || line.Point != point {
			continue
		}
		if title = nil; e.Label != "" {
			title = append(title, cleanText(e.Label))
		}
		if line.PointName != "" {
			title = append(title, cleanText(line.PointName))
		}
		cv := trendCurve(e, line, trendMark(marks, line))
		for _, p := range cv.pts {
			xs, ys = append(xs, p.x), append(ys, p.y)
		}
		if len(cv.pts) > 0 {
			l.curves, l.names = append(l.curves, cv), append(l.names, cv.name)
			changed = changed || !line.Constant
		}
	}
	if len(l.curves) == 0 {
		return nil, false
	}
	l.title = strings.Join(title, "; ")
	l.x, _ = valueRange(false, xs...)
	l.x = l.x.padded(0.04)
	l.xTicks = dateTicks(xs)
	l.y, _ = valueRange(false, ys...)
	l.y = l.y.fromZero()
	l.y.hi *= 1.04
	return l, changed
}

func trendMark(marks map[string]mark, l *analyze.TrendLine) mark {
	m, ok := marks[l.Case]
	if !ok {
		others := len(marks)
		for _, x := range marks {
			if x.tone == toneBase {
				others--
			}
		}
		m = markOf(others, l.Baseline)
		marks[l.Case] = m
	}
	return m
}

func trendCurve(e *analyze.TrendSeries, l *analyze.TrendLine, m mark) curve {
	cv := curve{name: cleanText(l.Case), mark: m}
	if l.Baseline {
		cv.name += baselineSuffix
	}
	for _, v := range l.Values {
		if !plottable(v.V, false) {
			continue
		}
		run := e.Runs[v.Run]
		p := xy{float64(run.Started.Unix()), v.V}
		text := fmt.Sprintf("%s: %s, %s%s", cv.name, figure.Format(v.V, l.Unit), runDate(run), cleanText(versionWords(run.Tool)))
		if v.HasInterval {
			text += " (" + figure.Range(v.Lo, v.Hi, l.Unit) + ")"
		}
		cv.pts, cv.spots = append(cv.pts, p), append(cv.spots, spot{p, text, true})
	}
	return cv
}

// dateTicks labels about five of the times at hand.
func dateTicks(xs []float64) []plot.Tick {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, x := range xs {
		lo, hi = math.Min(lo, x), math.Max(hi, x)
	}
	format := "2006-01-02"
	if hi-lo < 3*24*3600 {
		format = "01-02 15:04"
	}
	const n = 4
	var out []plot.Tick
	for i := range n + 1 {
		if i > 0 && hi == lo {
			break
		}
		x := lo + (hi-lo)*float64(i)/n
		out = append(out, plot.Tick{Value: x, Label: time.Unix(int64(x), 0).UTC().Format(format)})
	}
	return out
}

// WriteTrendPNGs writes the plots into dir, made if missing, and returns the paths.
func WriteTrendPNGs(dir string, t *analyze.Trends) ([]string, error) {
	return writeTrendPlots(dir, ".png", t)
}

// WriteTrendSVGs does the same as SVG.
func WriteTrendSVGs(dir string, t *analyze.Trends) ([]string, error) {
	return writeTrendPlots(dir, ".svg", t)
}

func writeTrendPlots(dir, ext string, t *analyze.Trends) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for plots: %w", err)
	}
	var paths []string
	for _, p := range TrendPlots(t, PlotOptions{}) {
		path := filepath.Join(dir, p.Name+ext)
		f, err := os.Create(path)
		if err != nil {
			return paths, fmt.Errorf("write plot: %w", err)
		}
		write := p.PNG
		if ext == ".svg" {
			write = p.SVG
		}
		err = write(f)
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			return paths, fmt.Errorf("write plot %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
