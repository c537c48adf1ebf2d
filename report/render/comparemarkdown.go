package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
)

// maxSummaryRows bounds the rows of one table: a CI job summary may take a
// megabyte, and nobody reads a thousand rows.
const maxSummaryRows = 200

// CompareMarkdown writes a comparison in GitHub's dialect, fit for the summary
// of a CI job: the verdict first, then what changed, the gravest first, and
// what did not folded away.
func CompareMarkdown(w io.Writer, c *analyze.Comparison, g analyze.Gate, o Options) error {
	bw := bufio.NewWriter(w)
	ok, verdict := compareVerdict(c, g)
	sign := "✅"
	if !ok {
		sign = "❌"
	}
	if o.ASCII {
		sign = map[bool]string{true: "[ok]", false: "[x]"}[ok]
	}
	fmt.Fprintf(bw, "**%s zcbench compare %s**\n", sign, o.md(verdict))
	for i := range c.Scenarios {
		bw.WriteString("\n" + o.compareSection(&c.Scenarios[i]))
	}
	return bw.Flush()
}

func (o Options) compareSection(s *analyze.ScenarioDiff) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n%s\n", o.md(s.Name), o.md(countWords(s.Count)))
	if shown := shownDeltas(s); len(shown) > 0 {
		b.WriteString("\n" + o.deltaRows(shown))
	}
	if len(s.Claims) > 0 {
		b.WriteString("\n| claim | verdict | why |\n| --- | --- | --- |\n")
		for _, d := range s.Claims {
			fmt.Fprintf(&b, "| %s: %s | %s | %s |\n", o.md(d.ID), o.md(d.Text), o.md(claimChange(d)), o.md(d.Reason))
		}
	}
	for _, n := range s.Notes {
		fmt.Fprintf(&b, "\n- **%s:** %s\n", levelWords[n.Level], o.md(n.Text))
	}
	if same := deltasOf(s, analyze.Unchanged); len(same) > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%s unchanged</summary>\n\n%s\n</details>\n", countOf(len(same), "metric"), o.deltaRows(same))
	}
	var small []string
	for _, line := range append(sideNames(s), howWords(s)) {
		if line != "" {
			small = append(small, o.md(line))
		}
	}
	return b.String() + "\n<sub>" + strings.Join(small, "<br>") + "</sub>\n"
}

func (o Options) deltaRows(ds []*analyze.Delta) string {
	var b strings.Builder
	b.WriteString("| outcome | case | metric | BASE | NEW | NEW/BASE | why |\n| --- | --- | --- | ---: | ---: | ---: | --- |\n")
	for i, d := range ds {
		if i == maxSummaryRows {
			fmt.Fprintf(&b, "\n%d more are in the other formats only.\n", len(ds)-i)
			break
		}
		outcome := string(d.Outcome)
		if d.Outcome == analyze.Regressed || d.Outcome == analyze.Vanished {
			outcome = "**" + outcome + "**"
		}
		base, next := deltaSides(d)
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s |\n", outcome, o.md(d.ID), o.md(deltaMetric(d)),
			o.md(base), o.md(next), o.md(deltaEffect(d)), o.md(d.Reason))
	}
	return b.String()
}
