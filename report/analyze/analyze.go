package analyze

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// Analyze reads results into a report, one scenario each, in order. It fails
// only when there is nothing to read; whatever is wrong with a result is among
// its scenario's warnings.
func Analyze(results ...*record.Result) (*Report, error) {
	if len(results) == 0 {
		return nil, errors.New("analyze: no results given; name a result directory or file")
	}
	rep := &Report{}
	for i, res := range results {
		if res == nil {
			return nil, fmt.Errorf("analyze: result %d is nil", i)
		}
		rep.Scenarios = append(rep.Scenarios, analyzeOne(res))
	}
	return rep, nil
}

func analyzeOne(res *record.Result) Scenario {
	r := gather(res)
	s := Scenario{
		Path: res.Path, Info: r.scenario(), Tool: res.Header.Tool, Started: res.Header.Started, Seed: res.Header.Seed,
		ClockCostNS: res.Header.ClockCostNS, Environment: res.Header.Environment, Probe: res.Header.Probe, Class: r.class,
		Skips: res.Skips, Counts: r.counts, Complete: res.Footer != nil && res.Footer.Status == "complete",
		Floor: r.floorValues(),
	}
	found := r.fingerprints() // first: it taints cases
	s.Metrics, s.Columns = r.described()
	found = append(found, r.points(&s)...)
	s.Claims, s.Family = r.verdicts()
	s.Steady = r.steadiness(&s)
	s.Warnings = r.warnings(&s, found)
	return s
}

// pointInfos lists the scenario's points, and those only its cases name.
func (r *run) pointInfos() []record.PointInfo {
	out := slices.Clone(r.res.Header.Scenario.Points)
	for _, c := range r.cases {
		if !slices.ContainsFunc(out, func(p record.PointInfo) bool { return p.ID == c.info.Point }) {
			out = append(out, record.PointInfo{ID: c.info.Point})
		}
	}
	return out
}

// points fills in the points of the report; it returns what was wrong with the
// histograms.
func (r *run) points(s *Scenario) []Warning {
	var warnings []Warning
	var clauses [][]clause
	infos := r.pointInfos()
	for _, info := range infos {
		p := Point{Info: info, Name: pointName(info, len(infos))}
		for _, c := range r.cases {
			if c.info.Point != info.ID {
				continue
			}
			out, problems := r.report(c, s.Metrics)
			p.Cases = append(p.Cases, out)
			for _, text := range problems {
				warnings = append(warnings, Warning{Level: LevelWarn, Code: CodeHistogram, Text: text, Cases: []string{c.info.ID}})
			}
		}
		cs := r.headlineAt(info.ID)
		p.Headline = r.sentence(cs)
		clauses = append(clauses, cs)
		s.Points = append(s.Points, p)
	}
	if len(s.Points) == 1 {
		s.Headline = s.Points[0].Headline
	} else {
		s.Headline = r.overPoints(clauses)
	}
	return warnings
}

func (r *run) report(c *caseData, metrics []record.Metric) (Case, []string) {
	out := Case{Info: c.info, Name: c.name, Cells: map[string]Cell{}, Counts: c.counts, Skip: c.skip,
		Series: c.series(), Marks: c.caseMarks()}
	for _, m := range metrics {
		out.Cells[m.Name] = r.cell(c, m)
	}
	var problems []string
	out.Distributions, problems = c.distributions()
	return out, problems
}

// pointName spells the varying values out: "clients 16, load open(50%)".
func pointName(p record.PointInfo, points int) string {
	if points < 2 && len(p.Values) == 0 {
		return ""
	}
	if len(p.Values) == 0 {
		return p.ID
	}
	var kv []string
	for _, k := range slices.Sorted(maps.Keys(p.Values)) {
		kv = append(kv, k+" "+p.Values[k])
	}
	return strings.Join(kv, ", ")
}

// Gates lists the refuted claims that gate, which make a run exit 1.
func (r *Report) Gates() []Verdict {
	var out []Verdict
	for _, s := range r.Scenarios {
		for _, v := range s.Claims {
			if v.Claim.Gate && v.Status == Refuted {
				out = append(out, v)
			}
		}
	}
	return out
}

// Errors lists the error-level warnings of all scenarios.
func (r *Report) Errors() []Warning {
	var out []Warning
	for _, s := range r.Scenarios {
		for _, w := range s.Warnings {
			if w.Level == LevelError {
				out = append(out, w)
			}
		}
	}
	return out
}
