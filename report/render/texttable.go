package render

import (
	"bytes"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

const (
	cellPadding  = 2 // a blank on either side
	headRoom     = 12
	nameRoomMin  = 14
	nameShare    = 5 // of a crowded line a name may take one fifth
	tableMetrics = 2 // the fewest metrics beside each other worth a table
)

// layout is how a grid becomes tables.
type layout struct {
	split     bool // effect and interval on lines of their own
	nameWidth int
	widths    []int   // of the metrics
	tables    [][]int // metrics of each table
}

// tables lays the grid out, or returns nil when the line is too narrow for
// tables. Metrics that do not fit one table go into more, each with the names.
func (g *grid) tables() []string {
	l, ok := g.layout(false)
	if !ok || len(l.tables) > 1 {
		l, ok = g.layout(true)
	}
	if !ok {
		return nil
	}
	var out []string
	for i := range l.tables {
		out = append(out, g.table(l, i))
	}
	return out
}

// layout finds the columns' widths and how many tables they need.
func (g *grid) layout(split bool) (layout, bool) {
	l := layout{split: split}
	width := g.o.width()
	for i := range g.names {
		l.nameWidth = max(l.nameWidth, widestLine(g.names[i]), widestLine(g.marks[i]))
	}
	for k := range g.heads {
		w := 0
		for _, row := range g.rows {
			w = max(w, widestLine(row[k].lines(split)))
		}
		for _, h := range wrapText(g.heads[k], max(w, headRoom)) {
			w = max(w, textWidth(h))
		}
		l.widths = append(l.widths, w)
	}
	if !l.deal(width, len(g.heads)) || len(l.tables) > 1 {
		// Long names make room for figures before a second table is begun.
		l.nameWidth = max(textWidth("(baseline)"), min(l.nameWidth, max(width/nameShare, nameRoomMin)))
		if !l.deal(width, len(g.heads)) {
			return l, false
		}
	}
	// As few tables as it takes, but of about equal size.
	n := len(l.tables)
	even := l
	if n > 1 && even.deal(width, (len(g.heads)+n-1)/n) && len(even.tables) == n {
		l = even
	}
	return l, len(l.tables[0]) >= min(tableMetrics, len(g.heads))
}

// deal spreads the metrics over tables of at most most metrics that fit width;
// false when a single one does not fit.
func (l *layout) deal(width, most int) bool {
	l.tables = nil
	used := 0
	for k, w := range l.widths {
		w += cellPadding + 1
		if n := len(l.tables); n == 0 || used+w > width || len(l.tables[n-1]) == most {
			l.tables = append(l.tables, nil)
			used = l.nameWidth + cellPadding
		}
		n := len(l.tables) - 1
		l.tables[n] = append(l.tables[n], k)
		if used += w; used > width {
			return false
		}
	}
	return len(l.tables) > 0
}

// table draws table n of the layout.
func (g *grid) table(l layout, n int) string {
	metrics := l.tables[n]
	head := []string{"case"}
	aligns := []tw.Align{tw.AlignLeft}
	for _, k := range metrics {
		head = append(head, strings.Join(wrapText(g.heads[k], max(l.widths[k], headRoom)), "\n"))
		aligns = append(aligns, tw.AlignRight)
	}
	var buf bytes.Buffer
	t := newTextTable(&buf, aligns, g.o.ASCII)
	t.Header(head)
	for i, row := range g.rows {
		var name []textLine
		said := g.names[i]
		if n == 0 {
			said = slices.Concat(said, g.marks[i])
		}
		for _, s := range said {
			for _, line := range wrapText(s.text, l.nameWidth) {
				name = append(name, textLine{line, s.tone})
			}
		}
		cells := []string{g.o.joined(name)}
		for _, k := range metrics {
			cells = append(cells, g.o.joined(row[k].lines(l.split)))
		}
		if err := t.Append(cells); err != nil {
			return "table: " + err.Error() + "\n"
		}
	}
	if err := t.Render(); err != nil {
		return "table: " + err.Error() + "\n"
	}
	return trimLines(buf.String())
}

// newTextTable is a table of lines between rows and columns and none around.
// The library would upper-case headers, wrap by itself and ask the locale.
func newTextTable(buf *bytes.Buffer, aligns []tw.Align, ascii bool) *tablewriter.Table {
	style := tw.StyleLight
	if ascii {
		style = tw.StyleASCII
	}
	return tablewriter.NewTable(buf,
		tablewriter.WithRenderer(renderer.NewBlueprint()),
		tablewriter.WithRendition(tw.Rendition{
			Symbols:  tw.NewSymbols(style),
			Borders:  tw.Border{Left: tw.Off, Right: tw.Off, Top: tw.Off, Bottom: tw.Off},
			Settings: tw.Settings{Separators: tw.Separators{BetweenRows: tw.On, BetweenColumns: tw.On}},
		}),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithRowAlignmentConfig(tw.CellAlignment{PerColumn: aligns}),
		tablewriter.WithEastAsian(tw.Off), tablewriter.WithTrimSpace(tw.Off),
	)
}

// trimLines drops blanks at line ends.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
