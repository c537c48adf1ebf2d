package render

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

func TestTextEndsWithAllVerdicts(t *testing.T) {
	r := combined(t)
	for name, o := range map[string]Options{"verdicts-80.txt": {Width: 80}, "verdicts-40-ascii.txt": {Width: 40, ASCII: true}, "verdicts-200.txt": {Width: 200}} {
		text := textOf(t, "table", r, o)
		at := strings.LastIndex(text, "Claims and verdicts of")
		if at < 0 {
			t.Fatalf("%s: no table of verdicts", name)
		}
		for l := range strings.SplitSeq(text[at:], "\n") {
			if textWidth(l) > o.Width {
				t.Errorf("%s: a line of %d columns: %q", name, textWidth(l), l)
			}
		}
		golden(t, name, text[at:])
	}
	if text := textOf(t, "table", reportOf(t, fixture.Result()), Options{}); strings.Contains(text, "Claims and verdicts") {
		t.Error("one result repeats its claims at the end")
	}
}

func TestMarkdownBeginsWithAllVerdicts(t *testing.T) {
	text := textOf(t, "markdown", combined(t), Options{})
	head, _, _ := strings.Cut(text, "\n---\n")
	if !strings.HasPrefix(head, "## Claims and verdicts") || !strings.Contains(head, "| uring-fixed-vs-inc, hardware | A NIC hides the copy |") {
		t.Errorf("markdown begins with\n%s", head)
	}
}

func TestVerdictCountsAddUp(t *testing.T) {
	v := func(s analyze.VerdictStatus) verdictLine { return verdictLine{verdict: &analyze.Verdict{Status: s}} }
	got := verdictCounts([]verdictLine{v(analyze.Refuted), v(analyze.Supported), v(analyze.Refuted), v(analyze.NotMeasurable)})
	if got != "1 supported, 2 refuted, 1 not measurable here" {
		t.Errorf("counts %q", got)
	}
}

func TestClientsAreListedOnlyWhereThereAreSeveral(t *testing.T) {
	one := reportOf(t, fixture.New(fixture.Spec{Points: []string{"clients=1"}}))
	if text := textOf(t, "table", one, Options{Width: 100}); strings.Contains(text, "Memory for each") {
		t.Error("one client gets a table of its own")
	}
	two := reportOf(t, fixture.New(fixture.Spec{Points: []string{"clients=2"}}))
	text := textOf(t, "table", two, Options{Width: 100})
	if !strings.Contains(text, "Memory for each of 2 clients, derived") || !strings.Contains(text, "divided by the number of clients") {
		t.Errorf("the derived figures do not say so:\n%s", text)
	}
	p := &two.Scenarios[0].Points[0]
	if strings.Contains(text, "kernel objects") {
		t.Error("kernel objects are listed though no trial counted them")
	}
	p.Cases[0].Cells[objectsMetric] = analyze.Cell{Metric: objectsMetric, Unit: "B", Median: 5 << 10}
	if text := strings.Join(strings.Fields(textOf(t, "table", two, Options{Width: 100})), " "); !strings.Contains(text, "objects") || !strings.Contains(text, "5 KiB") || !strings.Contains(text, "Nor are kernel objects") {
		t.Errorf("kernel objects are not listed:\n%s", text)
	}
	// Without a metric of memory among the columns nobody asked.
	two.Scenarios[0].Columns = []string{"latency_p50"}
	if text := textOf(t, "table", two, Options{Width: 100}); strings.Contains(text, "Memory for each") {
		t.Error("a scenario about latency lists memory")
	}
}
