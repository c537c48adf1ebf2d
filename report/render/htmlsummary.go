package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
)

// summaryView opens a page of several results: every claim and its verdicts in
// one table.
type summaryView struct {
	Counts []countView
	Rows   []summaryRow
}

// countView is how many claims came out one way.
type countView struct {
	N           int
	Word, Class string
}

// summaryRow is a claim, or a scenario without any, with its answer.
type summaryRow struct {
	Scenario, ID string // of the section it links to
	Index        int    // place of the scenario, for sorting
	Claim        string
	Verdicts     []summaryVerdict
	Sort         int
}

// summaryVerdict is what one result says of the claim.
type summaryVerdict struct {
	verdictView
	On string // which result, where there are several of the scenario
	ID string
}

// newSummary lists all claims of a report; nil when it holds one result only,
// whose section opens with them.
func newSummary(r *analyze.Report) *summaryView {
	if len(r.Scenarios) < 2 {
		return nil
	}
	v := &summaryView{}
	counts := map[analyze.VerdictStatus]int{}
	for gi, g := range groupsOf(r) {
		s := &r.Scenarios[g[0]]
		ids := claimIDs(r, g)
		if len(ids) == 0 {
			v.Rows = append(v.Rows, summaryRow{Scenario: scenarioName(s), ID: sectionID(g[0]), Index: gi, Claim: "It claims nothing. " + answerOf(s), Sort: len(verdictOrder)})
		}
		for _, id := range ids {
			row := summaryRow{Scenario: scenarioName(s), ID: sectionID(g[0]), Index: gi, Sort: len(verdictOrder)}
			if len(g) > 1 {
				row.ID = groupID(g[0])
			}
			for _, i := range g {
				for _, c := range r.Scenarios[i].Claims {
					if c.Claim.ID != id {
						continue
					}
					counts[c.Status]++
					row.Claim = cleanText(c.Claim.Text)
					row.Sort = min(row.Sort, slices.Index(verdictOrder, c.Status))
					one := summaryVerdict{verdictView: newVerdict(c, metricOf(&r.Scenarios[i], c.Claim.Metric).Unit), ID: sectionID(i)}
					if len(g) > 1 {
						one.On = sideName(r, g, i)
					}
					row.Verdicts = append(row.Verdicts, one)
				}
			}
			v.Rows = append(v.Rows, row)
		}
	}
	for _, status := range verdictOrder {
		if n := counts[status]; n > 0 {
			w := newVerdict(analyze.Verdict{Status: status}, "")
			v.Counts = append(v.Counts, countView{n, strings.ToLower(w.Word), w.Class})
		}
	}
	return v
}

func sectionID(i int) string { return fmt.Sprintf("s%d", i+1) }
func groupID(i int) string   { return fmt.Sprintf("g%d", i+1) }

// answerOf is the answer of a scenario in words, never empty.
func answerOf(s *analyze.Scenario) string {
	if a := cleanText(s.Headline); a != "" {
		return a
	}
	return "No answer: the figures it needs were not measured in this run. See the warnings below."
}

// groupView is the results of one scenario.
type groupView struct {
	ID, Name, Question string
	Sides              []sideView // empty unless there are several results
	Table              *sideTable
	Scenarios          []*scenarioView
}

// sideView is one of several results of a scenario.
type sideView struct {
	Name, Machine, Started, ID, Answer string
	Lead                               *figureView
}

// sideTable has a column for each result of a scenario.
type sideTable struct {
	HasPoints bool
	Heads     []string
	Rows      []sideRow
	Note      string
}

type sideRow struct {
	Case, Point, Metric, Hint          string
	CaseIndex, PointIndex, MetricIndex int
	Cells                              []cellView
}

// newGroups arranges the sections of a page. The lead plots of results that
// stand side by side move there.
func newGroups(r *analyze.Report, views []scenarioView) []groupView {
	var out []groupView
	for _, g := range groupsOf(r) {
		v := groupView{ID: groupID(g[0]), Name: views[g[0]].Name, Question: views[g[0]].Question}
		for _, i := range g {
			v.Scenarios = append(v.Scenarios, &views[i])
		}
		if len(g) > 1 {
			for _, i := range g {
				views[i].Side = sideName(r, g, i)
				v.Sides = append(v.Sides, sideView{Name: views[i].Side, Machine: views[i].Machine, Started: views[i].Started, ID: views[i].ID, Answer: views[i].Answer, Lead: views[i].Lead})
				views[i].Lead = nil
			}
			v.Table = newSideTable(r, g)
		}
		out = append(out, v)
	}
	return out
}

// newSideTable compares the results of a scenario, case by case.
func newSideTable(r *analyze.Report, group []int) *sideTable {
	t := &sideTable{}
	for _, i := range group {
		t.Heads = append(t.Heads, sideName(r, group, i))
		t.HasPoints = t.HasPoints || len(r.Scenarios[i].Points) > 1
	}
	index := map[string]int{} // of a row by point, case and metric
	for side, i := range group {
		s := &r.Scenarios[i]
		for pi := range s.Points {
			p := &s.Points[pi]
			for ci := range p.Cases {
				for mi, name := range s.Columns {
					c := &p.Cases[ci]
					key := p.Info.ID + "\x00" + c.Name + "\x00" + name
					k, ok := index[key]
					if !ok {
						if len(t.Rows)*len(group) >= maxDetailCells {
							t.Note = "The table is cut to keep the page small; each result has its own below."
							continue
						}
						k = len(t.Rows)
						index[key] = k
						m := metricOf(s, name)
						row := sideRow{Case: caseName(c), Point: cleanText(p.Name), Metric: metricTitle(m), Hint: direction(m), CaseIndex: ci, PointIndex: pi, MetricIndex: mi}
						for range group {
							row.Cells = append(row.Cells, cellView{Value: "n/a", Why: "this result does not have it"})
						}
						t.Rows = append(t.Rows, row)
					}
					t.Rows[k].Cells[side] = newCell(c.Cells, name)
				}
			}
		}
	}
	return t
}
