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
		for _, c := range p.Cases {
			if c.Strategy != s.Name {
				continue
			}
			if err := s.Check(p.Points[c.point].Workload, c.Values); err != nil {
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
	if err := checkUntimed(sc, o); err != nil {
		return err
	}
	if err := p.checkClaims(reg); err != nil {
		return err
	}
	if err := checkProbeClaims(sc, o.Findings); err != nil {
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
	label, values, err := canonical(s, ref.Params)
	if err != nil {
		return "", p.Scenario.Errorf(at, "%v", err)
	}
	fits := p.fitting(label, ref, values)
	switch len(fits) {
	case 0:
		return "", p.Scenario.Errorf(at, "%s is not one of the scenario's cases: %s", label, strings.Join(p.labels(func(Case) bool { return true }), ", "))
	case 1:
		p.resolved[ref.Label()] = fits[0]
		return fits[0], nil
	}
	return "", p.Scenario.Errorf(at, "%s may be any of %s: give the params that tell them apart", label, strings.Join(fits, ", "))
}

// fitting lists the cases a reference may mean: the one of its very label, else
// those of its strategy that have the params it gives, whatever their others.
func (p *Plan) fitting(label string, ref scenarios.CaseRef, values Values) []string {
	if same := p.labels(func(c Case) bool { return c.Label == label }); len(same) > 0 {
		return same
	}
	return p.labels(func(c Case) bool {
		if c.Strategy != ref.Strategy {
			return false
		}
		for k := range ref.Params {
			if c.Values[k] != values[k] {
				return false
			}
		}
		return true
	})
}

// labels lists the labels of the cases for which want holds, each once.
func (p *Plan) labels(want func(Case) bool) []string {
	var out []string
	for _, c := range p.Cases {
		if want(c) && !slices.Contains(out, c.Label) {
			out = append(out, c.Label)
		}
	}
	return out
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

// checkUntimed refuses timing metrics in a scenario that takes no timing trials
// (measure.blocks is 0), and claims that only they could decide: those on metrics
// that are not exact.
func checkUntimed(sc *scenarios.Scenario, o PlanOptions) error {
	if sc.Measure.Blocks > 0 {
		return nil
	}
	const untimed = "the scenario takes no timing trials (measure.blocks is 0)"
	if o.Blocks > 0 {
		return sc.Errorf("measure.blocks", "%s: there is nothing to do %d times", untimed, o.Blocks)
	}
	lists := map[string][]string{"metrics": sc.Metrics, "headline.metrics": sc.Headline.Metrics}
	for _, at := range slices.Sorted(maps.Keys(lists)) {
		for i, name := range lists[at] {
			if m, _ := FindMetric(name); m.Purpose == record.Timing {
				return sc.Errorf(fmt.Sprintf("%s[%d]", at, i), "metric %s comes from timing trials: %s", name, untimed)
			}
		}
	}
	for i, c := range sc.Claims {
		if m, _ := FindMetric(c.Metric); c.Kind != "probe" && m.Kind != record.Exact {
			return sc.Errorf(fmt.Sprintf("claims[%d].metric", i), "metric %s is not exact, and a claim on it takes timing trials: %s", c.Metric, untimed)
		}
	}
	if sc.Headline.Plot == "latency" || sc.Headline.Plot == "pareto" {
		return sc.Errorf("headline.plot", "plot %s shows times: %s", sc.Headline.Plot, untimed)
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
			ids := []string{"all"}
			for _, pt := range p.Points {
				if pt.ID != "" { // the only point of a scenario without lists
					ids = append(ids, pt.ID)
				}
			}
			return unknown(p.Scenario, fmt.Sprintf("claims[%d].at", i), "point", c.At, ids)
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
