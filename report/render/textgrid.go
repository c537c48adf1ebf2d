package render

import (
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// grid is the table of a point before it is laid out: its cells as lines.
type grid struct {
	o     Options
	heads []string // titles of the metrics
	names [][]textLine
	marks [][]textLine // of the cases; shown with the first table only
	rows  [][]gridCell // one for each case: a cell for each metric
}

// gridCell is a value, its effect and the marks on it.
type gridCell struct {
	value, effect, interval textLine
	marks                   []textLine
}

// textLine is a line of one tone.
type textLine struct {
	text string
	tone textTone
}

func newGrid(s *analyze.Scenario, p *analyze.Point, o Options) *grid {
	g := &grid{o: o}
	for _, name := range s.Columns {
		g.heads = append(g.heads, o.text(metricTitle(metricOf(s, name))))
	}
	for i := range p.Cases {
		c := &p.Cases[i]
		names, marks := caseLines(c, o)
		g.names, g.marks = append(g.names, names), append(g.marks, marks)
		var row []gridCell
		for _, name := range s.Columns {
			if c.Skip != nil {
				row = append(row, gridCell{value: textLine{"skipped", toneFaint}})
				continue
			}
			row = append(row, newGridCell(c.Cells[name], metricOf(s, name), o))
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// caseLines are the name of a case, and what befell its trials.
func caseLines(c *analyze.Case, o Options) (names, marks []textLine) {
	names = []textLine{{o.text(c.Name), tonePlain}}
	if c.Info.Baseline {
		names[0].tone = toneStrong
		names = append(names, textLine{"(baseline)", toneStrong})
	}
	for _, m := range c.Marks {
		marks = append(marks, textLine{o.text(m), toneWarn})
	}
	return names, marks
}

func newGridCell(c analyze.Cell, m record.Metric, o Options) gridCell {
	if c.Unavailable != "" || c.Metric == "" {
		return gridCell{value: textLine{"n/a", toneFaint}}
	}
	g := gridCell{value: textLine{o.text(valueWords(c)), tonePlain}}
	if c.Effect != nil {
		effect, interval := effectWords(c.Effect, c.Unit)
		tone := effectTone(c.Effect, m)
		g.effect, g.interval = textLine{o.text(effect), tone}, textLine{o.text(interval), tone}
	}
	for _, mark := range c.Marks {
		g.marks = append(g.marks, textLine{o.text(mark), toneWarn})
	}
	if slices.Contains(c.Marks, analyze.MarkGuestSyscall) {
		g.value.tone, g.effect.tone, g.interval.tone = toneFaint, toneFaint, toneFaint
	}
	return g
}

// valueWords is the value of a cell; exact counts keep a digit more.
func valueWords(c analyze.Cell) string {
	if c.Exact {
		return figure.Count(c.Median, c.Unit)
	}
	return figure.Format(c.Median, c.Unit)
}

// effectWords is an effect and how sure it is, apart: "0.98x", "(0.97–0.99)".
func effectWords(e *analyze.Effect, unit string) (effect, interval string) {
	effect, interval = effectParts(e, unit)
	switch {
	case e.Exact && !e.Differs():
		return "same", ""
	case e.Exact:
		return effect, ""
	case !e.HasInterval:
		return effect, "(" + countOf(e.N, "pair") + ")"
	}
	return effect, "(" + interval + ")"
}

// effectTone is green or red for an effect told apart from none on a metric
// that has a better direction.
func effectTone(e *analyze.Effect, m record.Metric) textTone {
	if !e.Differs() || m.Better == "" {
		return tonePlain
	}
	if (e.Estimate < e.Null()) == (m.Better == record.Lower) {
		return toneGood
	}
	return toneBad
}

// lines of the cell; the effect shares a line with its interval unless split.
func (c gridCell) lines(split bool) []textLine {
	lines := []textLine{c.value}
	switch {
	case c.effect.text == "":
	case c.interval.text == "":
		lines = append(lines, c.effect)
	case split:
		lines = append(lines, c.effect, c.interval)
	default:
		lines = append(lines, textLine{c.effect.text + " " + c.interval.text, c.effect.tone})
	}
	return append(lines, c.marks...)
}

func widestLine(lines []textLine) int {
	w := 0
	for _, l := range lines {
		w = max(w, textWidth(l.text))
	}
	return w
}

// joined paints the lines and puts them under each other.
func (o Options) joined(lines []textLine) string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = o.paint(l.tone, l.text)
	}
	return strings.Join(out, "\n")
}

// stacked lists each case with a metric a line, for narrow terminals.
func (g *grid) stacked() string {
	var b strings.Builder
	width := g.o.width()
	for i, row := range g.rows {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, l := range slices.Concat(g.names[i], g.marks[i]) {
			b.WriteString(g.o.paint(l.tone, indented("", "  ", l.text, width)))
		}
		for k, c := range row {
			b.WriteString(indented("  ", "    ", g.heads[k]+": "+c.value.text, width))
			if c.effect.text != "" {
				b.WriteString(g.o.paint(c.effect.tone, indented("    ", "    ", strings.TrimSpace(c.effect.text+" "+c.interval.text), width)))
			}
			for _, m := range c.marks {
				b.WriteString(g.o.paint(m.tone, indented("    ", "    ", m.text, width)))
			}
		}
	}
	return b.String()
}
