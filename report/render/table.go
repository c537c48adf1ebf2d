package render

import (
	"bufio"
	"io"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
)

// Table writes the report for a terminal: for each scenario a table with one
// row per case and the effect against the baseline in every cell, then the
// headline, claims, warnings and skips. Where fewer than two metrics fit a
// line, each case is a list instead. Several scenarios end with one table of
// the claims and verdicts of all.
func Table(w io.Writer, r *analyze.Report, o Options) error {
	bw := bufio.NewWriter(w)
	for i := range r.Scenarios {
		if i > 0 {
			bw.WriteString("\n" + strings.Repeat(o.rule(), min(o.width(), 72)) + "\n\n")
		}
		bw.WriteString(scenarioText(&r.Scenarios[i], o))
	}
	if text := verdictsText(r, o); text != "" && len(r.Scenarios) > 1 {
		bw.WriteString("\n" + strings.Repeat(o.rule(), min(o.width(), 72)) + "\n\n" + text)
	}
	return bw.Flush()
}

func (o Options) rule() string {
	if o.ASCII {
		return "="
	}
	return "═"
}

// scenarioText is everything said of one scenario.
func scenarioText(s *analyze.Scenario, o Options) string {
	var b strings.Builder
	b.WriteString(titleText(s, o))
	for i := range s.Points {
		b.WriteString("\n")
		b.WriteString(pointText(s, &s.Points[i], o))
	}
	for _, section := range []string{
		tableNotes(s, o), headlineText(s, o), claimsText(s, o), warningsText(s, o), skipsText(s, o), probeText(s, o),
	} {
		if section != "" {
			b.WriteString("\n" + section)
		}
	}
	return b.String()
}

// pointText is the table of one point, or the list when the line is narrow.
func pointText(s *analyze.Scenario, p *analyze.Point, o Options) string {
	var b strings.Builder
	if len(s.Points) > 1 {
		b.WriteString(o.paint(toneStrong, indented("At ", "   ", o.text(p.Name), o.width())))
	}
	if len(p.Cases) == 0 {
		return b.String() + "no cases\n"
	}
	g := newGrid(s, p, o)
	if tables := g.tables(); tables != nil {
		for i, t := range tables {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(t)
		}
	} else {
		b.WriteString(g.stacked())
	}
	if text := clientsText(s, p, o); text != "" {
		b.WriteString("\n" + text)
	}
	return b.String()
}
