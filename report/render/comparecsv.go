package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/zcbench/zcbench/report/analyze"
)

// compareColumns name the fields of CompareCSV, in order.
var compareColumns = []string{
	"scenario", "point", "case", "metric", "unit", "per", "better", "outcome", "exact",
	"base", "base_n", "base_num", "base_den", "new", "new_n", "new_num", "new_den",
	"effect_stat", "effect", "effect_lo", "effect_hi", "effect_level", "p", "p_adjusted", "limit", "floor", "reason",
}

// CompareCSV writes one row per case and metric, as CSV does: base units, no
// locale, nothing that is not finite, no formulas.
func CompareCSV(w io.Writer, c *analyze.Comparison, _ analyze.Gate, _ Options) error {
	cw := csv.NewWriter(w)
	if err := cw.Write(compareColumns); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	for i := range c.Scenarios {
		s := &c.Scenarios[i]
		for k := range s.Diffs {
			if err := cw.Write(compareCSVRow(s, &s.Diffs[k])); err != nil {
				return fmt.Errorf("write CSV: %w", err)
			}
		}
	}
	cw.Flush()
	if err := cw.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

func compareCSVRow(s *analyze.ScenarioDiff, d *analyze.Delta) []string {
	row := []string{csvText(s.Name), csvText(d.Point), csvText(d.Case), csvText(d.Metric), csvText(d.Unit), csvText(d.Per),
		csvText(string(d.Better)), string(d.Outcome), strconv.FormatBool(d.Exact)}
	row = append(row, csvSide(d.Base)...)
	row = append(row, csvSide(d.New)...)
	row = append(row, csvEffect(d.Effect)[:6]...)
	p, adjusted := "", ""
	if e := d.Effect; e != nil && !e.Exact {
		p = csvNumber(e.P)
		if d.PAdjusted > 0 {
			adjusted = csvNumber(d.PAdjusted)
		}
	}
	row[len(row)-1] = p
	return append(row, adjusted, csvPositive(d.Limit), csvPositive(d.Floor), csvText(d.Reason))
}

func csvPositive(v float64) string {
	if v <= 0 {
		return ""
	}
	return csvNumber(v)
}

func csvSide(v *analyze.DiffValue) []string {
	if v == nil {
		return []string{"", "0", "", ""}
	}
	out := []string{csvNumber(v.Median), strconv.Itoa(v.N)}
	if v.Exact {
		return append(out, strconv.FormatInt(v.Num, 10), strconv.FormatInt(v.Den, 10))
	}
	return append(out, "", "")
}
