package render

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

//go:embed trendpage.tmpl
var trendTemplate string

var parsedTrend = template.Must(template.New("trend").Funcs(template.FuncMap{"breakable": breakable}).Parse(trendTemplate))

// trendPage is what the template shows.
type trendPage struct {
	CSP       string
	CSS       template.CSS
	Script    template.HTML
	Title     string
	Scenarios []trendScenarioView
}

type trendScenarioView struct {
	ID, Name, Title, Note string
	Figures               []figureView
	Series                []trendSeriesView
}

type trendSeriesView struct {
	Name, Span, Machine string
	Rows                []trendRowView
}

type trendRowView struct {
	Case, Metric, First, Last, Change string
	FirstSort, LastSort, ChangeSort   string
	Runs                              int
}

// TrendHTML writes results over time as one self-contained page, as HTML does a
// report.
func TrendHTML(w io.Writer, t *analyze.Trends, _ Options) error {
	frame := newPage(&analyze.Report{}) // the style and script of a report
	p := trendPage{CSP: frame.CSP, CSS: frame.CSS, Script: frame.Script, Title: "zcbench: results over time"}
	for i := range t.Scenarios {
		s := &t.Scenarios[i]
		v := trendScenarioView{ID: fmt.Sprintf("t%d", i+1), Name: Sanitize(s.Name), Title: Sanitize(s.Title)}
		if v.Title == "" {
			v.Title = v.Name
		}
		for k := range s.Series {
			v.Series = append(v.Series, newTrendSeriesView(&s.Series[k]))
		}
		p.Scenarios = append(p.Scenarios, v)
	}
	room := maxPageBytes
	if text, err := p.render(); err == nil {
		room -= text.Len() + 1024*len(p.Scenarios)
	}
	for _, plot := range TrendPlots(t, PlotOptions{Width: wideSVG}) {
		f := figureView{Title: plot.Title, Caption: plot.Caption}
		if err := drawInto(&f.Wide, plot, wideSVG, &room); err != nil {
			return err
		}
		v := &p.Scenarios[plot.Scenario]
		if f.Wide == "" {
			v.Note = "Some plots are left out to keep this page small; --png DIR writes them all."
			continue
		}
		if err := drawInto(&f.Narrow, plot, narrowSVG, &room); err != nil {
			return err
		}
		v.Figures = append(v.Figures, f)
	}
	page, err := p.render()
	if err != nil {
		return err
	}
	if _, err := page.WriteTo(w); err != nil {
		return fmt.Errorf("write HTML page: %w", err)
	}
	return nil
}

func (p *trendPage) render() (*bytes.Buffer, error) {
	var b bytes.Buffer
	if err := parsedTrend.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("render HTML page: %w", err)
	}
	return &b, nil
}

func newTrendSeriesView(e *analyze.TrendSeries) trendSeriesView {
	v := trendSeriesView{Name: "All cases", Span: Sanitize(spanWords(e)), Machine: Sanitize(machineWords(e.Environment))}
	if e.Label != "" {
		v.Name = Sanitize(e.Label)
	}
	for i := range e.Lines {
		l := &e.Lines[i]
		r := Options{}.trendRow(l)
		row := trendRowView{Case: r.name, Metric: figure.Name(l.Metric) + figure.Per(l.Per), First: r.first, Last: r.last, Change: r.change, Runs: len(l.Values),
			FirstSort: csvNumber(l.Values[0].V), LastSort: csvNumber(l.Values[len(l.Values)-1].V)}
		row.Metric = Sanitize(row.Metric)
		if l.Change != nil {
			row.ChangeSort = csvNumber(l.Change.Estimate)
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
