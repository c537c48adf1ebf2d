package render

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// sparkMax is the most values a line of small bars shows; the newest are kept.
const sparkMax = 24

// Trend writes what became of each case over time, for a terminal: of each
// metric the oldest and newest value and a line of small bars between.
func Trend(w io.Writer, t *analyze.Trends, o Options) error {
	bw := bufio.NewWriter(w)
	for i := range t.Scenarios {
		s := &t.Scenarios[i]
		for k := range s.Series {
			if i+k > 0 {
				bw.WriteByte('\n')
			}
			bw.WriteString(o.trendText(s, &s.Series[k]))
		}
	}
	return bw.Flush()
}

func (o Options) trendText(s *analyze.TrendScenario, e *analyze.TrendSeries) string {
	var b strings.Builder
	line := func(tone textTone, text string) {
		b.WriteString(o.paint(tone, indented("", "  ", o.text(text), o.width())))
	}
	name := s.Name
	if e.Label != "" {
		name += " (" + e.Label + ")"
	}
	line(toneStrong, name)
	line(toneFaint, spanWords(e))
	if m := machineWords(e.Environment); m != "" {
		line(toneFaint, m)
	}
	if len(e.Runs) == 1 {
		line(tonePlain, "One run is no trend yet: zcbench report "+e.Runs[0].Path)
		return b.String()
	}
	constant := 0
	for _, m := range e.Metrics {
		var rows []trendRow
		for i := range e.Lines {
			switch l := &e.Lines[i]; {
			case l.Metric != m.Name:
			case l.Constant:
				constant++
			default:
				rows = append(rows, o.trendRow(l))
			}
		}
		if len(rows) > 0 {
			b.WriteString("\n")
			line(toneStrong, metricTitle(m)+betterWords(m))
			b.WriteString(o.trendTable(rows))
		}
	}
	if constant > 0 {
		b.WriteString("\n")
		line(toneFaint, "Exact and the same in every run: "+countOf(constant, "count")+".")
	}
	return b.String()
}

// spanWords says which runs a series holds.
func spanWords(e *analyze.TrendSeries) string {
	first, last := e.Runs[0], e.Runs[len(e.Runs)-1]
	words := countOf(len(e.Runs), "run") + ", " + runDate(first) + versionWords(first.Tool)
	if len(e.Runs) > 1 {
		words += " to " + runDate(last) + versionWords(last.Tool)
	}
	return words
}

func runDate(r analyze.TrendRun) string {
	if r.Started.IsZero() {
		return "at an unknown time"
	}
	return r.Started.UTC().Format("2006-01-02 15:04")
}

func versionWords(t record.Tool) string {
	switch {
	case t.Commit != "":
		return " (" + t.Commit + ")"
	case t.Version != "":
		return " (" + t.Version + ")"
	}
	return ""
}

func betterWords(m record.Metric) string {
	if m.Better == "" {
		return ""
	}
	return ", " + string(m.Better) + " is better"
}

// trendRow is a line as texts.
type trendRow struct{ name, first, last, change, bars string }

func (o Options) trendRow(l *analyze.TrendLine) trendRow {
	write := func(v analyze.TrendValue) string {
		if v.Exact {
			return o.text(figure.Count(v.V, l.Unit))
		}
		return o.text(figure.Format(v.V, l.Unit))
	}
	r := trendRow{name: o.text(lineName(l)), first: write(l.Values[0]), last: write(l.Values[len(l.Values)-1]), bars: o.spark(l.Values)}
	if l.Change != nil {
		r.change, _ = effectParts(l.Change, l.Unit)
		r.change = o.text(r.change)
	}
	return r
}

// lineName is the case, with its point where there are several.
func lineName(l *analyze.TrendLine) string {
	if l.PointName == "" {
		return l.Case
	}
	return l.Case + " at " + l.PointName
}

// spark draws values as small bars, from the smallest to the largest.
func (o Options) spark(vs []analyze.TrendValue) string {
	bars := []rune("▁▂▃▄▅▆▇█")
	if o.ASCII {
		bars = []rune("_.-~=+*#")
	}
	vs = vs[max(0, len(vs)-sparkMax):]
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range vs {
		lo, hi = math.Min(lo, v.V), math.Max(hi, v.V)
	}
	var b strings.Builder
	for _, v := range vs {
		k := len(bars) / 2
		if hi > lo {
			// Halves, as the largest numbers are further apart than the largest.
			if share := (v.V/2 - lo/2) / (hi/2 - lo/2); share >= 0 && share <= 1 {
				k = int(share * float64(len(bars)-1))
			}
		}
		b.WriteRune(bars[k])
	}
	return b.String()
}

// trendTable draws rows as a table, or as a list where the line is too narrow.
func (o Options) trendTable(rows []trendRow) string {
	head := []string{"case", "first", "last", "last/first", "over time"}
	widths := make([]int, len(head))
	for i, h := range head {
		widths[i] = textWidth(h)
	}
	for _, r := range rows {
		for i, c := range []string{r.name, r.first, r.last, r.change, r.bars} {
			widths[i] = max(widths[i], textWidth(c))
		}
	}
	room := o.width() - (widths[1] + widths[2] + widths[3] + widths[4] + len(head)*(cellPadding+1))
	if room < nameRoomMin {
		var b strings.Builder
		for _, r := range rows {
			b.WriteString(indented("  ", "    ", r.name, o.width()))
			b.WriteString(indented("    ", "      ", r.first+" -> "+r.last+" "+r.change, o.width()))
			b.WriteString(indented("    ", "      ", r.bars, o.width()))
		}
		return b.String()
	}
	var buf bytes.Buffer
	t := newTextTable(&buf, []tw.Align{tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignRight, tw.AlignLeft}, o.ASCII)
	t.Header(head)
	for _, r := range rows {
		name := strings.Join(wrapText(r.name, min(widths[0], room)), "\n")
		if err := t.Append([]string{name, r.first, r.last, r.change, r.bars}); err != nil {
			return "table: " + err.Error() + "\n"
		}
	}
	if err := t.Render(); err != nil {
		return "table: " + err.Error() + "\n"
	}
	return trimLines(buf.String())
}

// trendColumns name the fields of TrendCSV, in order.
var trendColumns = []string{"scenario", "series", "started", "version", "commit", "point", "case", "metric", "unit", "per", "value", "lo", "hi", "exact", "path"}

// TrendCSV writes one row for each value of each run, as CSV does.
func TrendCSV(w io.Writer, t *analyze.Trends, _ Options) error {
	cw := csv.NewWriter(w)
	rows := [][]string{trendColumns}
	for _, s := range t.Scenarios {
		for _, e := range s.Series {
			for _, l := range e.Lines {
				for _, v := range l.Values {
					rows = append(rows, trendCSVRow(s.Name, &e, &l, v))
				}
			}
		}
	}
	if err := cw.WriteAll(rows); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func trendCSVRow(scenario string, e *analyze.TrendSeries, l *analyze.TrendLine, v analyze.TrendValue) []string {
	run := e.Runs[v.Run]
	lo, hi := "", ""
	if v.HasInterval {
		lo, hi = csvNumber(v.Lo), csvNumber(v.Hi)
	}
	return []string{csvText(scenario), csvText(e.Label), run.Started.UTC().Format(time.RFC3339), csvText(run.Tool.Version), csvText(run.Tool.Commit),
		csvText(l.Point), csvText(l.Case), csvText(l.Metric), csvText(l.Unit), csvText(l.Per),
		csvNumber(v.V), lo, hi, strconv.FormatBool(v.Exact), csvText(run.Path)}
}

// TrendJSON writes all of it as one indented JSON document.
func TrendJSON(w io.Writer, t *analyze.Trends, _ Options) error {
	return encodeJSON(w, struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
		*analyze.Trends
	}{"zcbench-trend", 1, t})
}

// trendPoints lists the points of a series in the order of its lines.
func trendPoints(e *analyze.TrendSeries) []string {
	var out []string
	for i := range e.Lines {
		if !slices.Contains(out, e.Lines[i].Point) {
			out = append(out, e.Lines[i].Point)
		}
	}
	return out
}
