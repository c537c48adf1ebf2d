package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
)

// csvColumns name the fields of CSV, in order.
var csvColumns = []string{
	"scenario", "point", "case", "build", "baseline", "metric", "unit", "per", "better", "exact", "n",
	"value", "lo", "hi", "level", "num", "den",
	"effect_stat", "effect", "effect_lo", "effect_hi", "effect_level", "effect_p", "effect_pairs", "marks", "unavailable",
}

// CSV writes one row per case and metric, values in base units with the unit
// beside them. Numbers take no notice of the locale, missing ones are empty,
// and none is NaN or infinite. Text a spreadsheet would read as a formula is
// preceded by an apostrophe. The options do not matter.
func CSV(w io.Writer, r *analyze.Report, _ Options) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(csvColumns); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for i := range r.Scenarios {
		s := &r.Scenarios[i]
		for k := range s.Points {
			for c := range s.Points[k].Cases {
				for _, row := range csvRows(s, &s.Points[k], &s.Points[k].Cases[c]) {
					if err := cw.Write(row); err != nil {
						return fmt.Errorf("write CSV: %w", err)
					}
				}
			}
		}
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func csvRows(s *analyze.Scenario, p *analyze.Point, c *analyze.Case) [][]string {
	var rows [][]string
	for _, m := range s.Metrics {
		cell := c.Cells[m.Name]
		row := []string{
			csvText(s.Info.Name), csvText(p.Info.ID), csvText(c.Info.Label), csvText(c.Info.Build), strconv.FormatBool(c.Info.Baseline),
			csvText(m.Name), csvText(m.Unit), csvText(m.Per), csvText(string(m.Better)),
		}
		row = append(row, csvValue(&cell)...)
		row = append(row, csvEffect(cell.Effect)...)
		marks := strings.Join(append(append([]string(nil), cell.Marks...), c.Marks...), "; ")
		rows = append(rows, append(row, csvText(marks), csvText(cell.Unavailable)))
	}
	return rows
}

// csvValue fills the columns exact to den.
func csvValue(c *analyze.Cell) []string {
	if c.Unavailable != "" || c.Metric == "" {
		return []string{"", "0", "", "", "", "", "", ""}
	}
	out := []string{strconv.FormatBool(c.Exact), strconv.Itoa(c.N), csvNumber(c.Median)}
	if c.HasInterval {
		out = append(out, csvNumber(c.Lo), csvNumber(c.Hi), csvNumber(c.Level))
	} else {
		out = append(out, "", "", "")
	}
	if c.Exact {
		return append(out, strconv.FormatInt(c.Num, 10), strconv.FormatInt(c.Den, 10))
	}
	return append(out, "", "")
}

// csvEffect fills the columns effect_stat to effect_pairs.
func csvEffect(e *analyze.Effect) []string {
	if e == nil {
		return []string{"", "", "", "", "", "", ""}
	}
	out := []string{e.Stat, csvNumber(e.Estimate)}
	if e.HasInterval {
		out = append(out, csvNumber(e.Lo), csvNumber(e.Hi), csvNumber(e.Level))
	} else {
		out = append(out, "", "", "")
	}
	if e.Exact { // arithmetic, no test
		return append(out, "", "")
	}
	return append(out, csvNumber(e.P), strconv.Itoa(e.N))
}

func csvNumber(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// csvText is text on one line that no spreadsheet takes for a formula.
func csvText(s string) string {
	s = Sanitize(s)
	// Some read the full-width forms of these as formulas too.
	if t := strings.TrimLeft(s, " "); t != "" && strings.IndexAny(t, "=+-@＝＋－＠") == 0 {
		return "'" + s
	}
	return s
}
