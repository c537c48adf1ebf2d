// Package analyze turns result files into what they say: one figure per case
// and metric, its effect against the baseline, verdicts on the scenario's
// claims, and everything a sceptic should know before believing them. It
// computes; package render shows.
package analyze

import (
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// Report is what a set of result files says: one Scenario per file, in the
// order given. Files are never pooled.
type Report struct {
	Scenarios []Scenario `json:"scenarios"`
}

// Scenario is what one result file says.
type Scenario struct {
	Path        string              `json:"path"`
	Info        record.ScenarioInfo `json:"info"`
	Tool        record.Tool         `json:"tool"`
	Started     time.Time           `json:"started"`
	Seed        uint64              `json:"seed,string"`
	ClockCostNS float64             `json:"clock_cost_ns"` // of one timestamp
	Environment record.Environment  `json:"environment"`
	Probe       *record.Probe       `json:"probe,omitempty"` // of the machine; nil: none was made
	Class       string              `json:"class,omitempty"` // hardware, soft, guest, or empty
	// Metrics describes every metric any case has a cell for: the scenario's
	// columns first, in their order, then the others as the file lists them.
	Metrics []record.Metric `json:"metrics"`
	// Columns names the metrics of the table, a leading part of Metrics.
	Columns []string `json:"columns"`
	// Headline answers the question in one sentence of plain words; with several
	// points it gives the range over them. Empty when there is nothing to say.
	Headline string        `json:"headline,omitempty"`
	Points   []Point       `json:"points"`
	Claims   []Verdict     `json:"claims,omitempty"`
	Family   int           `json:"family"` // timed claims: the size of the Holm family
	Floor    []FloorValue  `json:"floor,omitempty"`
	Steady   Steady        `json:"steady"`
	Warnings []Warning     `json:"warnings,omitempty"`
	Skips    []record.Skip `json:"skips,omitempty"`
	Counts   TrialCounts   `json:"counts"`
	Complete bool          `json:"complete"` // the run ended and wrote its footer
}

// Point is one combination of workload values and the cases measured at it.
type Point struct {
	Info     record.PointInfo `json:"info"`
	Name     string           `json:"name"` // the varying values, readable; empty if none vary
	Headline string           `json:"headline,omitempty"`
	Cases    []Case           `json:"cases"` // in the scenario's order
}

// Baseline returns the baseline case of the point, or nil.
func (p *Point) Baseline() *Case {
	for i := range p.Cases {
		if p.Cases[i].Info.Baseline {
			return &p.Cases[i]
		}
	}
	return nil
}

// Case returns the case labelled label, or nil. Under --ab it is the first build's.
func (p *Point) Case(label string) *Case {
	for i := range p.Cases {
		if p.Cases[i].Info.Label == label {
			return &p.Cases[i]
		}
	}
	return nil
}

// Case is what was measured of one case.
type Case struct {
	Info record.CaseInfo `json:"info"`
	// Name is the label, with the build added under --ab: unique in its point.
	Name   string          `json:"name"`
	Cells  map[string]Cell `json:"cells"` // by metric name; one for each of Scenario.Metrics
	Counts TrialCounts     `json:"counts"`
	Skip   *record.Skip    `json:"skip,omitempty"` // set when the case could not be measured
	// Distributions are the merged histograms of the timing trials, by rising name.
	Distributions []Distribution `json:"distributions,omitempty"`
	// Series are the time lines of the counting trials, in order of name, block, repeat.
	Series []Series `json:"series,omitempty"`
	Marks  []string `json:"marks,omitempty"` // what befell its trials, e.g. "receiver-limited (2 of 10)"
}

// Distribution returns the merged histogram called name, or nil.
func (c *Case) Distribution(name string) *Distribution {
	for i := range c.Distributions {
		if c.Distributions[i].Name == name {
			return &c.Distributions[i]
		}
	}
	return nil
}

// Sample is one trial's value of a metric.
type Sample struct {
	Block  int     `json:"block"`
	Repeat int     `json:"repeat,omitempty"`
	V      float64 `json:"v"`
}

// Cell is one metric of one case.
type Cell struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`          // base unit of every value here
	Per    string `json:"per,omitempty"` // as in record.Metric
	// Unavailable says why there is no value; the fields below are then zero.
	Unavailable string `json:"unavailable,omitempty"`
	// Median of the trials' values. A percentile is the median over trials of
	// each trial's own percentile: percentiles are never averaged. Of an exact
	// count it is Num/Den.
	Median float64 `json:"median"`
	// HasInterval is set when there are enough trials (6 at 95%) for the exact,
	// distribution-free interval [Lo, Hi] of the median; Level is its confidence.
	HasInterval bool    `json:"has_interval,omitempty"`
	Lo          float64 `json:"lo,omitempty"`
	Hi          float64 `json:"hi,omitempty"`
	Level       float64 `json:"level,omitempty"`
	N           int     `json:"n"` // trials with a value
	// Exact is set when all counting trials of the same seed agree. Num and Den
	// are then summed over the seeds, one trial each.
	Exact   bool     `json:"exact,omitempty"`
	Num     int64    `json:"num,omitempty"`
	Den     int64    `json:"den,omitempty"`
	Effect  *Effect  `json:"effect,omitempty"` // against the baseline; nil for the baseline itself
	Marks   []string `json:"marks,omitempty"`  // e.g. MarkNearFloor
	Samples []Sample `json:"samples,omitempty"`
}

// Marks of a cell.
const (
	MarkNearFloor    = "near floor"    // within 3x of what the harness itself costs
	MarkDemoted      = "varies"        // a count whose trials of one seed disagree: sampled
	MarkDrift        = "drifts"        // first and second half of the blocks differ
	MarkGuestSyscall = "guest-syscall" // a guest's faults or system calls were in the window
	MarkOnce         = "counted once"  // no second counting trial of a seed confirms the count
)

// Marks of a case whose figures must not be used; no claim rests on it.
const (
	MarkUnequalWork = "unequal work" // than the other cases of its point
	MarkWrongData   = "wrong data"   // its verify trial failed
)

// Stats of an effect.
const (
	Ratio = "ratio" // value / baseline
	Diff  = "diff"  // value - baseline, in the metric's unit
)

// Effect is a case against another, paired by block.
type Effect struct {
	Stat     string  `json:"stat"` // Ratio or Diff
	Estimate float64 `json:"estimate"`
	// HasInterval is set when the pairs suffice for the exact interval [Lo, Hi]
	// of the Hodges-Lehmann estimate; Level is its confidence.
	HasInterval bool    `json:"has_interval,omitempty"`
	Lo          float64 `json:"lo,omitempty"`
	Hi          float64 `json:"hi,omitempty"`
	Level       float64 `json:"level,omitempty"`
	P           float64 `json:"p"` // exact two-sided signed-rank; 1 for an exact effect that is nil, else 0
	N           int     `json:"n"` // pairs
	// Zero is set when a ratio was due but a zero (or negative) value made it a difference.
	Zero bool `json:"zero,omitempty"`
	// Exact is set when both sides are exact counts: plain arithmetic, no interval.
	Exact bool `json:"exact,omitempty"`
	// Pairs holds each block's own ratio or difference, as Stat says.
	Pairs []Sample `json:"pairs,omitempty"`
}

// Null returns the estimate that means no effect: 1 of a ratio, 0 of a difference.
func (e *Effect) Null() float64 {
	if e.Stat == Ratio {
		return 1
	}
	return 0
}

// Differs reports whether the effect is told apart from none: its interval
// excludes it, or both sides are exact and unequal. No verdict of a claim.
func (e *Effect) Differs() bool {
	if e.Exact {
		return e.Estimate != e.Null()
	}
	return e.HasInterval && (e.Lo > e.Null() || e.Hi < e.Null())
}

// Quantile is one point of a distribution: a share Q of the samples is at most V.
type Quantile struct {
	Q float64 `json:"q"` // 0..1
	V float64 `json:"v"` // in the distribution's unit
}

// Bucket is one bar of a histogram: Count samples within [From, To).
type Bucket struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int64   `json:"count"`
}

// Distribution is a case's histogram merged over its timing trials.
type Distribution struct {
	Name   string  `json:"name"` // latency, latency_small, ...
	Unit   string  `json:"unit"` // s
	N      int64   `json:"n"`    // samples
	Trials int     `json:"trials"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
	Mean   float64 `json:"mean"`
	// Quantiles rise in Q and hold only those at least ten samples lie beyond,
	// N(1-q) >= 10, however many trials they came from.
	Quantiles []Quantile `json:"quantiles"`
	Buckets   []Bucket   `json:"-"` // the non-empty ones, rising
}

// Series is one time line of one counting trial: X messages received since
// the trial began, Y the level.
type Series struct {
	Name      string  `json:"name"` // buffer_pages, socket_bytes
	Unit      string  `json:"unit"`
	Block     int     `json:"block"`
	Repeat    int     `json:"repeat"`
	X         []int64 `json:"x"`
	Y         []int64 `json:"y"`
	WarmupEnd int64   `json:"warmup_end"` // X at which the window began
}

// FloorValue is what the harness itself costs on one metric: the median over
// the trials of the null strategy at all points. Cells are held against those
// of their own point.
type FloorValue struct {
	Metric string  `json:"metric"`
	Unit   string  `json:"unit"`
	V      float64 `json:"v"`
	N      int     `json:"n"`
}

// Drift is a metric of a case that changed between the halves of the blocks.
type Drift struct {
	Case   string  `json:"case"` // case id
	Metric string  `json:"metric"`
	Change float64 `json:"change"` // second half over first, minus 1
	P      float64 `json:"p"`
}

// Steady says whether the timed metrics held still over the run.
type Steady struct {
	Tested  int     `json:"tested"` // cells with enough blocks to tell
	Drifts  []Drift `json:"drifts,omitempty"`
	Summary string  `json:"summary"` // one sentence
}

// Level is how much a warning matters.
type Level string

// Levels of a warning.
const (
	LevelError Level = "error"   // the figures it names must not be compared
	LevelWarn  Level = "warning" // read the figures with it in mind
	LevelInfo  Level = "info"
)

// Warning is a remark on a result, as a value: the same in every output.
type Warning struct {
	Level Level    `json:"level"`
	Code  string   `json:"code"` // e.g. fingerprint, near-floor, killed
	Text  string   `json:"text"` // one sentence
	Cases []string `json:"cases,omitempty"`
}

// TrialCounts says what became of trials.
type TrialCounts struct {
	Planned  int `json:"planned,omitempty"` // of a scenario only
	Used     int `json:"used"`              // valid and ok
	Failed   int `json:"failed"`
	Skipped  int `json:"skipped"`
	Invalid  int `json:"invalid"` // left out: the generator was the limit, or replaced
	Timing   int `json:"timing"`  // of Used, by purpose
	Counting int `json:"counting"`
	Verify   int `json:"verify"`
}

// VerdictStatus is what a run says of a claim.
type VerdictStatus string

// Verdicts of a claim.
const (
	Supported     VerdictStatus = "supported"
	Refuted       VerdictStatus = "refuted"
	Undecided     VerdictStatus = "undecided"
	NotMeasurable VerdictStatus = "not measurable here"
)

// PointVerdict is a claim at one point.
type PointVerdict struct {
	Point  string        `json:"point"`
	Status VerdictStatus `json:"status"`
	Effect *Effect       `json:"effect,omitempty"` // A against B, interval at Verdict.Level
	Reason string        `json:"reason,omitempty"`
}

// Verdict is what a run says of a claim, and why.
type Verdict struct {
	Claim  record.Claim   `json:"claim"`
	Status VerdictStatus  `json:"status"`
	Points []PointVerdict `json:"points,omitempty"`
	// Level is the confidence asked of the intervals behind the verdict: Holm's
	// step for a timed claim. 0 when the metric is exact.
	Level float64 `json:"level,omitempty"`
	// P is the smallest error level at which the claim would be decided either
	// way, before Holm; 0 when the metric is exact.
	P      float64 `json:"p,omitempty"`
	Exact  bool    `json:"exact,omitempty"`
	Reason string  `json:"reason,omitempty"` // one sentence, always set
	// BlocksLo..BlocksHi blocks would probably decide an undecided claim; 0 when
	// that cannot be estimated.
	BlocksLo int `json:"blocks_lo,omitempty"`
	BlocksHi int `json:"blocks_hi,omitempty"`
	// Class names the kind of machine that could measure it, when this one cannot.
	Class string `json:"class,omitempty"`
}
