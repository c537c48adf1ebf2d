package render

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// wasteMetrics are what a message costs in bytes and receives, a panel each.
var wasteMetrics = []string{"wasted_bytes", "copied_bytes", "receives"}

// wastePoints is how many points share a picture of three panels each.
const wastePoints = maxPanels / 3

// wastePicture plots the bytes wasted and copied and the receives a message takes.
func wastePicture(s *analyze.Scenario, pts []pointView) *picture {
	f := &picture{minPanel: 300, title: "Bytes wasted, bytes copied and receives per message",
		subtitle: "Wasted are bytes of used-up buffers that never held a message; copied are those the application moved to make messages contiguous. A whisker is the exact interval of the median; counts that were the same in every trial have none."}
	for _, p := range pts {
		found := false
		for _, name := range wasteMetrics {
			m, ok := describedMetric(s, name)
			if !ok {
				continue
			}
			b := barPanel(m, p)
			if len(b.rows) == 0 {
				continue
			}
			found = true
			f.panels = append(f.panels, b)
		}
		if !found {
			f.panels = append(f.panels, notePanel{p.name, "No plot of waste: no case has a value for wasted bytes, copied bytes or receives."})
		}
	}
	f.notes = absences(pts, "count of wasted or copied bytes or of receives", func(c *analyze.Case) bool {
		for _, name := range wasteMetrics {
			if hasValue(c, name, false) {
				return true
			}
		}
		return false
	})
	return f
}

// describedMetric finds the descriptor of a metric the scenario has cells for.
func describedMetric(s *analyze.Scenario, name string) (record.Metric, bool) {
	for _, m := range s.Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return record.Metric{}, false
}

// hasValue reports whether a case has a value of a metric that can be drawn.
func hasValue(c *analyze.Case, metric string, log bool) bool {
	cell, ok := c.Cells[metric]
	return ok && c.Skip == nil && cell.Unavailable == "" && plottable(cell.Median, log)
}

// barPanel plots one metric as a bar per case.
func barPanel(m record.Metric, p pointView) *rowPanel {
	b := &rowPanel{title: metricTitle(m), unit: m.Unit}
	var hint []string
	if p.name != "" {
		hint = append(hint, p.name)
	}
	if d := direction(m); d != "" {
		hint = append(hint, d)
	}
	b.hint = strings.Join(hint, "; ")
	var ends []float64
	for _, c := range p.cases {
		cell := c.Cells[m.Name]
		if !hasValue(c.Case, m.Name, false) {
			continue
		}
		value := valueWords(cell)
		r := valueRow{caseView: c, end: value, bars: []barPart{{c.mark.tone, cell.Median, fmt.Sprintf("%s: %s%s", c.name, value, figure.Per(m.Per))}}}
		if cell.HasInterval && plottable(cell.Lo, false) && plottable(cell.Hi, false) && cell.Hi > cell.Lo {
			r.whisker = &[2]float64{cell.Lo, cell.Hi}
			ends = append(ends, cell.Lo, cell.Hi)
			r.bars[0].hover += " (" + figure.Range(cell.Lo, cell.Hi, m.Unit) + ")"
		}
		b.rows = append(b.rows, r)
		ends = append(ends, cell.Median)
	}
	b.x = barRange(ends)
	return b
}
