package render

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// effectsPicture plots every case's effect against the baseline at one point,
// one panel per metric of the table.
func effectsPicture(s *analyze.Scenario, p pointView) *picture {
	f := &picture{minPanel: 300, title: "Effects against the baseline" + p.where()}
	base := p.baseline()
	if base == nil || len(p.cases) < 2 {
		f.panels = []panel{notePanel{"", "No effects: there is no baseline with another case beside it."}}
		return f
	}
	f.subtitle = "Each value over that of " + strings.TrimSuffix(base.name, baselineSuffix) + ", paired by block; bars are exact intervals. A filled marker differs from the baseline, a hollow one is not told apart from it."
	for _, name := range s.Columns {
		m := metricOf(s, name)
		e := effectPanel(m, p)
		if e == nil {
			f.notes = append(f.notes, fmt.Sprintf("%s: %s.", metricTitle(m), whyNoEffect(name, p)))
			continue
		}
		f.panels = append(f.panels, e)
	}
	if len(f.panels) == 0 {
		f.panels = []panel{notePanel{"", "No effects: no metric of the table has a value for the baseline and another case."}}
	}
	for i := range p.cases {
		if c := &p.cases[i]; c.Skip != nil {
			f.notes = append(f.notes, fmt.Sprintf("Not measured: %s, %s", c.name, cleanText(c.Skip.Reason)))
		}
	}
	return f
}

func metricOf(s *analyze.Scenario, name string) record.Metric {
	for _, m := range s.Metrics {
		if m.Name == name {
			return m
		}
	}
	return record.Metric{Name: name}
}

// metricTitle is a metric in words with its denominator, safe to show.
func metricTitle(m record.Metric) string {
	name, per := figure.Name(m.Name), figure.Per(m.Per)
	return cleanText(strings.TrimSuffix(name, per) + per)
}

// whyNoEffect finds the reason why no case has an effect on the metric.
func whyNoEffect(metric string, p pointView) string {
	for i := range p.cases {
		if r := p.cases[i].Cells[metric].Unavailable; r != "" && p.cases[i].Skip == nil {
			return "unavailable, " + cleanText(r)
		}
	}
	return "no paired values"
}

// effectRow is one case in an effect panel.
type effectRow struct {
	caseView
	effect *analyze.Effect // nil: text says why
	onAxis bool            // the effect has the panel's stat and can be drawn
	text   string          // the estimate, or why there is none
	hover  string
}

// forestPanel plots the effects on one metric, a row per case.
type forestPanel struct {
	title string
	hint  string
	stat  string
	unit  string
	x     axisRange
	rows  []effectRow
}

// effectPanel builds the panel of a metric, nil when no case has an effect.
func effectPanel(m record.Metric, p pointView) *forestPanel {
	e := &forestPanel{title: metricTitle(m), stat: panelStat(m.Name, p), unit: m.Unit}
	if e.stat == "" {
		return nil
	}
	switch m.Better {
	case record.Lower:
		e.hint = "less is better"
	case record.Higher:
		e.hint = "more is better"
	}
	vals := []float64{0}
	if e.stat == analyze.Ratio {
		vals[0] = 1
	}
	for i := range p.cases {
		c := p.cases[i]
		if c.Info.Baseline || c.Skip != nil {
			continue
		}
		r := newEffectRow(c, c.Cells[m.Name], e.stat)
		if r.effect != nil && r.effect.Zero && !r.onAxis {
			r.text = figure.Format(c.Cells[m.Name].Median, m.Unit) + " against " + figure.Format(p.baseline().Cells[m.Name].Median, m.Unit)
			r.hover = c.name + ": " + r.text
		}
		if r.onAxis {
			vals = append(vals, r.effect.Estimate)
			if e.hasBar(r.effect) {
				vals = append(vals, r.effect.Lo, r.effect.Hi)
			}
		}
		e.rows = append(e.rows, r)
	}
	e.x, _ = valueRange(e.stat == analyze.Ratio, vals...)
	e.x = e.x.padded(0.06)
	return e
}

// hasBar reports whether the interval of an effect can be drawn.
func (f *forestPanel) hasBar(e *analyze.Effect) bool {
	log := f.stat == analyze.Ratio
	return e.HasInterval && plottable(e.Lo, log) && plottable(e.Hi, log)
}

// panelStat is Ratio if any case has a ratio, Diff if there are only
// differences, empty if there is no effect at all.
func panelStat(metric string, p pointView) string {
	stat := ""
	for i := range p.cases {
		switch e := p.cases[i].Cells[metric].Effect; {
		case e == nil || p.cases[i].Skip != nil:
		case drawable(e, analyze.Ratio):
			return analyze.Ratio
		case drawable(e, analyze.Diff):
			stat = analyze.Diff
		}
	}
	return stat
}

// drawable reports whether an effect has a place on an axis of the stat.
func drawable(e *analyze.Effect, stat string) bool {
	return e.Stat == stat && plottable(e.Estimate, stat == analyze.Ratio)
}

func newEffectRow(c caseView, cell analyze.Cell, stat string) effectRow {
	r := effectRow{caseView: c, effect: cell.Effect}
	e := cell.Effect
	if e == nil {
		r.text = "no value"
		if cell.Unavailable != "" {
			r.text = "unavailable: " + cleanText(cell.Unavailable)
		}
		r.hover = c.name + ": " + r.text
		return r
	}
	r.onAxis = drawable(e, stat)
	r.text, _ = effectParts(e, cell.Unit)
	r.hover = fmt.Sprintf("%s: %s%s", c.name, r.text, intervalText(e, cell.Unit))
	return r
}

// effectParts writes the estimate of an effect and its interval, empty if it
// has none.
func effectParts(e *analyze.Effect, unit string) (value, interval string) {
	return figure.Effect(e.Stat == analyze.Ratio, e.Estimate, e.Lo, e.Hi, e.HasInterval, unit)
}

// intervalText writes how sure an effect is, with the blank before it.
func intervalText(e *analyze.Effect, unit string) string {
	switch {
	case e.Exact:
		return " (exact counts)"
	case !e.HasInterval:
		return fmt.Sprintf(" (%d pairs, too few for an interval)", e.N)
	}
	_, interval := effectParts(e, unit)
	return fmt.Sprintf(" (%s, %s%%, %d pairs)", interval, figure.Digits(e.Level*100, 3), e.N)
}
