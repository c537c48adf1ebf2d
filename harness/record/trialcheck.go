package record

import (
	"fmt"
	"slices"
)

// check refuses a descriptor whose words have no meaning here: a figure shown in
// an unknown unit, or compared in an unknown way, would be a wrong figure.
func (m Metric) check() error {
	for _, c := range []struct {
		what, is string
		known    []string
	}{
		{"unit", m.Unit, []string{UnitSeconds, UnitBytes, UnitOne, UnitPages, UnitTSC}},
		{"denominator", m.Per, []string{"", PerMessage, PerWR, PerCall, PerConn, PerTrial, PerSecond}},
		{"kind", string(m.Kind), []string{string(Sampled), string(Histogram), string(Exact)}},
		{"direction", string(m.Better), []string{"", string(Lower), string(Higher)}},
		{"purpose", string(m.Purpose), purposes},
	} {
		if !slices.Contains(c.known, c.is) {
			return fmt.Errorf("metric %s: unknown %s %q, want one of %q", m.Name, c.what, c.is, c.known)
		}
	}
	return nil
}

var purposes = []string{string(Timing), string(Counting), string(Verify), string(Capacity), string(Floor)}

// check refuses a trial that the result's own header does not account for.
func (t TrialLine) check(h Header) error {
	switch {
	case !slices.Contains(purposes, string(t.Trial.Purpose)):
		return fmt.Errorf("unknown purpose %q, want one of %q", t.Trial.Purpose, purposes)
	case t.Record.Trial != t.Trial.ID:
		return fmt.Errorf("its record is of trial %q", t.Record.Trial)
	case t.Trial.Purpose != Floor && !slices.ContainsFunc(h.Scenario.Cases, func(c CaseInfo) bool { return c.ID == t.Trial.Case }):
		return fmt.Errorf("case %q is not in the header", t.Trial.Case)
	}
	for name := range t.Record.Metrics {
		if !slices.ContainsFunc(h.Metrics, func(m Metric) bool { return m.Name == name }) {
			return fmt.Errorf("metric %s is not described in the header", name)
		}
	}
	return nil
}
