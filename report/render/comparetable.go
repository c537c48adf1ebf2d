package render

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/zcbench/zcbench/report/analyze"
)

// CompareTable writes a comparison for a terminal: the verdict first, then of
// each scenario what changed, the gravest first. Where a table does not fit
// the line, each change is a list instead.
func CompareTable(w io.Writer, c *analyze.Comparison, g analyze.Gate, o Options) error {
	bw := bufio.NewWriter(w)
	ok, verdict := compareVerdict(c, g)
	tone := toneGood
	if !ok {
		tone = toneBad
	}
	bw.WriteString(o.paint(tone, indented("", "  ", o.text(verdict), o.width())))
	for i := range c.Scenarios {
		bw.WriteString("\n" + o.compareText(&c.Scenarios[i], g))
	}
	return bw.Flush()
}

func (o Options) compareText(s *analyze.ScenarioDiff, g analyze.Gate) string {
	var b strings.Builder
	line := func(tone textTone, first, rest, text string) {
		if text != "" {
			b.WriteString(o.paint(tone, indented(first, rest, o.text(text), o.width())))
		}
	}
	line(toneStrong, "", "  ", s.Name+": "+countWords(s.Count))
	for _, side := range sideNames(s) {
		line(toneFaint, "", "  ", side)
	}
	for _, n := range s.Notes {
		line(toneWarn, "", "  ", levelWords[n.Level]+": "+n.Text)
	}
	if ds := shownDeltas(s); len(ds) > 0 {
		b.WriteString("\n")
		if t, fits := o.deltaTable(ds); fits {
			b.WriteString(t)
		} else {
			b.WriteString(o.deltaList(ds))
		}
		for _, r := range reasonWords(ds) {
			line(tonePlain, "", "  ", r)
		}
	}
	for _, d := range s.Claims {
		tone := toneWarn
		if g.FailsClaim(d) {
			tone = toneBad
		}
		line(tone, "", "  ", "claim "+d.ID+": "+claimChange(d)+": "+d.Text)
	}
	line(toneFaint, "", "  ", howWords(s))
	return b.String()
}

// outcomeTones colour outcomes.
var outcomeTones = map[analyze.Outcome]textTone{analyze.Regressed: toneBad, analyze.Vanished: toneBad, analyze.Improved: toneGood,
	analyze.Inconclusive: toneFaint, analyze.Changed: toneWarn}

// deltaRow is a change as texts, ready to lay out.
type deltaRow struct {
	tone                               textTone
	outcome, name, metric, base, after string
	effect, interval                   string
}

func (o Options) deltaRow(d *analyze.Delta) deltaRow {
	base, next := deltaSides(d)
	effect, interval := deltaEffect(d), ""
	if i := strings.IndexByte(effect, ' '); i >= 0 && strings.HasSuffix(effect, ")") {
		if k := strings.Index(effect, " ("); k >= 0 {
			effect, interval = effect[:k], effect[k+1:]
		}
	}
	return deltaRow{outcomeTones[d.Outcome], string(d.Outcome), o.text(d.ID), o.text(deltaMetric(d)),
		o.text(base), o.text(next), o.text(effect), o.text(interval)}
}

const deltaNameMin = 20

// deltaTable draws the changes as a table; false when it does not fit the line.
func (o Options) deltaTable(ds []*analyze.Delta) (string, bool) {
	var rows []deltaRow
	head := []string{"outcome", "case and metric", "BASE", "NEW", "NEW/BASE"}
	widths := []int{textWidth(head[0]), 0, textWidth(head[2]), textWidth(head[3]), textWidth(head[4])}
	for _, d := range ds {
		r := o.deltaRow(d)
		rows = append(rows, r)
		for i, lines := range [][]string{{r.outcome}, {r.name, r.metric}, {r.base}, {r.after}, {r.effect, r.interval}} {
			for _, l := range lines {
				widths[i] = max(widths[i], textWidth(l))
			}
		}
	}
	others := widths[0] + widths[2] + widths[3] + widths[4] + 5*(cellPadding+1)
	room := o.width() - others
	if room < deltaNameMin {
		return "", false
	}
	widths[1] = min(widths[1], room)
	var buf bytes.Buffer
	t := newTextTable(&buf, []tw.Align{tw.AlignLeft, tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignRight}, o.ASCII)
	t.Header(head)
	for _, r := range rows {
		names := append(wrapText(r.name, widths[1]), wrapText(r.metric, widths[1])...)
		effect := r.effect
		if r.interval != "" {
			effect += "\n" + r.interval
		}
		cells := []string{o.paint(r.tone, r.outcome), strings.Join(names, "\n"), r.base, r.after, o.paint(r.tone, effect)}
		if err := t.Append(cells); err != nil {
			return "table: " + err.Error() + "\n", true
		}
	}
	if err := t.Render(); err != nil {
		return "table: " + err.Error() + "\n", true
	}
	return trimLines(buf.String()), true
}

// deltaList writes each change as lines, for narrow terminals.
func (o Options) deltaList(ds []*analyze.Delta) string {
	var b strings.Builder
	for _, d := range ds {
		r := o.deltaRow(d)
		b.WriteString(o.paint(r.tone, indented("", "  ", r.outcome+" "+r.name, o.width())))
		figures := r.metric + ": " + r.base + " -> " + r.after
		if d.Metric == "" {
			figures = r.metric
		}
		b.WriteString(indented("  ", "    ", figures, o.width()))
		if r.effect != "" {
			b.WriteString(indented("    ", "    ", strings.TrimSpace(r.effect+" "+r.interval), o.width()))
		}
	}
	return b.String()
}

// reasonWords says why outcomes are what they are; what shares a reason is
// named together.
func reasonWords(ds []*analyze.Delta) []string {
	type group struct {
		outcome analyze.Outcome
		reason  string
	}
	var order []group
	titles := map[group][]string{}
	for _, d := range ds {
		if d.Reason == "" {
			continue
		}
		k := group{d.Outcome, d.Reason}
		if titles[k] == nil {
			order = append(order, k)
		}
		titles[k] = append(titles[k], d.Title())
	}
	var out []string
	for _, k := range order {
		of := titles[k]
		names := strings.Join(of, ", ")
		if len(of) > 2 {
			names = fmt.Sprintf("%s and %d more", of[0], len(of)-1)
		}
		out = append(out, fmt.Sprintf("%s, %s: %s", k.outcome, names, k.reason))
	}
	return out
}
