package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/zcbench/zcbench/report/analyze"
)

// clientsText is what each case of a point holds for a client: a table where it
// fits, else a line for each case. Empty where there is nothing to divide.
func clientsText(s *analyze.Scenario, p *analyze.Point, o Options) string {
	head, rows := perClientRows(s, p)
	if rows == nil {
		return ""
	}
	clients, _ := clientsOf(p)
	note := o.paint(toneStrong, indented("", "", fmt.Sprintf("Memory for each of %d clients, derived", clients), o.width()))
	if p == &s.Points[0] {
		note += o.paint(toneFaint, indented("", "", perClientNote(head), o.width()))
	}
	widths := make([]int, len(head))
	total := 0
	for k := range head {
		for _, row := range rows {
			widths[k] = max(widths[k], textWidth(o.text(row[k].text)))
		}
		title := wrapText(head[k], max(widths[k], textWidth("together")))
		head[k] = strings.Join(title, "\n")
		for _, line := range title {
			widths[k] = max(widths[k], textWidth(line))
		}
		if k > 0 {
			total += widths[k] + cellPadding + 1
		}
	}
	names := min(widths[0], o.width()-total-cellPadding)
	if names < nameRoomMin {
		return note + clientsList(head, rows, o)
	}
	var buf bytes.Buffer
	aligns := []tw.Align{tw.AlignLeft}
	for range head[1:] {
		aligns = append(aligns, tw.AlignRight)
	}
	t := newTextTable(&buf, aligns, o.ASCII)
	t.Header(head)
	for _, row := range rows {
		cells := []string{strings.Join(wrapText(o.text(row[0].text), names), "\n")}
		for _, c := range row[1:] {
			cells = append(cells, c.text)
		}
		if err := t.Append(cells); err != nil {
			return "table: " + err.Error() + "\n"
		}
	}
	if err := t.Render(); err != nil {
		return "table: " + err.Error() + "\n"
	}
	return note + trimLines(buf.String())
}

// clientsList is the same with a line of words for each case.
func clientsList(head []string, rows [][]clientFigure, o Options) string {
	var b strings.Builder
	for _, row := range rows {
		var words []string
		for k := 1; k < len(row); k++ {
			words = append(words, strings.ReplaceAll(head[k], "\n", " ")+" "+row[k].text)
		}
		b.WriteString(indented("", "  ", o.text(row[0].text), o.width()))
		b.WriteString(indented("  ", "  ", strings.Join(words, ", "), o.width()))
	}
	return b.String()
}
