package analyze

import (
	"fmt"
	"math"

	"github.com/zcbench/zcbench/harness/record"
)

// MinSessions is how many separate invocations a noise floor needs.
const MinSessions = 10

// Noise holds results of separate invocations of scenarios on one machine: how
// far their figures lie apart, with nothing changed, is the noise floor.
type Noise struct {
	results map[string][]*record.Result // by scenario
}

// NewNoise sorts the results of separate invocations by scenario.
func NewNoise(results []*record.Result) *Noise {
	n := &Noise{results: map[string][]*record.Result{}}
	for _, r := range results {
		name := r.Header.Scenario.Name
		n.results[name] = append(n.results[name], r)
	}
	return n
}

// sessions are the invocations a comparison of one scenario may lean on.
type sessions struct {
	runs   []*run
	floors map[floorKey]floorOf
}

type floorKey struct{ label, point, metric, stat string }

type floorOf struct {
	v  float64
	ok bool
}

// of returns the sessions that were measured as base and next were, or why
// there are not enough.
func (n *Noise) of(base, next *record.Result) (*sessions, string) {
	if n == nil {
		return nil, fmt.Sprintf("give --noise the results of %d separate runs", MinSessions)
	}
	s := &sessions{floors: map[floorKey]floorOf{}}
	all := n.results[next.Header.Scenario.Name]
	odd := ""
	for _, r := range all {
		keys := append(envDiff(r, next, nil), envDiff(r, base, nil)...)
		if len(keys) > 0 {
			odd = keys[0].Key
			continue
		}
		g := gather(r)
		g.fingerprints()
		s.runs = append(s.runs, g)
	}
	switch {
	case len(all) == 0:
		return nil, "the noise sessions do not hold this scenario"
	case len(s.runs) < len(all) && len(s.runs) < MinSessions:
		return nil, fmt.Sprintf("%d of %d noise sessions were measured elsewhere (%s differs); %d that fit are needed", len(all)-len(s.runs), len(all), odd, MinSessions)
	case len(s.runs) < MinSessions:
		return nil, fmt.Sprintf("%d noise sessions are fewer than %d", len(s.runs), MinSessions)
	}
	return s, ""
}

// floor is the largest shift of a metric of a case between any two sessions, as
// a share for a ratio (1.08 against 1 is 0.08), else in the metric's unit.
// False when fewer than MinSessions have a value.
func (s *sessions) floor(label, point string, m record.Metric, stat string) (float64, bool) {
	k := floorKey{label, point, m.Name, stat}
	f, done := s.floors[k]
	if !done {
		f.v, f.ok = s.largestShift(k, m)
		s.floors[k] = f
	}
	return f.v, f.ok
}

func (s *sessions) largestShift(k floorKey, m record.Metric) (float64, bool) {
	var of [][]float64
	for _, r := range s.runs {
		c := r.at(k.label, k.point)
		if c == nil || c.tainted.mark != "" {
			continue
		}
		v := values(c.observe(m))
		if len(v) == 0 {
			continue
		}
		if k.stat == Ratio {
			for _, x := range v {
				if x <= 0 {
					return 0, false
				}
			}
			v = logs(v)
		}
		of = append(of, v)
	}
	if len(of) < MinSessions {
		return 0, false
	}
	worst := 0.0
	for i := range of {
		for j := range i {
			worst = math.Max(worst, math.Abs(middle(newDifferences(of[i], of[j]))))
		}
	}
	if k.stat == Ratio {
		worst = math.Expm1(worst)
	}
	return worst, !math.IsInf(worst, 0) && !math.IsNaN(worst)
}
