package analyze

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// notSupported begins the reason of a trial that asked the device for more than
// it does: that is an answer, not a gap.
const notSupported = "not supported"

// bound decides a claim about one case against a value given beforehand: it is
// supported where the figure lies beyond it (greater) or below it (less) at
// every point. A count decides by itself; a sampled figure by its interval.
func (r *run) bound(s *claimState) {
	c := s.v.Claim
	exact := true
	status := Supported
	for _, p := range r.pointInfos() {
		if c.At != "" && c.At != "all" && c.At != p.ID {
			continue
		}
		pv, counted := r.boundAt(c, s.metric, p.ID)
		exact = exact && counted
		s.v.Points = append(s.v.Points, pv)
		status = worse(status, pv.Status)
	}
	if len(s.v.Points) == 0 {
		s.cannot(fmt.Sprintf("the run has no point %q", c.At), "")
		return
	}
	s.v.Status, s.v.Exact = status, exact
	for _, pv := range s.v.Points {
		if pv.Status == status {
			s.v.Reason = pv.Reason
			if len(s.v.Points) > 1 && status != Supported {
				s.v.Reason = "at " + pv.Point + ": " + pv.Reason
			}
			break
		}
	}
	if !exact && r.res.Header.Scenario.Smoke && s.v.Status != NotMeasurable {
		s.v.Status, s.v.Reason = Undecided, "a smoke run decides nothing about sampled figures"
	}
}

// worse is the verdict of two points together.
func worse(a, b VerdictStatus) VerdictStatus {
	for _, s := range []VerdictStatus{Refuted, NotMeasurable, Undecided} {
		if a == s || b == s {
			return s
		}
	}
	return Supported
}

// boundAt decides a bound at one point and says whether by a count.
func (r *run) boundAt(c record.Claim, m record.Metric, point string) (pv PointVerdict, counted bool) {
	pv = PointVerdict{Point: point, Status: NotMeasurable}
	d := r.at(c.A, point)
	switch {
	case d == nil:
		pv.Reason = c.A + " is not among the cases"
		return pv, true
	case d.skip != nil && strings.HasPrefix(d.skip.Reason, notSupported) && c.Expect == expectGreater:
		pv.Status, pv.Reason = Refuted, c.A+": "+d.skip.Reason
		return pv, true
	case d.skip != nil:
		pv.Reason = c.A + " was skipped: " + d.skip.Reason
		return pv, true
	case d.tainted.reason != "":
		pv.Reason = c.A + ": " + d.tainted.reason
		return pv, true
	}
	os := d.observe(m)
	if len(os) == 0 {
		pv.Reason = c.A + ": " + d.missing(m)
		return pv, true
	}
	var cell Cell
	cell.fill(m, os, r.alpha)
	how := "measured"
	lo, hi := cell.Lo, cell.Hi
	if cell.Exact {
		how, lo, hi = "counted", cell.Median, cell.Median
	} else if !cell.HasInterval {
		pv.Status = Undecided
		pv.Reason = fmt.Sprintf("%s, too few trials for an interval", figure.Format(cell.Median, m.Unit)+figure.Per(m.Per))
		return pv, false
	}
	pv.Status = beyond(c, lo, hi)
	side := map[string]string{expectLess: "below", expectGreater: "above"}[c.Expect]
	pv.Reason = fmt.Sprintf("%s, %s; asked: %s %s", figure.Format(cell.Median, m.Unit)+figure.Per(m.Per), how, side, figure.Format(c.By, m.Unit))
	return pv, cell.Exact
}

// beyond tells on which side of a bound the interval lo..hi lies.
func beyond(c record.Claim, lo, hi float64) VerdictStatus {
	switch {
	case c.Expect == expectLess && hi < c.By, c.Expect == expectGreater && lo > c.By:
		return Supported
	case c.Expect == expectLess && lo >= c.By, c.Expect == expectGreater && hi <= c.By:
		return Refuted
	}
	return Undecided
}
