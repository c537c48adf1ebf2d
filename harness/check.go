package harness

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// unknown reports a name the file got wrong, with the nearest right one.
func unknown(sc *scenarios.Scenario, at, what, name string, known []string) error {
	err := sc.Errorf(at, "unknown %s %q; known are %s", what, name, strings.Join(known, ", "))
	err.Suggest = scenarios.Nearest(name, known)
	return err
}

func checkParams(sc *scenarios.Scenario, at string, s Strategy, params map[string][]string) error {
	var names []string
	for _, p := range s.Params {
		names = append(names, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		p, ok := s.Param(name)
		if !ok {
			err := sc.KeyErrorf(at+"."+name, "strategy %s has no param %q; it has %s", s.Name, name, orNone(names))
			err.Suggest = scenarios.Nearest(name, names)
			return err
		}
		for i, text := range params[name] {
			if _, err := p.Canonical(text); err != nil {
				where := at + "." + name
				if len(params[name]) > 1 {
					where = fmt.Sprintf("%s[%d]", where, i)
				}
				return sc.Errorf(where, "param %s of %s: %v", name, s.Name, err)
			}
		}
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// check refuses a scenario that names what does not exist, whose strategies do
// not fit its workload, or whose claims its blocks could never decide.
func check(p *Plan, reg Registry, o PlanOptions) error {
	sc := p.Scenario
	for i, use := range sc.Strategies {
		s, _ := reg.Find(use.Name)
		if s.Fits == nil {
			continue
		}
		for _, c := range p.Cases {
			if c.Strategy != s.Name {
				continue
			}
			if err := s.Fits(p.Points[c.point].Workload, c.Values); err != nil {
				return sc.Errorf(fmt.Sprintf("strategies[%d]", i), "%s does not fit: %v", c.ID, err)
			}
		}
	}
	if err := p.setBaseline(reg, o); err != nil {
		return err
	}
	if err := checkMetricNames(sc); err != nil {
		return err
	}
	if err := p.checkClaims(reg); err != nil {
		return err
	}
	return checkPower(sc, o)
}

// setBaseline marks the baseline case of every point.
func (p *Plan) setBaseline(reg Registry, o PlanOptions) error {
	label, err := p.resolve(reg, "baseline", p.Scenario.Baseline)
	if err != nil {
		return err
	}
	p.Baseline = label
	for i := range p.Cases {
		c := &p.Cases[i]
		c.Baseline = c.Label == label && (len(o.Builds) == 0 || c.Build == o.Builds[0])
	}
	return nil
}

// resolve finds the case a reference names and returns its label.
func (p *Plan) resolve(reg Registry, at string, ref scenarios.CaseRef) (string, error) {
	s, ok := reg.Find(ref.Strategy)
	if !ok {
		return "", unknown(p.Scenario, at+".name", "strategy", ref.Strategy, reg.Names(p.Scenario.Kind))
	}
	label, _, err := canonical(s, ref.Params)
	if err != nil {
		return "", p.Scenario.Errorf(at, "%v", err)
	}
	var labels []string
	for _, c := range p.Cases {
		if c.Label == label {
			return label, nil
		}
		if !slices.Contains(labels, c.Label) {
			labels = append(labels, c.Label)
		}
	}
	return "", p.Scenario.Errorf(at, "%s is not one of the scenario's cases: %s", label, strings.Join(labels, ", "))
}

func checkMetricNames(sc *scenarios.Scenario) error {
	var names []string
	for _, m := range Metrics(sc.Kind) {
		names = append(names, m.Name)
	}
	lists := map[string][]string{"metrics": sc.Metrics, "headline.metrics": sc.Headline.Metrics}
	for _, at := range slices.Sorted(maps.Keys(lists)) {
		for i, name := range lists[at] {
			if !slices.Contains(names, name) {
				return unknown(sc, fmt.Sprintf("%s[%d]", at, i), "metric", name, names)
			}
		}
	}
	for i, c := range sc.Claims {
		if c.Kind != "probe" && !slices.Contains(names, c.Metric) {
			return unknown(sc, fmt.Sprintf("claims[%d].metric", i), "metric", c.Metric, names)
		}
	}
	return nil
}

func (p *Plan) checkClaims(reg Registry) error {
	for i, c := range p.Scenario.Claims {
		if c.Kind == "probe" {
			continue
		}
		if err := p.resolveBoth(reg, fmt.Sprintf("claims[%d]", i), c.A, c.B); err != nil {
			return err
		}
		known := func(pt record.PointInfo) bool { return pt.ID == c.At }
		if c.At != "all" && !slices.ContainsFunc(p.Points, known) {
			var ids []string
			for _, pt := range p.Points {
				ids = append(ids, pt.ID)
			}
			return unknown(p.Scenario, fmt.Sprintf("claims[%d].at", i), "point", c.At, append(ids, "all"))
		}
	}
	h := p.Scenario.Headline
	if h.A.Strategy == "" {
		return nil
	}
	return p.resolveBoth(reg, "headline", h.A, h.B)
}

// resolveBoth checks two references; a bound has no b.
func (p *Plan) resolveBoth(reg Registry, at string, a, b scenarios.CaseRef) error {
	if _, err := p.resolve(reg, at+".a", a); err != nil || b.Strategy == "" {
		return err
	}
	_, err := p.resolve(reg, at+".b", b)
	return err
}

// checkPower refuses blocks too few for the exact signed-rank test to reach
// significance in its Holm family: the smallest two-sided p of n pairs is
// 2^(1-n), and the first step needs alpha/m. Smoke runs decide nothing.
func checkPower(sc *scenarios.Scenario, o PlanOptions) error {
	if sc.IsSmoke || o.OnlyCounts {
		return nil
	}
	family := 0
	for _, c := range sc.Claims {
		if m, ok := FindMetric(c.Metric); ok && c.Kind == "compare" && m.Kind != record.Exact {
			family++
		}
	}
	if family == 0 {
		return nil
	}
	blocks, at := sc.Measure.Blocks, "measure.blocks"
	if o.Blocks > 0 {
		blocks = o.Blocks
	}
	if math.Pow(2, float64(1-blocks))*float64(family) <= sc.Measure.Alpha {
		return nil
	}
	need := 1 + int(math.Ceil(math.Log2(float64(family)/sc.Measure.Alpha)))
	return sc.Errorf(at, "%d blocks cannot decide %d timed claims at alpha %g: the smallest p there is, %.3g, times %d is more; use at least %d blocks",
		blocks, family, sc.Measure.Alpha, math.Pow(2, float64(1-blocks)), family, need)
}
