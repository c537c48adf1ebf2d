package render

import (
	"bytes"
	"fmt"
	"io"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// SelfCheckJSON writes a self check as one JSON object.
func SelfCheckJSON(w io.Writer, s *analyze.SelfCheck) error {
	return encodeJSON(w, s)
}

// SelfCheckTable writes a self check for a terminal.
func SelfCheckTable(w io.Writer, s *analyze.SelfCheck, o Options) error {
	var buf bytes.Buffer
	say := func(format string, args ...any) {
		buf.WriteString(indented("", "  ", o.text(fmt.Sprintf(format, args...)), o.width()))
	}
	say("%s compared with itself: %d pairs of separate runs, noise floor from %d more", s.Scenario, s.Pairs, s.Sessions)
	buf.WriteString("\n")
	t := newTextTable(&buf, []tw.Align{tw.AlignLeft, tw.AlignRight, tw.AlignRight, tw.AlignRight}, o.ASCII)
	t.Header([]string{"metric", "false alarms", "noise floor", "can see"})
	exact := 0
	for _, m := range s.Metrics {
		if m.Exact && m.Alarms == 0 {
			exact++
			continue
		}
		floor, sees := "exact", "any"
		if !m.Exact {
			floor, sees = selfAmount(m, m.Floor), selfAmount(m, m.Detects)
		}
		if err := t.Append([]string{o.text(m.Name), fmt.Sprintf("%d of %d", m.Alarms, m.Pairs), o.text(floor), o.text(sees)}); err != nil {
			return err
		}
	}
	if err := t.Render(); err != nil {
		return err
	}
	buf.WriteString("\n")
	if exact > 0 {
		say("Exact counts that were equal in every pair, and are not listed: %d.", exact)
	}
	say("A false alarm is a pair in which any case was called different. The noise floor is the largest shift between two runs of the worst case. What can be seen is the effect of which about four in five are called, of that case.")
	if p := s.Planted; p != nil {
		say("Planted: %d ns of CPU time a message, %s of %s of %s; found in %d of %d runs.", p.PlantNS, percent(p.Share), p.Metric, p.Case, p.Found, p.Runs)
	}
	_, err := w.Write(buf.Bytes())
	return err
}

func selfAmount(m analyze.SelfMetric, v float64) string {
	if m.Share {
		return percent(v)
	}
	return figure.Format(v, m.Unit)
}

func percent(share float64) string { return figure.Digits(100*share, 2) + "%" }
