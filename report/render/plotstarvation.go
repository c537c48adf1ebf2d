package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// Metrics of fairness between clients.
const (
	quietP50, quietP99 = "quiet_latency_p50", "quiet_latency_p99"
	busyP50, busyP99   = "busy_latency_p50", "busy_latency_p99"
	latencySpread      = "client_latency_spread"
	starved            = "starved_receives"
	quietStarved       = "quiet_starved_receives"
)

// The kinds of clients have a look of their own.
var (
	quietMark = mark{tone: toneVermillion, shape: 1}
	busyMark  = mark{tone: toneBlue, shape: 0}
	allMark   = mark{tone: toneInk, shape: 4}
)

// starvationPicture plots what quiet clients wait beside what busy ones do, one
// panel per point, and the receives refused for want of a buffer.
func starvationPicture(s *analyze.Scenario, pts []pointView) *picture {
	f := &picture{minPanel: 420, title: "Quiet clients beside busy ones",
		subtitle: "Latency of the messages of quiet and of busy clients: a hollow marker is the median, a filled one the 99th percentile. Where one group starves the other, its markers part."}
	for _, p := range pts {
		l := fairnessPanel(p)
		if len(l.rows) == 0 {
			f.panels = append(f.panels, notePanel{p.name, "No latency of quiet and busy clients: the workload has no quiet clients, or too few messages for a percentile."})
		} else {
			f.panels = append(f.panels, l)
		}
		if m, ok := describedMetric(s, starved); ok {
			if b := starvedPanel(m, p); len(b.rows) > 0 {
				f.panels = append(f.panels, b)
			}
		}
	}
	f.notes = absences(pts, "latency of quiet and busy clients", hasFairness)
	return f
}

func hasFairness(c *analyze.Case) bool {
	return slices.ContainsFunc([]string{quietP50, quietP99, busyP50, busyP99}, func(m string) bool { return hasValue(c, m, true) })
}

// fairnessPanel plots the latencies of both kinds of clients, a row per case.
func fairnessPanel(p pointView) *rowPanel {
	l := &rowPanel{title: p.name, unit: record.UnitSeconds, hint: "latency from the intended send time, less is better",
		legend: []flowItem{{text: "quiet clients", mark: &quietMark}, {text: "busy clients", mark: &busyMark}}}
	var all []float64
	for _, c := range p.cases {
		if c.Skip != nil || !hasFairness(c.Case) {
			continue
		}
		r := valueRow{caseView: c, detail: fairnessWords(c.Case)}
		for _, kind := range []struct {
			name     string
			p50, p99 string
			mark     mark
		}{{"quiet clients", quietP50, quietP99, quietMark}, {"busy clients", busyP50, busyP99, busyMark}} {
			lane := dotLane{mark: kind.mark}
			for _, m := range []struct{ metric, word string }{{kind.p50, "median"}, {kind.p99, "p99"}} {
				if !hasValue(c.Case, m.metric, true) {
					continue
				}
				v := c.Cells[m.metric].Median
				lane.vs = append(lane.vs, v)
				lane.text = append(lane.text, fmt.Sprintf("%s: %s of %s %s", c.name, m.word, kind.name, figure.Format(v, record.UnitSeconds)))
			}
			lane.hollow = hasValue(c.Case, kind.p50, true)
			all = append(all, lane.vs...)
			r.lanes = append(r.lanes, lane)
		}
		if hasValue(c.Case, quietP99, true) && hasValue(c.Case, busyP99, true) {
			r.end = figure.Times(c.Cells[quietP99].Median / c.Cells[busyP99].Median)
		}
		l.rows = append(l.rows, r)
	}
	if len(l.rows) == 0 {
		return l
	}
	l.x = planeRange(all)
	if l.x.log {
		l.hint += " (log scale)"
	}
	l.hint += "; at the right quiet p99 over busy p99, derived"
	return l
}

// fairnessWords are the figures of a case in words.
func fairnessWords(c *analyze.Case) []flowItem {
	var out []flowItem
	for _, k := range []struct {
		mark     *mark
		p50, p99 string
	}{{&quietMark, quietP50, quietP99}, {&busyMark, busyP50, busyP99}} {
		text := ""
		for _, m := range []struct{ metric, word string }{{k.p50, "median "}, {k.p99, "p99 "}} {
			if hasValue(c, m.metric, true) {
				if text != "" {
					text += ", "
				}
				text += m.word + figure.Format(c.Cells[m.metric].Median, record.UnitSeconds)
			}
		}
		if text != "" {
			out = append(out, flowItem{text: text, mark: k.mark})
		}
	}
	if cell := c.Cells[latencySpread]; hasValue(c, latencySpread, false) {
		out = append(out, flowItem{text: figure.Name(latencySpread) + " " + valueWords(cell), swatch: toneInk})
	}
	return out
}

// starvedPanel plots the receives refused for want of a buffer: over all
// messages, and those of quiet clients over the messages these were sent. The
// two have denominators of their own, so neither is a part of the other.
func starvedPanel(m record.Metric, p pointView) *rowPanel {
	b := &rowPanel{title: metricTitle(m), unit: m.Unit, legend: []flowItem{{text: "quiet clients, over the messages sent to them", mark: &quietMark}, {text: "all clients, over all messages", mark: &allMark}}}
	b.hint = strings.TrimPrefix(p.name+"; less is better", "; ")
	ends := []float64{0}
	for _, c := range p.cases {
		r := valueRow{caseView: c}
		for _, kind := range []struct {
			metric, of, short string
			mark              mark
		}{{quietStarved, "message sent to quiet clients", "quiet ", quietMark}, {starved, "message of all clients", "all ", allMark}} {
			if !hasValue(c.Case, kind.metric, false) {
				continue
			}
			cell := c.Cells[kind.metric]
			value := valueWords(cell)
			r.lanes = append(r.lanes, dotLane{mark: kind.mark, vs: []float64{cell.Median}, text: []string{fmt.Sprintf("%s: %s receives refused per %s", c.name, value, kind.of)}})
			if r.end != "" {
				r.end += ", "
			}
			r.end += kind.short + value
			ends = append(ends, cell.Median)
		}
		if len(r.lanes) > 0 {
			b.rows = append(b.rows, r)
		}
	}
	if slices.Max(ends) == 0 {
		b.rows = nil // nobody starved, which the table says
	}
	b.x = barRange(ends)
	return b
}
