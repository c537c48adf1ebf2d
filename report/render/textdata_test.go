package render

import (
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

var update = flag.Bool("update", false, "write the golden files of the text outputs anew")

// textOutputs are the text renderers by name.
var textOutputs = map[string]func(io.Writer, *analyze.Report, Options) error{
	"table": Table, "markdown": Markdown, "csv": CSV, "json": JSON, "benchfmt": Benchfmt,
}

func textOf(t *testing.T, name string, r *analyze.Report, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := textOutputs[name](&b, r, o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", "text", name)
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test -update to write it", err)
	}
	if got != string(want) {
		t.Errorf("%s differs from its golden file; got:\n%s", name, got)
	}
}

func reportOf(t *testing.T, rs ...*record.Result) *analyze.Report {
	t.Helper()
	r, err := analyze.Analyze(rs...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// relabel renames case i at every point, as a file might.
func relabel(res *record.Result, i int, label string) {
	info := &res.Header.Scenario
	old := info.Cases[i].Label
	for k := range info.Cases {
		c := &info.Cases[k]
		if c.Label != old {
			continue
		}
		id := label + "@" + c.Point
		for j := range res.Trials {
			if res.Trials[j].Trial.Case == c.ID {
				res.Trials[j].Trial.Case = id
			}
		}
		c.ID, c.Label, c.Strategy = id, label, label
	}
}

// troubled is a result with everything that can go wrong in a run.
func troubled() *record.Result {
	res := fixture.New(fixture.Spec{Blocks: 10, Repeats: 3})
	info := &res.Header.Scenario
	info.Cases = append(info.Cases, record.CaseInfo{ID: "ring-bundle@" + info.Points[0].ID, Label: "ring-bundle", Strategy: "ring-bundle", Point: info.Points[0].ID})
	info.Metrics = append(info.Metrics, "latency_p999", "dtlb_misses")
	for i := range res.Trials {
		t := &res.Trials[i]
		switch {
		case t.Trial.Strategy == "heap" && t.Trial.Purpose == record.Timing && t.Trial.Block == 2:
			t.Record.Status, t.Record.Error, t.Exit = record.Failed, "", "killed by signal 9"
		case t.Trial.Strategy == "heap" && t.Trial.Purpose == record.Timing && t.Trial.Block < 2:
			t.Marks = []string{"receiver-limited"}
		case t.Trial.Strategy == "slot" && t.Trial.Purpose == record.Timing && t.Trial.Block == 4:
			t.Record.Fingerprint.Ops--
		case t.Trial.Strategy == "slot" && t.Trial.Purpose == record.Counting && t.Trial.Repeat == 1:
			t.Record.Metrics["syscalls"] = record.Count(2007, 1000)
		case t.Trial.Strategy == "epoll-read" && t.Trial.Purpose == record.Timing && t.Trial.Block == 0:
			t.Invalid = "generator-limited"
		case t.Trial.Purpose == record.Floor:
			t.Record.Metrics["cpu_per_msg"] = record.Level(1.4e-6)
		}
	}
	res.Footer = nil
	res.Header.Planned += 4
	return res
}

// plain is a report of round figures, written by hand, for the outputs that
// show every digit.
func plain() *analyze.Report {
	metrics := []record.Metric{
		{Name: "cpu_per_msg", Unit: "s", Per: "msg", Better: "lower", Kind: record.Sampled, Purpose: record.Timing},
		{Name: "go_allocs", Unit: "1", Per: "msg", Better: "lower", Kind: record.Exact, Purpose: record.Counting},
		{Name: "bytes_per_s", Unit: "B", Per: "s", Better: "higher", Kind: record.Sampled, Purpose: record.Timing},
	}
	samples := func(v float64) []analyze.Sample {
		return []analyze.Sample{{Block: 0, V: v}, {Block: 1, V: v * 1.5}}
	}
	base := analyze.Case{Info: record.CaseInfo{ID: "old@p=1", Label: "old", Strategy: "old", Point: "p=1", Baseline: true}, Name: "old",
		Cells: map[string]analyze.Cell{
			"cpu_per_msg": {Metric: "cpu_per_msg", Unit: "s", Per: "msg", Median: 2.5e-6, N: 2, Samples: samples(2e-6)},
			"go_allocs":   {Metric: "go_allocs", Unit: "1", Per: "msg", Median: 0.5, N: 1, Exact: true, Num: 500, Den: 1000, Samples: samples(0.5)[:1]},
			"bytes_per_s": {Metric: "bytes_per_s", Unit: "B", Per: "s", Unavailable: "not counted here"},
		}}
	other := analyze.Case{Info: record.CaseInfo{ID: "new{chunk=4KiB}@p=1", Label: "new{chunk=4KiB}", Strategy: "new", Point: "p=1"}, Name: "new{chunk=4KiB}",
		Marks: []string{"receiver-limited (1 of 4)"},
		Cells: map[string]analyze.Cell{
			"cpu_per_msg": {Metric: "cpu_per_msg", Unit: "s", Per: "msg", Median: 1.25e-6, HasInterval: true, Lo: 1e-6, Hi: 1.5e-6, Level: 0.96875, N: 2,
				Samples: samples(1e-6), Marks: []string{analyze.MarkNearFloor},
				Effect: &analyze.Effect{Stat: analyze.Ratio, Estimate: 0.5, HasInterval: true, Lo: 0.25, Hi: 0.75, Level: 0.96875, P: 0.03125, N: 2, Pairs: samples(0.5)}},
			"go_allocs": {Metric: "go_allocs", Unit: "1", Per: "msg", Median: 0, N: 1, Exact: true, Den: 1000, Samples: samples(0)[:1],
				Effect: &analyze.Effect{Stat: analyze.Diff, Estimate: -0.5, N: 1, Zero: true, Exact: true}},
			"bytes_per_s": {Metric: "bytes_per_s", Unit: "B", Per: "s", Median: 1 << 30, N: 2, Samples: samples(1 << 30)},
		}}
	s := analyze.Scenario{Path: "r/result.jsonl", Info: record.ScenarioInfo{Name: "round-figures", Title: "Round figures", Blocks: 2, Alpha: 0.05, Digest: "ab12"},
		Tool: record.Tool{Version: "1.0.0", Go: "go1.26"}, Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 9,
		Environment: record.Environment{{Key: "arch", Value: "amd64"}, {Key: "cpu_model", Value: "Example"}},
		Metrics:     metrics, Columns: []string{"cpu_per_msg", "go_allocs", "bytes_per_s"}, Complete: true,
		Points: []analyze.Point{{Info: record.PointInfo{ID: "p=1"}, Cases: []analyze.Case{base, other}}}}
	return &analyze.Report{Scenarios: []analyze.Scenario{s}}
}

// awkward are reports at the edges of what a file may hold.
func awkward(t *testing.T) map[string]*analyze.Report {
	tiny := fixture.New(fixture.Spec{Blocks: 1, Repeats: 1, Messages: 50})
	same := fixture.Result()
	for i := range same.Trials {
		for name := range same.Trials[i].Record.Metrics {
			if !same.Trials[i].Record.Metrics[name].IsCount() {
				same.Trials[i].Record.Metrics[name] = record.Level(7e-6)
			}
		}
	}
	zero := fixture.Result()
	for i := range zero.Trials {
		if zero.Trials[i].Trial.Params["chunk"] == "64KiB" {
			for name := range zero.Trials[i].Record.Metrics {
				zero.Trials[i].Record.Metrics[name] = record.Level(0)
			}
		}
	}
	huge := plain()
	huge.Scenarios[0].Points[0].Cases[1].Cells["cpu_per_msg"] = analyze.Cell{Metric: "cpu_per_msg", Unit: "s", Median: math.Inf(1), N: 1,
		Samples: []analyze.Sample{{V: math.NaN()}}, Effect: &analyze.Effect{Stat: analyze.Ratio, Estimate: math.NaN(), N: 1}}
	return map[string]*analyze.Report{
		"one trial each": reportOf(t, tiny), "identical values": reportOf(t, same), "zero baseline": reportOf(t, zero), "not finite": huge,
		"no cases": reportOf(t, &record.Result{}), "nothing": {}, "several": reportOf(t, fixture.Sweep(), troubled()),
	}
}
