package render

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// onHardware is the usual result as another machine might give it.
func onHardware() *record.Result {
	res := fixture.New(fixture.Spec{Seed: 9})
	for i := range res.Header.Environment {
		if res.Header.Environment[i].Key == analyze.ClassKey {
			res.Header.Environment[i].Value = "hardware"
		}
	}
	return res
}

// combined is a report of several scenarios, one of them measured twice.
func combined(t *testing.T) *analyze.Report {
	return reportOf(t, fixture.Result(), fixture.Shared(), onHardware())
}

func TestCombinedPageOpensWithAllVerdicts(t *testing.T) {
	r := combined(t)
	page := htmlOf(t, r)
	open, rest, ok := strings.Cut(page, "<article")
	if !ok || !strings.Contains(rest, "Resident buffer pages") {
		t.Fatal("the page has no sections")
	}
	verdicts := 0
	for i := range r.Scenarios {
		for _, v := range r.Scenarios[i].Claims {
			if !strings.Contains(open, v.Claim.Text) {
				t.Errorf("the opening lacks claim %s", v.Claim.ID)
			}
			verdicts++
		}
	}
	if n := strings.Count(open, `<div class="one">`); n != verdicts {
		t.Errorf("%d verdicts in the opening, want %d", n, verdicts)
	}
	total := 0
	for _, m := range regexp.MustCompile(`<b>(\d+)</b>`).FindAllStringSubmatch(open, -1) {
		n := 0
		fmt.Sscan(m[1], &n)
		total += n
	}
	if total != verdicts {
		t.Errorf("the counts add up to %d, want %d", total, verdicts)
	}
	ids := map[string]bool{}
	for _, e := range elements(t, page) {
		if id := e.attrs["id"]; id != "" {
			if ids[id] {
				t.Errorf("id %s is there twice", id)
			}
			ids[id] = true
		}
	}
	for _, e := range elements(t, page) {
		if to, ok := strings.CutPrefix(e.attrs["href"], "#"); ok && !ids[to] {
			t.Errorf("a link leads to #%s, which is not there", to)
		}
	}
}

func TestOneResultHasNoSummary(t *testing.T) {
	if page := htmlOf(t, reportOf(t, fixture.Result())); strings.Contains(page, "Claims and verdicts") {
		t.Error("the page of one result repeats its claims")
	}
}

func TestClassesStandSideBySide(t *testing.T) {
	r := combined(t)
	page := htmlOf(t, r)
	_, beside, _ := strings.Cut(page, `class="beside"`)
	beside, _, _ = strings.Cut(beside, "<article")
	for _, want := range []string{">soft</a>", ">hardware</a>", ">soft</button>", ">hardware</button>"} {
		if !strings.Contains(beside, want) {
			t.Errorf("side by side lacks %s", want)
		}
	}
	if n := strings.Count(beside, `class="wide"`); n != 2 {
		t.Errorf("%d plots side by side, want 2", n)
	}
	table := newSideTable(r, []int{0, 2})
	s := &r.Scenarios[0]
	if want := len(s.Columns) * len(s.Points[0].Cases); len(table.Rows) != want {
		t.Fatalf("%d rows, want %d", len(table.Rows), want)
	}
	for _, row := range table.Rows {
		if row.Case == "slot" && row.Metric == "resident buffer pages" {
			soft, hard := r.Scenarios[0].Points[0].Case("slot").Cells["buffer_pages_mean"], r.Scenarios[2].Points[0].Case("slot").Cells["buffer_pages_mean"]
			if row.Cells[0].Value != newCell(map[string]analyze.Cell{"x": soft}, "x").Value || row.Cells[1].Sort != fmt.Sprint(hard.Median) {
				t.Errorf("row %+v does not hold %v and %v", row, soft.Median, hard.Median)
			}
			return
		}
	}
	t.Error("no row of slot's pages")
}

func TestSideTableSaysWhatOneResultLacks(t *testing.T) {
	few := onHardware()
	few.Header.Scenario.Cases = few.Header.Scenario.Cases[:3]
	r := reportOf(t, few, fixture.Result())
	table := newSideTable(r, []int{0, 1})
	for _, row := range table.Rows {
		if row.Case == "epoll-read" && row.Cells[0].Value == "n/a" && row.Cells[0].Why != "" && row.Cells[1].Value != "n/a" {
			return
		}
	}
	t.Error("a case of the second result only is not shown")
}

func TestSidesAreToldApart(t *testing.T) {
	r := reportOf(t, fixture.Result(), onHardware(), fixture.Result(), fixture.Result())
	r.Scenarios[2].Started = r.Scenarios[2].Started.Add(time.Hour)
	got := map[string]bool{}
	for i := range r.Scenarios {
		name := sideName(r, []int{0, 1, 2, 3}, i)
		if got[name] {
			t.Errorf("two results are called %q", name)
		}
		got[name] = true
	}
	if !got["hardware"] || !got["soft, 2026-11-30 08:00"] || !got["soft, result 3"] {
		t.Errorf("names %v", got)
	}
}

func TestProbeFindingsAreShown(t *testing.T) {
	r := reportOf(t, fixture.Result())
	r.Scenarios[0].Probe = &record.Probe{Schema: 1, Kernel: "6.18.0", Time: time.Unix(1.7e9, 0), Findings: []record.Finding{
		{Sort: record.FaultFound, Family: "uring", Name: "length-overrun", Verdict: record.Present, Evidence: "4097 of 4096 bytes", Source: "issue 1433", Affects: []string{"ring-inc without min_left"}},
		{Sort: record.LimitFound, Family: "uring", Name: "entry-length", Verdict: record.LimitIs, Value: 2147483647, Unit: "B"},
		{Sort: record.FeatureFound, Family: "rdma", Name: "odp", Verdict: record.Unsupported, Reason: "<b>no device</b>"},
		{Sort: record.CopyPointFound, Family: "rdma", Name: "inline", Verdict: record.ReadAtCall, Steps: []record.Step{{Name: "after the post", Changed: 100, Arrived: 3}}},
	}}
	all := ""
	for _, e := range elements(t, htmlOf(t, r)) {
		if e.name == "main" {
			all = e.text
		}
	}
	for _, want := range []string{"uring length-overrun", "present", "4097 of 4096 bytes", "issue 1433", "makes wrong: ring-inc without min_left",
		"2147483647 B (2 GiB)", "<b>no device</b>", "read at the call", "changed after the post: 3 of 100 arrived", "Known kernel faults (1)"} {
		if !strings.Contains(all, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestPlotsWithoutDataAreSaidNotDrawn(t *testing.T) {
	r := alter(func(c *analyze.Case, _ int) { c.Series = nil })
	page := htmlOf(t, r)
	if strings.Contains(page, "<strong>Resident buffer pages over the run</strong>") || !strings.Contains(page, "No residency over time") {
		t.Error("a plot without data is drawn, or its absence not said")
	}
	r.Scenarios[0].Info.Headline.Plot = PlotResidency
	if page := htmlOf(t, r); !strings.Contains(page, "<strong>Resident buffer pages over the run</strong>") {
		t.Error("the plot the scenario asks for is missing")
	}
}

func TestEveryScenarioGetsItsLeadPlotFirst(t *testing.T) {
	r := combined(t)
	var b strings.Builder
	if err := writePage(&b, r, 400_000); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 400_000 {
		t.Errorf("%d bytes", b.Len())
	}
	page := b.String()
	if !strings.Contains(page, "left out to keep this page small") {
		t.Fatal("nothing is left out: the limit is too wide for this test")
	}
	if n := strings.Count(page, "<strong>Resident buffer pages over the run</strong>"); n < len(r.Scenarios) {
		t.Errorf("%d lead plots for %d results", n, len(r.Scenarios))
	}
}
