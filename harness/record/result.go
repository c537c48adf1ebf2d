package record

import "time"

// Claim is a sentence a scenario decides with one primary metric.
type Claim struct {
	ID     string  `json:"id"`
	Text   string  `json:"text"`
	Source string  `json:"source,omitempty"`
	Kind   string  `json:"kind"` // compare, probe, bound
	Metric string  `json:"metric,omitempty"`
	A      string  `json:"a,omitempty"` // case label: strategy{params}
	B      string  `json:"b,omitempty"`
	At     string  `json:"at,omitempty"`     // a point id, or all
	Stat   string  `json:"stat,omitempty"`   // ratio, diff
	Expect string  `json:"expect,omitempty"` // less, greater, same
	By     float64 `json:"by,omitempty"`     // > 0; a share for ratio, base units for diff
	Needs  string  `json:"needs,omitempty"`  // class; empty: any
	Gate   bool    `json:"gate,omitempty"`
}

// PointInfo is one combination of workload values. Values holds only the axes
// that vary in the scenario.
type PointInfo struct {
	ID       string            `json:"id"`
	Values   map[string]string `json:"values,omitempty"`
	Workload Workload          `json:"workload"`
}

// CaseInfo is one strategy with its params at a point.
type CaseInfo struct {
	ID       string            `json:"id"`    // strategy{k=v,..}@k=v,..
	Label    string            `json:"label"` // strategy{k=v,..}: the same at every point
	Strategy string            `json:"strategy"`
	Params   map[string]string `json:"params,omitempty"`
	Point    string            `json:"point"`
	Baseline bool              `json:"baseline,omitempty"`
	Build    string            `json:"build,omitempty"`
}

// Headline names the figures that answer a scenario's question: the metrics of
// case A against case B.
type Headline struct {
	A       string   `json:"a"`
	B       string   `json:"b"`
	Metrics []string `json:"metrics"`
	// Plot names the metric pair or series shown on the first screen: residency,
	// memory, starvation, waste, latency, effects, pareto.
	Plot string `json:"plot,omitempty"`
}

// ScenarioInfo is the scenario as it was run.
type ScenarioInfo struct {
	Name     string      `json:"name"`
	Title    string      `json:"title"`
	Question string      `json:"question"`
	File     string      `json:"file,omitempty"`
	Text     string      `json:"text"`   // the file, verbatim
	Digest   string      `json:"digest"` // sha256 of Text, hex
	Smoke    bool        `json:"smoke,omitempty"`
	Alpha    float64     `json:"alpha"`
	Blocks   int         `json:"blocks"`
	Baseline string      `json:"baseline"` // a case label
	Metrics  []string    `json:"metrics"`  // the columns of the table, in order
	Headline Headline    `json:"headline"`
	Claims   []Claim     `json:"claims,omitempty"`
	Points   []PointInfo `json:"points"`
	Cases    []CaseInfo  `json:"cases"`
}

// Tool says which zcbench wrote a result.
type Tool struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
}

// Header is the first line of a result file.
type Header struct {
	Schema      int          `json:"schema"`
	Tool        Tool         `json:"tool"`
	Started     time.Time    `json:"started"`
	Seed        uint64       `json:"seed,string"`
	Scenario    ScenarioInfo `json:"scenario"`
	Environment Environment  `json:"environment"`
	Metrics     []Metric     `json:"metrics"`
	ClockCostNS float64      `json:"clock_cost_ns"`    // one timestamp of the measured path
	Planned     int          `json:"planned"`          // trials in the plan
	ForNS       int64        `json:"for_ns,omitempty"` // further blocks were run until so long after the start
	// Probe is what the machine that ran the trials can do; nil: not found out.
	Probe *Probe `json:"probe,omitempty"`
}

// TrialLine is one finished trial, however it ended.
type TrialLine struct {
	Trial     Trial      `json:"trial"`
	Record    Record     `json:"record"`
	Generator *Generator `json:"generator,omitempty"`
	StartedNS int64      `json:"started_ns"` // since the run began
	EndedNS   int64      `json:"ended_ns"`
	// Invalid is set when the trial does not count: the generator was the limit,
	// or a rerun replaced it. The figures are kept.
	Invalid string   `json:"invalid,omitempty"`
	Marks   []string `json:"marks,omitempty"` // receiver-limited, rate-not-achieved, steal, ...
	Stderr  string   `json:"stderr,omitempty"`
	Exit    string   `json:"exit,omitempty"` // how the child ended when not 0
}

// Skip is a case that could not be measured here.
type Skip struct {
	Case   string `json:"case"` // a case label
	Reason string `json:"reason"`
	Remedy string `json:"remedy,omitempty"`
	Needs  string `json:"needs,omitempty"` // the capability: uring, rdma
}

// Footer is the last line of a result file.
type Footer struct {
	Ended   time.Time `json:"ended"`
	Status  string    `json:"status"` // complete, interrupted, failed
	Trials  int       `json:"trials"`
	Failed  int       `json:"failed"`
	Invalid int       `json:"invalid"`
	// ExtraBlocks is how many blocks were begun beyond the plan's, see Header.ForNS.
	ExtraBlocks int `json:"extra_blocks,omitempty"`
}

// Result is a whole result file.
type Result struct {
	Path     string
	Header   Header
	Trials   []TrialLine
	Skips    []Skip
	Warnings []string
	Footer   *Footer // nil: the run was killed
	End      int64   // bytes before the footer: where a resumed run goes on
}
