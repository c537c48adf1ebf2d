package analyze

import (
	"fmt"
	"slices"
	"strings"
)

// What a Gate can fail on.
const (
	OnRegression   = "regression"
	OnMissing      = "missing"
	OnInconclusive = "inconclusive"
	OnFlipped      = "flipped"
	OnChanged      = "changed"
)

// GateConditions lists what a gate can fail on.
func GateConditions() []string {
	return []string{OnRegression, OnMissing, OnInconclusive, OnFlipped, OnChanged}
}

// Gate is a list of conditions, any of which fails a comparison.
type Gate []string

var gateOutcomes = map[string]Outcome{OnRegression: Regressed, OnMissing: Vanished, OnInconclusive: Inconclusive, OnChanged: Changed}

// NewGate checks the conditions.
func NewGate(on []string) (Gate, error) {
	for _, o := range on {
		if !slices.Contains(GateConditions(), o) {
			return nil, fmt.Errorf("%q is nothing a comparison can fail on: known are %s", o, strings.Join(GateConditions(), ", "))
		}
	}
	return Gate(on), nil
}

// Fails reports whether an outcome fails the gate.
func (g Gate) Fails(o Outcome) bool {
	return slices.ContainsFunc(g, func(on string) bool { return gateOutcomes[on] == o })
}

// FailsClaim reports whether a claim's change does.
func (g Gate) FailsClaim(d ClaimDiff) bool { return d.Flipped && slices.Contains(g, OnFlipped) }

// Failures names each metric and claim that fails the gate, case and metric.
func (g Gate) Failures(c *Comparison) []string {
	var out []string
	for i := range c.Scenarios {
		s := &c.Scenarios[i]
		for k := range s.Diffs {
			if d := &s.Diffs[k]; g.Fails(d.Outcome) {
				out = append(out, fmt.Sprintf("%s: %s: %s", s.Name, d.Title(), d.Outcome))
			}
		}
		for _, d := range s.Claims {
			if g.FailsClaim(d) {
				out = append(out, fmt.Sprintf("%s: claim %s: %s, was %s", s.Name, d.ID, d.New, d.Base))
			}
		}
	}
	return out
}

// Title names the metric and the case.
func (d *Delta) Title() string {
	if d.Metric == "" {
		return d.ID
	}
	return d.ID + " " + d.Metric
}
