package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// CompareVersion is the version of the document CompareJSON writes.
const CompareVersion = 1

// compareDocument is a comparison as a program reads it.
type compareDocument struct {
	Format  string                  `json:"format"` // zcbench-compare
	Version int                     `json:"version"`
	Failed  bool                    `json:"failed"` // the gate
	FailOn  analyze.Gate            `json:"fail_on"`
	Counts  map[analyze.Outcome]int `json:"counts"`
	*analyze.Comparison
}

// CompareJSON writes the whole comparison as one indented JSON document, values
// in base units.
func CompareJSON(w io.Writer, c *analyze.Comparison, g analyze.Gate, _ Options) error {
	doc := compareDocument{Format: "zcbench-compare", Version: CompareVersion, Failed: len(g.Failures(c)) > 0, FailOn: g,
		Counts: map[analyze.Outcome]int{}, Comparison: c}
	if doc.FailOn == nil {
		doc.FailOn = analyze.Gate{}
	}
	for _, o := range analyze.Outcomes() {
		doc.Counts[o] = c.Count(o)
	}
	return encodeJSON(w, doc)
}

// countWords says how many metrics had which outcome: "1 regressed, 40
// unchanged"; empty when there are none.
func countWords(count func(analyze.Outcome) int) string {
	var parts []string
	for _, o := range analyze.Outcomes() {
		if n := count(o); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	return strings.Join(parts, ", ")
}

// compareVerdict is the one line that matters.
func compareVerdict(c *analyze.Comparison, g analyze.Gate) (ok bool, text string) {
	words := countWords(c.Count)
	if words == "" {
		words = "nothing to compare"
	}
	if n := len(c.Flipped()); n > 0 {
		words += ", " + countOf(n, "claim") + " flipped"
	}
	if len(g.Failures(c)) > 0 {
		return false, "FAILED: " + words
	}
	return true, "passed: " + words
}

// shownDeltas are all but the unchanged, the gravest first, else in their order.
func shownDeltas(s *analyze.ScenarioDiff) []*analyze.Delta {
	var out []*analyze.Delta
	for _, o := range analyze.Outcomes() {
		if o != analyze.Unchanged {
			out = append(out, deltasOf(s, o)...)
		}
	}
	return out
}

func deltasOf(s *analyze.ScenarioDiff, o analyze.Outcome) []*analyze.Delta {
	var out []*analyze.Delta
	for i := range s.Diffs {
		if s.Diffs[i].Outcome == o {
			out = append(out, &s.Diffs[i])
		}
	}
	return out
}

// deltaMetric is the metric of a delta in plain words.
func deltaMetric(d *analyze.Delta) string {
	if d.Metric == "" {
		return "(all metrics)"
	}
	return figure.Name(d.Metric) + figure.Per(d.Per)
}

// sideWords is a value, "-" if there is none.
func sideWords(v *analyze.DiffValue, unit string) string {
	switch {
	case v == nil:
		return "-"
	case v.Exact:
		return figure.Count(v.Median, unit)
	}
	return figure.Format(v.Median, unit)
}

// deltaSides are both values, written apart when they differ: counts that
// differ in a late digit are given in full.
func deltaSides(d *analyze.Delta) (base, next string) {
	base, next = sideWords(d.Base, d.Unit), sideWords(d.New, d.Unit)
	if base == next && d.Exact && d.Outcome != analyze.Unchanged {
		base, next = ratioWords(d.Base), ratioWords(d.New)
	}
	return base, next
}

func ratioWords(v *analyze.DiffValue) string { return fmt.Sprintf("%d/%d", v.Num, v.Den) }

// deltaEffect is the effect and its interval: "1.08x (1.05–1.11)".
func deltaEffect(d *analyze.Delta) string {
	if d.Effect == nil {
		return ""
	}
	e, interval := effectParts(d.Effect, d.Unit)
	if d.Effect.Exact && !d.Effect.Differs() {
		return "same"
	}
	if d.Effect.Exact || !d.Effect.HasInterval {
		return e
	}
	return e + " (" + interval + ")"
}

// sideNames says what was compared with what.
func sideNames(s *analyze.ScenarioDiff) []string {
	if s.Paired {
		return []string{fmt.Sprintf("%s: build %s against build %s, paired by block", s.Base.Path, s.New.Build, s.Base.Build)}
	}
	var out []string
	for i, r := range []*analyze.RunInfo{s.Base, s.New} {
		if r == nil {
			continue
		}
		words := [2]string{"BASE: ", "NEW: "}[i] + r.Path
		if v := r.Tool.Version; v != "" {
			words += ", zcbench " + v
			if r.Tool.Commit != "" {
				words += " (" + r.Tool.Commit + ")"
			}
		}
		if !r.Started.IsZero() {
			words += ", " + r.Started.UTC().Format("2006-01-02 15:04:05") + " UTC"
		}
		out = append(out, words)
	}
	return out
}

// howWords says how sampled metrics were judged.
func howWords(s *analyze.ScenarioDiff) string {
	switch {
	case s.Family == 0:
		return ""
	case s.Paired:
		return fmt.Sprintf("%s tested, exact signed-rank by block, Holm's correction over all", countOf(s.Family, "sampled metric"))
	}
	return fmt.Sprintf("%s tested, exact Mann-Whitney, Holm's correction over all; noise floor from %d sessions", countOf(s.Family, "sampled metric"), s.Sessions)
}

// claimChange says how a verdict changed.
func claimChange(d analyze.ClaimDiff) string {
	words := string(d.Base) + " -> " + string(d.New)
	if d.Flipped {
		words = "FLIPPED: " + words
	}
	return words
}
