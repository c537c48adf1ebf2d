package record

// Better says which direction of a metric is an improvement.
type Better string

// Directions of a metric.
const (
	Lower  Better = "lower"
	Higher Better = "higher"
)

// Kind says how a metric was obtained, which decides how it may be compared.
type Kind string

// Kinds of a metric. A count is Exact only while all counting trials of one
// case and seed agree; the analysis demotes it to Sampled otherwise.
const (
	Sampled   Kind = "sampled"
	Histogram Kind = "histogram"
	Exact     Kind = "exact"
)

// Units a metric may carry. TSC ticks are not cycles and are never named so.
const (
	UnitSeconds = "s"
	UnitBytes   = "B"
	UnitOne     = "1"
	UnitPages   = "page"
	UnitTSC     = "tsc"
)

// Denominators a metric may carry in Metric.Per; the empty string means the
// value stands for itself (a level, such as resident pages).
const (
	PerMessage = "msg"
	PerWR      = "wr"
	PerCall    = "call"
	PerConn    = "conn"
	PerTrial   = "trial"
	PerSecond  = "s"
)

// Metric describes one measured quantity. Every result embeds the descriptors
// of the metrics it holds, so an old file keeps its meaning.
type Metric struct {
	Name   string `json:"name"`             // unique, snake_case
	Unit   string `json:"unit"`             // one of the Unit constants
	Per    string `json:"per,omitempty"`    // one of the Per constants, or empty
	Better Better `json:"better,omitempty"` // empty: neither direction is better
	Kind   Kind   `json:"kind"`
	// Purposes of the trials that yield the metric.
	Purpose Purpose `json:"purpose"`
	Help    string  `json:"help"`
	// Group gathers metrics for display: latency, rate, cpu, calls, copies,
	// memory, perf, load.
	Group string `json:"group,omitempty"`
}

// Value is one metric of one trial. Counts are integers over an integer
// denominator so that equality is exact; everything else is a float.
type Value struct {
	Num   int64    `json:"num,omitempty"`
	Den   int64    `json:"den,omitempty"` // 0 when Float holds the value
	Float *float64 `json:"v,omitempty"`
}

// Count returns a value of num events over den units of work.
func Count(num, den int64) Value { return Value{Num: num, Den: den} }

// Level returns a measured quantity that is not a count.
func Level(v float64) Value { return Value{Float: &v} }

// IsCount reports whether v is an integer ratio.
func (v Value) IsCount() bool { return v.Float == nil && v.Den != 0 }

// Float64 returns the value as a number; a count is divided out.
func (v Value) Float64() float64 {
	if v.Float != nil {
		return *v.Float
	}
	if v.Den == 0 {
		return 0
	}
	return float64(v.Num) / float64(v.Den)
}
