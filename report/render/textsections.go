package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// machineKeys are the facts of the environment worth a line beside a table.
var machineKeys = []string{"cpu_model", "kernel", "arch", analyze.ClassKey, "placement"}

// machineWords names the machine in one line; empty if nothing is known.
func machineWords(e record.Environment) string {
	var parts []string
	for _, k := range machineKeys {
		if v, ok := e.Get(k); ok && v != "" && v != "n/a" {
			if !strings.HasPrefix(k, "cpu") && k != "placement" {
				v = k + " " + v
			}
			parts = append(parts, v)
		}
	}
	return strings.Join(parts, ", ")
}

// runWords says what was run, when, and how much of it counts.
func runWords(s *analyze.Scenario) string {
	when := "at an unknown time"
	if !s.Started.IsZero() {
		when = s.Started.UTC().Format(time.DateTime) + " UTC"
	}
	c := s.Counts
	words := fmt.Sprintf("%s, %s, %s, seed %d; %d of %d trials used: %d timing, %d counting, %d verify",
		s.Info.Name, when, countOf(s.Info.Blocks, "block"), s.Seed, c.Used, max(c.Planned, c.Used), c.Timing, c.Counting, c.Verify)
	if own := c.Used - c.Timing - c.Counting - c.Verify; own > 0 {
		words += fmt.Sprintf(", %d of the harness itself", own)
	}
	if out := c.Failed + c.Invalid + c.Skipped; out > 0 {
		words += fmt.Sprintf("; left out: %d failed, %d invalid, %d skipped", c.Failed, c.Invalid, c.Skipped)
	}
	return words
}

func titleText(s *analyze.Scenario, o Options) string {
	var b strings.Builder
	title := s.Info.Title
	if title == "" {
		title = s.Info.Name
	}
	if title != "" {
		b.WriteString(o.paint(toneStrong, indented("", "", o.text(title), o.width())))
	}
	if s.Info.Question != "" {
		b.WriteString(indented("", "", o.text(s.Info.Question), o.width()))
	}
	b.WriteString(o.paint(toneFaint, indented("", "  ", o.text(runWords(s)), o.width())))
	if m := machineWords(s.Environment); m != "" {
		b.WriteString(o.paint(toneFaint, indented("", "  ", o.text(m), o.width())))
	}
	return b.String()
}

// ReadingNote says how to read a cell; it stands below every table.
const ReadingNote = "Each cell: the median over trials; under it the effect against the baseline, paired by block, with its exact interval. " +
	"A percentile is the median of the trials' own percentiles. Effects without an interval are exact counts, or too few pairs."

func tableNotes(s *analyze.Scenario, o Options) string {
	var b strings.Builder
	b.WriteString(o.paint(toneFaint, indented("", "", o.text(ReadingNote), o.width())))
	for _, n := range missingWords(s) {
		b.WriteString(o.paint(toneFaint, indented("n/a: ", "     ", o.text(n), o.width())))
	}
	if s.Steady.Summary != "" && len(s.Steady.Drifts) == 0 {
		b.WriteString(o.paint(toneFaint, indented("", "", o.text(sentence(s.Steady.Summary)), o.width())))
	}
	return b.String()
}

// missingWords says why cells have no value: the metrics and cases that share
// a reason are named together.
func missingWords(s *analyze.Scenario) []string {
	type gap struct{ why, of string }
	var order []gap
	metrics := map[gap][]string{}
	for _, name := range s.Columns {
		where := map[string][]string{}
		var reasons []string
		measured := 0
		for i := range s.Points {
			for k := range s.Points[i].Cases {
				c := &s.Points[i].Cases[k]
				if c.Skip != nil {
					continue // the skips have a section of their own
				}
				measured++
				why := c.Cells[name].Unavailable
				if why == "" {
					continue
				}
				if where[why] == nil {
					reasons = append(reasons, why)
				}
				where[why] = append(where[why], c.Info.ID)
			}
		}
		for _, why := range reasons {
			g := gap{why, someOf(where[why], measured)}
			if metrics[g] == nil {
				order = append(order, g)
			}
			metrics[g] = append(metrics[g], figure.Name(name))
		}
	}
	var out []string
	for _, g := range order {
		out = append(out, fmt.Sprintf("%s of %s: %s", strings.Join(metrics[g], ", "), g.of, g.why))
	}
	return out
}

// someOf names up to four cases, or says that it is all of them.
func someOf(ids []string, all int) string {
	const most = 4
	switch {
	case len(ids) == all:
		return "all cases"
	case len(ids) > most:
		return fmt.Sprintf("%s and %d more", strings.Join(ids[:most], ", "), len(ids)-most)
	}
	return strings.Join(ids, ", ")
}

func headlineText(s *analyze.Scenario, o Options) string {
	if s.Headline == "" {
		return ""
	}
	return o.paint(toneStrong, indented("", "", o.text(s.Headline), o.width()))
}

var verdictTones = map[analyze.VerdictStatus]textTone{analyze.Supported: toneGood, analyze.Refuted: toneBad}

func claimsText(s *analyze.Scenario, o Options) string {
	if len(s.Claims) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(o.paint(toneStrong, "Claims\n"))
	for _, v := range s.Claims {
		status := "[" + string(v.Status) + "]"
		if v.Claim.Gate {
			status = "[" + string(v.Status) + ", gate]"
		}
		b.WriteString(o.paint(verdictTones[v.Status], indented("  ", "  ", o.text(status+" "+v.Claim.ID+": "+v.Claim.Text), o.width())))
		b.WriteString(indented("    ", "    ", o.text(claimReason(v)), o.width()))
	}
	return b.String()
}

// claimReason is why a verdict was reached, with where it came from.
func claimReason(v analyze.Verdict) string {
	why := v.Reason
	if v.Class != "" {
		why += "; measurable on: " + v.Class
	}
	if v.Claim.Source != "" {
		why += " (claimed by " + v.Claim.Source + ")"
	}
	return why
}

var levelWords = map[analyze.Level]string{analyze.LevelError: "ERROR", analyze.LevelWarn: "warning", analyze.LevelInfo: "note"}

func warningsText(s *analyze.Scenario, o Options) string {
	if len(s.Warnings) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(o.paint(toneStrong, "Warnings\n"))
	for _, w := range s.Warnings {
		tone := toneWarn
		if w.Level == analyze.LevelError {
			tone = toneBad
		}
		b.WriteString(o.paint(tone, indented("  ", "    ", o.text(levelWords[w.Level]+": "+w.Text), o.width())))
	}
	return b.String()
}

func skipsText(s *analyze.Scenario, o Options) string {
	skips := allSkips(s)
	if len(skips) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(o.paint(toneStrong, "Skipped\n"))
	for _, k := range skips {
		b.WriteString(indented("  ", "    ", o.text(k.Case+": "+k.Reason), o.width()))
		if k.Remedy != "" {
			b.WriteString(indented("    remedy: ", "      ", o.text(k.Remedy), o.width()))
		}
	}
	return b.String()
}

// allSkips are the run's skips and those cases reported of themselves.
func allSkips(s *analyze.Scenario) []record.Skip {
	out := slices.Clone(s.Skips)
	for i := range s.Points {
		for k := range s.Points[i].Cases {
			if sk := s.Points[i].Cases[k].Skip; sk != nil && !slices.Contains(out, *sk) {
				out = append(out, *sk)
			}
		}
	}
	return out
}
