package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// mini builds a one-point result by hand: each case's values of one metric.
type mini struct {
	res    *record.Result
	metric record.Metric
}

var (
	timedMetric = record.Metric{Name: "cpu_per_msg", Unit: record.UnitSeconds, Per: record.PerMessage, Better: record.Lower,
		Kind: record.Sampled, Purpose: record.Timing}
	levelMetric = record.Metric{Name: "buffer_pages_mean", Unit: record.UnitPages, Better: record.Lower, Kind: record.Sampled, Purpose: record.Counting}
	countMetric = record.Metric{Name: "go_allocs", Unit: record.UnitOne, Per: record.PerMessage, Better: record.Lower, Kind: record.Exact, Purpose: record.Counting}
)

func newMini(m record.Metric) *mini {
	res := &record.Result{Path: "mini", Footer: &record.Footer{Status: "complete"}}
	res.Header.Scenario.Alpha = 0.05
	res.Header.Scenario.Metrics = []string{m.Name}
	res.Header.Metrics = []record.Metric{m}
	return &mini{res, m}
}

// add gives a case at a point one trial for each value; the first case of a
// point is its baseline.
func (b *mini) add(label, point string, values ...record.Value) *mini {
	info := &b.res.Header.Scenario
	first := true
	for _, c := range info.Cases {
		first = first && c.Point != point
	}
	c := record.CaseInfo{ID: label + "@" + point, Label: label, Strategy: label, Point: point, Baseline: first}
	info.Cases = append(info.Cases, c)
	for i, v := range values {
		b.trial(c, b.metric.Purpose, i, v)
	}
	return b
}

func (b *mini) trial(c record.CaseInfo, p record.Purpose, i int, v record.Value) {
	t := record.Trial{ID: fmt.Sprintf("t%03d", len(b.res.Trials)), Case: c.ID, Point: c.Point, Strategy: c.Strategy, Purpose: p, Seed: 7, Messages: 100}
	if p == record.Counting {
		t.Repeat = i
	} else {
		t.Block = i
	}
	b.res.Trials = append(b.res.Trials, record.TrialLine{Trial: t, Record: record.Record{Trial: t.ID, Status: record.OK,
		Fingerprint: record.Fingerprint{Ops: 100, Bytes: 6400, Sum: 1}, Metrics: map[string]record.Value{b.metric.Name: v}}})
}

func levels(vs ...float64) []record.Value {
	var out []record.Value
	for _, v := range vs {
		out = append(out, record.Level(v))
	}
	return out
}

// around gives n levels scattered by the relative spread about v, the same
// scatter each time it is called with the same phase.
func around(v, spread float64, n, phase int) []record.Value {
	var out []record.Value
	for i := range n {
		out = append(out, record.Level(v*(1+spread*(float64((i*7+phase*3)%n)/float64(n-1)-0.5))))
	}
	return out
}

func repeated(num, den int64, n int) []record.Value {
	var out []record.Value
	for range n {
		out = append(out, record.Count(num, den))
	}
	return out
}

func (b *mini) claim(c record.Claim) *mini {
	if c.Kind == "" {
		c.Kind = "compare"
	}
	if c.Metric == "" {
		c.Metric = b.metric.Name
	}
	if c.A == "" {
		c.A, c.B = "new", "old"
	}
	if c.ID == "" {
		c.ID = fmt.Sprintf("claim-%d", len(b.res.Header.Scenario.Claims))
	}
	b.res.Header.Scenario.Claims = append(b.res.Header.Scenario.Claims, c)
	return b
}

func (b *mini) analyze(t *testing.T) Scenario {
	t.Helper()
	return analyzed(t, b.res)
}

func analyzed(t *testing.T, res *record.Result) Scenario {
	t.Helper()
	rep, err := Analyze(res)
	if err != nil {
		t.Fatal(err)
	}
	return rep.Scenarios[0]
}

// warned returns the warnings of a code.
func warned(s Scenario, code string) []Warning {
	var out []Warning
	for _, w := range s.Warnings {
		if w.Code == code {
			out = append(out, w)
		}
	}
	return out
}

func mustWarn(t *testing.T, s Scenario, code string, level Level, words ...string) {
	t.Helper()
	ws := warned(s, code)
	if len(ws) == 0 {
		t.Fatalf("no warning %s among %+v", code, s.Warnings)
	}
	for _, word := range words {
		if !strings.Contains(ws[0].Text, word) {
			t.Errorf("warning %s does not say %q: %s", code, word, ws[0].Text)
		}
	}
	if ws[0].Level != level {
		t.Errorf("warning %s is of level %s, want %s", code, ws[0].Level, level)
	}
}
