package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
)

// claimState is a claim on its way to a verdict.
type claimState struct {
	v      Verdict
	metric record.Metric
	timed  bool
	asked  []*question
	missed string  // why some point could not be asked, empty if all were
	alpha  float64 // level the claim is read at
	smoked bool    // a sampled claim of a smoke run
}

// verdicts decides the scenario's claims.
//
// The Holm family is the scenario's timed claims, those it could not measure
// included: sorted by p, the i-th of m is read at alpha/(m-i+1), and the
// intervals shown are those of the same level, so an interval and its verdict
// never contradict each other. From the first that fails on, all are shown at
// that step's level. Other sampled claims (residency, counted in trials of
// their own) are read at alpha. A claim at all points needs support at every
// one, which takes no correction; a refutation at any point refutes.
func (r *run) verdicts() ([]Verdict, int) {
	var states []*claimState
	for _, c := range r.res.Header.Scenario.Claims {
		states = append(states, r.open(c))
	}
	family := r.holm(states)
	var out []Verdict
	for _, s := range states {
		r.close(s)
		out = append(out, s.v)
	}
	return out, family
}

// open asks a claim at each of its points.
func (r *run) open(c record.Claim) *claimState {
	s := &claimState{v: Verdict{Claim: c}, alpha: r.alpha}
	m, known := r.metrics[c.Metric]
	s.metric = m
	s.timed = c.Kind == "compare" && known && m.Kind != record.Exact && purposeOf(m) == record.Timing
	switch {
	case c.Kind == "bound" && known && classSuffices(r.class, c.Needs):
		r.bound(s)
	case c.Kind == "probe":
		r.probed(s)
	case c.Kind != "compare" && c.Kind != "bound":
		s.cannot(fmt.Sprintf("a claim of kind %s is not decided from the trials of a run", c.Kind), "")
	case !known:
		s.cannot(fmt.Sprintf("the result does not describe a metric %q", c.Metric), "")
	case c.Kind == "compare" && checkClaim(c) != "":
		s.cannot(checkClaim(c), "")
	case !classSuffices(r.class, c.Needs):
		have := r.class
		if have == "" {
			have = "of unknown class"
		}
		s.cannot(fmt.Sprintf("this machine is %s; the claim needs %s", have, c.Needs), c.Needs)
	default:
		r.askPoints(s)
	}
	return s
}

func (s *claimState) cannot(reason, class string) {
	s.v.Status, s.v.Reason, s.v.Class = NotMeasurable, reason, class
}

// classSuffices: hardware can tell what soft can, and soft what a guest can.
func classSuffices(have, need string) bool {
	rank := map[string]int{"": 0, "guest": 1, "soft": 2, "hardware": 3}
	if n, ok := rank[need]; ok {
		return rank[have] >= n
	}
	return have == need
}

func (r *run) askPoints(s *claimState) {
	c := s.v.Claim
	for _, p := range r.pointInfos() {
		if c.At != "" && c.At != "all" && c.At != p.ID {
			continue
		}
		q, why, class := r.askAt(s, p.ID)
		if q == nil {
			s.v.Points = append(s.v.Points, PointVerdict{Point: p.ID, Status: NotMeasurable, Reason: why})
			if s.missed == "" {
				s.missed = why
				if len(r.pointInfos()) > 1 {
					s.missed = "at " + p.ID + ": " + why
				}
				s.v.Class = class
			}
			continue
		}
		q.point = p.ID
		s.asked = append(s.asked, q)
		s.v.Points = append(s.v.Points, PointVerdict{Point: p.ID})
	}
	switch {
	case len(s.v.Points) == 0:
		s.cannot(fmt.Sprintf("the run has no point %q", c.At), "")
	case len(s.asked) == 0:
		s.cannot(s.missed, s.v.Class)
	default:
		s.v.P, s.v.Exact = s.level(), s.exact()
	}
}

// askAt asks a claim at one point, or says why it cannot be.
func (r *run) askAt(s *claimState, point string) (q *question, why, class string) {
	c := s.v.Claim
	sides := [2]*caseData{r.at(c.A, point), r.at(c.B, point)}
	var os [2][]obs
	for i, label := range [2]string{c.A, c.B} {
		d := sides[i]
		switch {
		case d == nil:
			if why := r.skipReason(label); why != "" {
				return nil, label + " was skipped: " + why, ""
			}
			return nil, label + " is not among the cases", ""
		case d.skip != nil:
			return nil, label + " was skipped: " + d.skip.Reason, ""
		case d.tainted.reason != "":
			return nil, label + ": " + d.tainted.reason, ""
		case r.guestTimed(d, s.metric):
			return nil, "timings of a guest whose window saw system calls or faults decide nothing", "soft"
		}
		if os[i] = d.observe(s.metric); len(os[i]) == 0 {
			return nil, label + ": " + d.missing(s.metric), ""
		}
	}
	if q = ask(c, s.metric, os[0], os[1]); q == nil {
		return nil, c.A + " and " + c.B + " share no block", ""
	}
	return q, "", ""
}

func (r *run) skipReason(label string) string {
	for _, s := range r.res.Skips {
		if s.Case == label {
			return s.Reason
		}
	}
	return ""
}

// level is the smallest error level at which the claim is decided either way;
// a point that could not be asked stands in the way of support.
func (s *claimState) level() float64 {
	support, refute := 0.0, 1.0
	for _, q := range s.asked {
		support, refute = math.Max(support, q.support), math.Min(refute, q.refute)
	}
	if s.missed != "" {
		support = 1
	}
	return math.Min(1, math.Min(support, refute))
}

func (s *claimState) exact() bool {
	for _, q := range s.asked {
		if !q.exact {
			return false
		}
	}
	return true
}

// holm sets the level each timed claim is read at and returns their number.
func (r *run) holm(states []*claimState) int {
	var family []*claimState
	p := map[*claimState]float64{}
	for _, s := range states {
		if !s.timed {
			continue
		}
		family = append(family, s)
		p[s] = 1
		if len(s.asked) > 0 {
			p[s] = s.level()
		}
	}
	slices.SortStableFunc(family, func(a, b *claimState) int { return cmp.Compare(p[a], p[b]) })
	left := len(family)
	for _, s := range family {
		s.alpha = r.alpha / float64(left)
		if p[s] <= s.alpha {
			left--
		}
	}
	return len(family)
}

// close reads the claim at its level and says why.
func (r *run) close(s *claimState) {
	if s.v.Status != "" {
		return
	}
	supported, refuted := s.missed == "", false
	next := 0
	for i := range s.v.Points {
		pv := &s.v.Points[i]
		if pv.Status == NotMeasurable {
			continue
		}
		q := s.asked[next]
		next++
		pv.Status = q.status(s.alpha)
		supported = supported && pv.Status == Supported
		refuted = refuted || pv.Status == Refuted
		r.explain(s, q, pv)
	}
	if !s.v.Exact {
		s.v.Level = 1 - s.alpha
	}
	switch {
	case r.res.Header.Scenario.Smoke && !s.v.Exact:
		s.smoke()
	case refuted:
		s.v.Status = Refuted
	case supported:
		s.v.Status = Supported
	case s.missed != "":
		s.v.Status = NotMeasurable
	default:
		s.v.Status = Undecided
	}
	s.conclude()
}

// smoke withdraws the verdicts of sampled claims.
func (s *claimState) smoke() {
	s.v.Status, s.smoked = Undecided, true
	for i := range s.v.Points {
		if pv := &s.v.Points[i]; pv.Status != NotMeasurable {
			pv.Status = Undecided
		}
	}
}
