package analyze

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
)

// SelfCheck is what separate invocations of one scenario, nothing changed
// between them, say about comparing files on this machine: how often compare
// calls a difference that is none, and how small a real one it can see.
type SelfCheck struct {
	Scenario string       `json:"scenario"`
	Sessions int          `json:"sessions"` // invocations behind the noise floor
	Pairs    int          `json:"pairs"`    // independent comparisons
	Metrics  []SelfMetric `json:"metrics"`
	Planted  *PlantCheck  `json:"planted,omitempty"`
}

// SelfMetric is one metric of a self check.
type SelfMetric struct {
	Name   string `json:"name"`
	Unit   string `json:"unit"`
	Per    string `json:"per,omitempty"`
	Exact  bool   `json:"exact,omitempty"`
	Pairs  int    `json:"pairs"`  // in which it was compared
	Alarms int    `json:"alarms"` // pairs in which any case was called different
	// Floor is the largest shift of any case between two sessions, Detects the
	// smallest effect of which four in five are called: beyond the larger of
	// threshold and floor by what four in five comparisons of equals stay within.
	// Both are of the worst case, named; shares if Share, else in Unit.
	Floor   float64 `json:"floor"`
	Detects float64 `json:"detects"`
	Share   bool    `json:"share,omitempty"`
	Case    string  `json:"case,omitempty"`
}

// PlantCheck is how often a cost put in on purpose was found.
type PlantCheck struct {
	Metric  string  `json:"metric"`
	Case    string  `json:"case"`
	PlantNS int64   `json:"plant_ns"` // a message
	Share   float64 `json:"share"`    // of the case's figure
	Runs    int     `json:"runs"`
	Found   int     `json:"found"`
}

// SelfCheckResults analyses separate invocations: floor holds at least
// MinSessions of them, pairs an even number, compared two by two.
func SelfCheckResults(floor, pairs []*record.Result, o CompareOptions) (*SelfCheck, error) {
	if len(floor) < MinSessions || len(pairs) < 2 || len(pairs)%2 != 0 {
		return nil, fmt.Errorf("a self check takes at least %d sessions and an even number of runs to compare, not %d and %d", MinSessions, len(floor), len(pairs))
	}
	o.Noise = NewNoise(floor)
	s := &SelfCheck{Scenario: floor[0].Header.Scenario.Name, Sessions: len(floor), Pairs: len(pairs) / 2}
	acc := newSelfTally()
	for i := 0; i < len(pairs); i += 2 {
		c, err := Compare(pairs[i:i+1], pairs[i+1:i+2], o)
		if err != nil {
			return nil, err
		}
		acc.pair(&c.Scenarios[0])
	}
	if len(acc.order) == 0 {
		return nil, errors.New("no metric of the runs can be compared")
	}
	s.Metrics = acc.metrics()
	return s, nil
}

// selfTally gathers the comparisons of a self check by metric and case.
type selfTally struct {
	order   []string
	metric  map[string]*SelfMetric
	shifts  map[string]map[string]*caseShifts // metric -> case
	alarmed map[string]bool                   // in this pair
}

// caseShifts are the effects of equals of one case, as distances from none.
type caseShifts struct {
	share        bool
	floor, limit float64
	shifts       []float64
}

func newSelfTally() *selfTally {
	return &selfTally{metric: map[string]*SelfMetric{}, shifts: map[string]map[string]*caseShifts{}}
}

func (a *selfTally) pair(d *ScenarioDiff) {
	a.alarmed = map[string]bool{}
	seen := map[string]bool{}
	for i := range d.Diffs {
		if x := &d.Diffs[i]; x.Metric != "" && x.Base != nil && x.New != nil {
			a.add(x)
			seen[x.Metric] = true
		}
	}
	for name := range seen {
		a.metric[name].Pairs++
		if a.alarmed[name] {
			a.metric[name].Alarms++
		}
	}
}

func (a *selfTally) add(x *Delta) {
	m := a.metric[x.Metric]
	if m == nil {
		m = &SelfMetric{Name: x.Metric, Unit: x.Unit, Per: x.Per, Exact: true}
		a.metric[x.Metric], a.shifts[x.Metric] = m, map[string]*caseShifts{}
		a.order = append(a.order, x.Metric)
	}
	if calledDifferent(x.Outcome) {
		a.alarmed[x.Metric] = true
	}
	m.Exact = m.Exact && x.Exact
	if x.Exact || x.Effect == nil {
		return
	}
	c := a.shifts[x.Metric][x.ID]
	if c == nil {
		c = &caseShifts{share: x.Effect.Stat == Ratio}
		a.shifts[x.Metric][x.ID] = c
	}
	shift := math.Abs(x.Effect.Estimate - x.Effect.Null())
	if c.share && x.Effect.Estimate > 0 {
		shift = math.Expm1(math.Abs(math.Log(x.Effect.Estimate)))
	}
	c.floor, c.limit = max(c.floor, x.Floor), max(c.limit, x.Limit)
	c.shifts = append(c.shifts, shift)
}

func calledDifferent(o Outcome) bool { return o == Regressed || o == Improved || o == Changed }

// fourInFive is the power at which an effect counts as one that can be seen.
const fourInFive = .8

func (a *selfTally) metrics() []SelfMetric {
	var out []SelfMetric
	for _, name := range a.order {
		m := *a.metric[name]
		for id, c := range a.shifts[name] {
			slices.Sort(c.shifts)
			seen := c.limit + c.shifts[int(math.Ceil(fourInFive*float64(len(c.shifts))))-1]
			if m.Case == "" || seen > m.Detects || seen == m.Detects && id < m.Case {
				m.Case, m.Floor, m.Detects, m.Share = id, c.floor, seen, c.share
			}
		}
		out = append(out, m)
	}
	return out
}

// PlantSize is what to plant in a case so that compare should find it: times
// the larger of threshold and noise floor of the metric, as a share of the
// case's figure in the sessions and in the metric's unit.
func PlantSize(floor []*record.Result, metric string, times float64, o CompareOptions) (caseID string, share, size float64, err error) {
	o.Noise = NewNoise(floor)
	s, reason := o.Noise.of(floor[0], floor[len(floor)-1])
	if s == nil {
		return "", 0, 0, errors.New(reason)
	}
	for _, c := range s.runs[0].cases {
		if !c.info.Baseline {
			continue
		}
		m, ok := s.runs[0].metrics[metric]
		if !ok {
			return "", 0, 0, fmt.Errorf("the runs have no metric %s", metric)
		}
		f, ok := s.floor(c.info.Label, c.info.Point, m, Ratio)
		if !ok {
			return "", 0, 0, fmt.Errorf("metric %s of %s has no noise floor", metric, c.info.ID)
		}
		var medians []float64
		for _, r := range s.runs {
			if rc := r.at(c.info.Label, c.info.Point); rc != nil {
				medians = append(medians, Median(values(rc.observe(m))))
			}
		}
		t, _ := o.threshold(metric)
		share = times * max(t.V, f)
		return c.info.ID, share, share * Median(medians), nil
	}
	return "", 0, 0, errors.New("the runs have no baseline")
}

// CheckPlanted counts in how many pairs, plain and planted, the metric of the
// case is called a regression.
func CheckPlanted(floor, plain, planted []*record.Result, p PlantCheck, o CompareOptions) (*PlantCheck, error) {
	o.Noise = NewNoise(floor)
	for i := range plain {
		c, err := Compare(plain[i:i+1], planted[i:i+1], o)
		if err != nil {
			return nil, err
		}
		p.Runs++
		if slices.ContainsFunc(c.Scenarios[0].Diffs, func(d Delta) bool {
			return d.ID == p.Case && d.Metric == p.Metric && d.Outcome == Regressed
		}) {
			p.Found++
		}
	}
	return &p, nil
}
