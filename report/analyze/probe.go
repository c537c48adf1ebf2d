package analyze

import (
	"fmt"
	"strconv"

	"github.com/zcbench/zcbench/harness/record"
)

// What claims about limits expect; other findings are expected to have a verdict.
const (
	expectAtLeast = "at least"
	expectAtMost  = "at most"
)

// probed decides a claim by what the run's machine was found to do. No trial
// counts for it: a finding is exact, or there is none.
func (r *run) probed(s *claimState) {
	c := s.v.Claim
	f, ok := r.res.Header.Probe.Find(c.Metric)
	class := f.Class
	if class == "" {
		class = r.class
	}
	switch {
	case r.res.Header.Probe == nil:
		s.cannot("the run did not probe its machine", "")
	case !ok:
		s.cannot(fmt.Sprintf("the probe of this machine has no finding %q", c.Metric), "")
	case !classSuffices(class, c.Needs):
		s.cannot(fmt.Sprintf("it was found on a machine of class %q; the claim needs %s", class, c.Needs), c.Needs)
	case !f.Verdict.Decided():
		s.cannot(fmt.Sprintf("%s is %s: %s", f.Name, f.Verdict, f.Reason), "")
	case c.Expect == expectAtLeast || c.Expect == expectAtMost:
		s.limited(f)
	case f.Sort == record.LimitFound:
		s.cannot(fmt.Sprintf("%s is a limit: the claim must expect at least or at most an amount", f.Name), "")
	default:
		s.v.Exact = true
		s.v.Status = Refuted
		if string(f.Verdict) == c.Expect {
			s.v.Status = Supported
		}
		s.v.Reason = fmt.Sprintf("%s: %s%s", f.Name, f.Verdict, said(f))
	}
}

// limited decides a claim about a limit.
func (s *claimState) limited(f record.Finding) {
	c := s.v.Claim
	switch {
	case f.Sort != record.LimitFound:
		s.cannot(fmt.Sprintf("%s is no limit: the claim must expect a verdict", f.Name), "")
		return
	case f.Verdict == record.Unsupported:
		// A limit of what is not there: nothing is at least anything.
		s.cannot(fmt.Sprintf("%s is unsupported: %s", f.Name, f.Reason), "")
		return
	}
	s.v.Exact = true
	s.v.Status = Refuted
	v := float64(f.Value)
	if c.Expect == expectAtLeast && v >= c.By || c.Expect == expectAtMost && v <= c.By {
		s.v.Status = Supported
	}
	s.v.Reason = fmt.Sprintf("%s: %d%s found; asked: %s %s%s", f.Name, f.Value, unitWord(f.Unit), c.Expect, strconv.FormatFloat(c.By, 'f', -1, 64), said(f))
}

func unitWord(unit string) string {
	if unit == "" || unit == record.UnitOne {
		return ""
	}
	return " " + unit
}

// said is what a finding rests on.
func said(f record.Finding) string {
	switch {
	case f.Evidence != "":
		return " (" + f.Evidence + ")"
	case f.Reason != "":
		return " (" + f.Reason + ")"
	}
	return ""
}
