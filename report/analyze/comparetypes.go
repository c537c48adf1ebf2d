package analyze

import (
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// Outcome is what became of one metric of one case from BASE to NEW.
type Outcome string

// Outcomes of a comparison, the gravest first.
const (
	Regressed    Outcome = "regressed"
	Vanished     Outcome = "missing" // BASE has a value, NEW has none
	Changed      Outcome = "changed" // it differs, and neither direction is better
	Inconclusive Outcome = "inconclusive"
	Improved     Outcome = "improved"
	Appeared     Outcome = "new" // NEW has a value, BASE has none
	Unchanged    Outcome = "unchanged"
)

// Outcomes lists all of them in that order.
func Outcomes() []Outcome {
	return []Outcome{Regressed, Vanished, Changed, Inconclusive, Improved, Appeared, Unchanged}
}

// DefaultThreshold is the share by which a sampled metric must have moved
// before that is called a difference.
const DefaultThreshold = 0.05

// Threshold is how far a metric may move: a share of the base value, or, when
// Absolute, a quantity in the metric's own unit.
type Threshold struct {
	V        float64 `json:"v"`
	Absolute bool    `json:"absolute,omitempty"`
}

// CompareOptions say how to compare; the zero value is good.
type CompareOptions struct {
	Alpha     float64 // error level, family-wise over the sampled metrics of a scenario; 0: DefaultAlpha
	Threshold float64 // share for sampled metrics; 0: DefaultThreshold
	// Metrics holds the thresholds of single metrics, which replace Threshold. An
	// exact metric has no threshold unless it is named here.
	Metrics map[string]Threshold
	// Allow names environment keys that may differ.
	Allow []string
	// Noise is the noise floor of this machine; without one, sampled metrics of two
	// separate runs are inconclusive.
	Noise *Noise
}

func (o CompareOptions) alpha() float64 {
	if o.Alpha <= 0 || o.Alpha >= 1 {
		return DefaultAlpha
	}
	return o.Alpha
}

// threshold is that of a metric and whether it was named.
func (o CompareOptions) threshold(metric string) (t Threshold, named bool) {
	if t, named = o.Metrics[metric]; named {
		return t, true
	}
	if o.Threshold > 0 {
		return Threshold{V: o.Threshold}, false
	}
	return Threshold{V: DefaultThreshold}, false
}

// Comparison is what changed between two sets of results, scenario by scenario.
type Comparison struct {
	Scenarios []ScenarioDiff `json:"scenarios"`
}

// RunInfo identifies one side of a comparison.
type RunInfo struct {
	Path     string      `json:"path"`
	Started  time.Time   `json:"started"`
	Tool     record.Tool `json:"tool"`
	Build    string      `json:"build,omitempty"` // under --ab
	Seed     uint64      `json:"seed,string"`
	Complete bool        `json:"complete"`
}

// ScenarioDiff is what changed in one scenario. Base or New is nil when only
// the other side has the scenario; Diffs then hold one entry for each case.
type ScenarioDiff struct {
	Name  string   `json:"name"`
	Title string   `json:"title,omitempty"`
	Base  *RunInfo `json:"base"`
	New   *RunInfo `json:"new"`
	// Paired is set when both sides were interleaved in one run (--ab): then the
	// signed-rank test pairs them by block, and no noise floor is needed.
	Paired      bool               `json:"paired,omitempty"`
	Environment record.Environment `json:"environment,omitempty"` // of NEW
	Differs     []KeyDiff          `json:"environment_differs,omitempty"`
	Notes       []Warning          `json:"notes,omitempty"`
	Diffs       []Delta            `json:"diffs"`
	Claims      []ClaimDiff        `json:"claims,omitempty"`
	// Family is the number of sampled metrics tested: Holm's correction holds the
	// error level over all of them together.
	Family int `json:"family"`
	// Sessions is the number of runs the noise floor rests on; 0: there is none.
	Sessions int `json:"noise_sessions,omitempty"`
}

// KeyDiff is an environment key that differs between the two sides.
type KeyDiff struct {
	Key     string      `json:"key"`
	Base    string      `json:"base"`
	New     string      `json:"new"`
	Kind    record.Kind `json:"kind"`              // exact: nothing can be compared; sampled: no sampled metric can
	Allowed bool        `json:"allowed,omitempty"` // by --allow-env-mismatch
}

// DiffValue is one side's value of a metric.
type DiffValue struct {
	Median float64 `json:"median"` // of the trials' values; of an exact count num/den
	N      int     `json:"n"`      // trials
	Exact  bool    `json:"exact,omitempty"`
	Num    int64   `json:"num,omitempty"`
	Den    int64   `json:"den,omitempty"`
}

// Delta is one metric of one case.
type Delta struct {
	Point   string        `json:"point"`
	Case    string        `json:"case"` // label
	ID      string        `json:"id"`   // case@point
	Metric  string        `json:"metric,omitempty"`
	Unit    string        `json:"unit,omitempty"`
	Per     string        `json:"per,omitempty"`
	Better  record.Better `json:"better,omitempty"`
	Outcome Outcome       `json:"outcome"`
	// Exact is set when both sides are exact counts, compared as integers.
	Exact bool       `json:"exact,omitempty"`
	Base  *DiffValue `json:"base,omitempty"`
	New   *DiffValue `json:"new,omitempty"`
	// Effect is NEW over BASE, or NEW minus BASE where a zero forbids that. P is
	// exact Mann-Whitney's, or the signed-rank test's when paired.
	Effect *Effect `json:"effect,omitempty"`
	// PAdjusted is P after Holm's correction over the family.
	PAdjusted float64 `json:"p_adjusted,omitempty"`
	// Limit is how far the effect must lie from none to be called a difference:
	// the larger of threshold and noise floor, as a share when Effect is a ratio,
	// else in Unit.
	Limit float64 `json:"limit,omitempty"`
	// Floor is the largest shift among the noise sessions, on the same scale.
	Floor  float64 `json:"floor,omitempty"`
	Reason string  `json:"reason,omitempty"`
}

// ClaimDiff is a claim whose verdict is not the same on both sides.
type ClaimDiff struct {
	ID   string        `json:"id"`
	Text string        `json:"text"`
	Base VerdictStatus `json:"base"`
	New  VerdictStatus `json:"new"`
	// Flipped is set when one side supports what the other refutes.
	Flipped bool `json:"flipped,omitempty"`
	// Reason is NEW's.
	Reason string `json:"reason,omitempty"`
}

// Count returns how many metrics had an outcome.
func (c *Comparison) Count(o Outcome) int {
	n := 0
	for _, s := range c.Scenarios {
		n += s.Count(o)
	}
	return n
}

// Count returns how many metrics had an outcome.
func (s *ScenarioDiff) Count(o Outcome) int {
	n := 0
	for i := range s.Diffs {
		if s.Diffs[i].Outcome == o {
			n++
		}
	}
	return n
}

// Flipped lists the claims one side supports and the other refutes.
func (c *Comparison) Flipped() []ClaimDiff {
	var out []ClaimDiff
	for _, s := range c.Scenarios {
		for _, d := range s.Claims {
			if d.Flipped {
				out = append(out, d)
			}
		}
	}
	return out
}
