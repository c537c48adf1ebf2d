package harness

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// scenarioText is the scenario most tests plan: four points, three cases each.
const scenarioText = `schema: zcbench/v1
name: t
title: A test
question: Does it work?
kind: receive
workload:
  clients: [1, 4]
  sizes: [{fixed: 64}, {fixed: 512}]
  budget: 8KiB
  load: {closed: 2}
strategies:
  - name: alpha
    params: {chunk: [1KiB, 4KiB]}
  - name: beta
baseline: {name: beta}
measure: {blocks: 6, messages: 50, counting_messages: 20, verify_messages: 10, counting_trials: 2}
metrics: [latency_p50, go_allocs]
headline:
  a: {name: alpha, params: {chunk: 4KiB}}
  b: {name: beta}
  metrics: [latency_p50]
claims:
  - id: faster
    text: Alpha is faster.
    metric: latency_p50
    a: {name: alpha, params: {chunk: 1KiB}}
    b: {name: beta}
    expect: less
    by: 10%
smoke:
  measure: {blocks: 1}
`

// edited is scenarioText with old texts replaced by new ones, given in turn.
func edited(t testing.TB, oldNew ...string) string {
	t.Helper()
	text := scenarioText
	for pair := range slices.Chunk(oldNew, 2) {
		if strings.Count(text, pair[0]) != 1 {
			t.Fatalf("%q is %d times in the scenario", pair[0], strings.Count(text, pair[0]))
		}
		text = strings.Replace(text, pair[0], pair[1], 1)
	}
	return text
}

func parsed(t testing.TB, text string) *scenarios.Scenario {
	t.Helper()
	sc, err := scenarios.Parse("t.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// testRegistry holds strategies of which only the descriptions matter.
func testRegistry() Registry {
	chunk := Param{Name: "chunk", Kind: ParamBytes, Default: "4KiB"}
	return Registry{
		Null,
		{Name: "alpha", Family: "uring", Params: []Param{
			chunk,
			{Name: "entries", Kind: ParamInt, Default: Auto},
			{Name: "mode", Kind: ParamText, Default: "calm", Values: []string{"calm", "eager"}},
			{Name: "multishot", Kind: ParamBool, Default: "true"},
		}},
		{Name: "beta", Family: "socket"},
		{Name: "needy", Family: "uring", Needs: NeedsUring, Params: []Param{chunk}},
		{Name: "fussy", Family: "socket", Params: []Param{chunk}, Fits: func(w record.Workload, p Values) error {
			if n := p.Bytes("chunk", 0); n > w.BudgetBytes {
				return fmt.Errorf("a chunk of %d bytes is larger than the budget of %d", n, w.BudgetBytes)
			}
			return nil
		}},
	}
}

// planned is the plan of a scenario text that must be good.
func planned(t testing.TB, text string, o PlanOptions) *Plan {
	t.Helper()
	if o.CPU == 0 && o.OtherCPU == 0 {
		o.CPU, o.OtherCPU = -1, -1
	}
	p, err := NewPlan(parsed(t, text), testRegistry(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ids lists the ids of trials.
func ids(trials []record.Trial) []string {
	var out []string
	for _, t := range trials {
		out = append(out, t.ID)
	}
	return out
}

// purposes keeps the trials of some purposes.
func purposes(trials []record.Trial, want ...record.Purpose) []record.Trial {
	var out []record.Trial
	for _, t := range trials {
		if slices.Contains(want, t.Purpose) {
			out = append(out, t)
		}
	}
	return out
}

// block keeps the trials of one block.
func block(trials []record.Trial, n int) []record.Trial {
	var out []record.Trial
	for _, t := range trials {
		if t.Block == n {
			out = append(out, t)
		}
	}
	return out
}

func monotonic(t testing.TB) clock.Clock {
	t.Helper()
	c, err := clock.New(clock.SourceMonotonic, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// workload is a point that tests of the sink and of children change as they need.
func workload() record.Workload {
	return record.Workload{
		Kind: "receive", Transport: "tcp", Clients: 3, Sizes: record.Sizes{Kind: "lognormal", Median: 300, Sigma: 1.2, Max: 4096},
		BudgetBytes: 16 << 10, Load: record.Load{Mode: "closed", Depth: 2}, Assembly: "contiguous", Touch: "header",
	}
}

// trialOf is a trial of a strategy over a workload, as a plan would lay it out.
func trialOf(strategy string, w record.Workload, purpose record.Purpose, messages int) record.Trial {
	if purpose == record.Counting {
		w.Load = record.Load{Mode: load.Lockstep}
	}
	return record.Trial{
		Schema: record.Schema, ID: strategy + "/" + string(purpose), Strategy: strategy, Case: strategy, Workload: w, Purpose: purpose,
		Seed: 42, Warmup: load.WarmupMessages(w), Messages: messages, CPU: -1, OtherCPU: -1, DeadlineMS: 20_000,
		Clock: record.Clock{Source: clock.SourceMonotonic, TicksHz: 1e9},
	}
}
