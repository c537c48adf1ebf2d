package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/zcbench/zcbench/harness/childenv"
	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/sysinfo"
	"github.com/zcbench/zcbench/scenarios"
)

// Machine is what is found out once about the machine before anything is
// measured on it.
type Machine struct {
	Environment record.Environment
	Clock       record.Clock
	ClockCostNS float64
	Warnings    []string
	Placement   string // of trials that do not run on the CPUs the plan names
	Probe       *record.Probe
	Throttles   func() int64 // how often it was too hot so far; nil: it cannot tell
}

// Survey looks at the machine. It calibrates the clock, which takes about a
// tenth of a second.
func Survey(tool record.Tool) Machine {
	before := sysinfo.Snapshot("/")
	clk, why := clock.Choose("/", 100*time.Millisecond)
	env := sysinfo.With(sysinfo.Read("/"),
		sysinfo.Tool(tool.Version), priorityItem(), sysinfo.Busy(before, sysinfo.Snapshot("/")),
		record.EnvItem{Key: "clock", Value: fmt.Sprintf("%s at %.6g MHz: %s", clk.Source, clk.TicksHz/1e6, why)})
	return Machine{
		Throttles: func() int64 {
			n, err := sysinfo.Throttles("/")
			if err != nil {
				return 0 // the environment says why
			}
			return n
		},
		Environment: env, Warnings: append(sysinfo.Warnings(env), childenv.Warnings(os.Environ(), "/")...),
		Clock:       record.Clock{Source: clk.Source, TicksHz: clk.TicksHz},
		ClockCostNS: clk.CostNS(),
	}
}

// Capability reports whether the machine has what strategies need: reason is
// empty if it does.
func Capability(name string) (reason, remedy string) {
	if name == NeedsUring {
		if ok, reason, remedy := sysinfo.UringStatus("/"); !ok {
			return reason, remedy
		}
		return "", ""
	}
	return "this build has no " + name + " strategies", ""
}

// Campaign is one run of one plan into one result directory.
type Campaign struct {
	Plan     *Plan
	Registry Registry
	Exec     Executor
	Machine  Machine
	Tool     record.Tool
	Seed     uint64
	Dir      string // of the result; made if missing
	Probe    func(capability string) (reason, remedy string)
	Progress func(Event)
	Resume   bool // Dir holds an interrupted run of the same plan
	// For is how long the run goes on with further blocks behind the plan's; 0: it
	// does not.
	For time.Duration
}

// Run measures and returns the summary and the path of the result file.
func (c *Campaign) Run(ctx context.Context) (Summary, string, error) {
	// Children are tied to the thread that starts them.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if undo, err := raisePriority(); err == nil {
		defer undo()
	}
	path := filepath.Join(c.Dir, record.FileName)
	w, finished, err := c.open(path)
	if err != nil {
		return Summary{}, path, err
	}
	began := time.Now()
	var offset time.Duration
	if n := len(finished.Trials); n > 0 {
		offset = time.Duration(finished.Trials[n-1].EndedNS)
	}
	r := Runner{
		Plan: c.Plan, Registry: c.Registry, Exec: c.Exec, Out: w, Probe: c.Probe, Found: c.Machine.Probe, Progress: c.Progress, For: c.For,
		Since: func() time.Duration { return offset + time.Since(began) }, Finished: finished,
	}
	hot := c.throttles()
	sum, err := r.Run(ctx)
	if more := c.throttles() - hot; err == nil && more > 0 {
		err = w.Warning(fmt.Sprintf("The CPU was slowed down for heat %d times during the run: its timings depend on when they were taken. Give it air, or turn turbo off.", more))
	}
	if err != nil {
		return sum, path, errors.Join(err, w.Abandon())
	}
	return sum, path, w.Close(footer(sum))
}

// throttles is how often the machine was too hot so far; 0 where it cannot tell.
func (c *Campaign) throttles() int64 {
	if c.Machine.Throttles == nil {
		return 0
	}
	return c.Machine.Throttles()
}

func footer(sum Summary) record.Footer {
	f := record.Footer{Ended: time.Now().UTC(), Status: "complete", Trials: sum.Trials, Failed: sum.Failed, Invalid: sum.Invalid, ExtraBlocks: sum.ExtraBlocks}
	switch {
	case sum.Interrupted:
		f.Status = "interrupted"
	case f.Failed > 0:
		f.Status = "failed"
	}
	return f
}

// open makes the result file, or finds what an interrupted run has written.
func (c *Campaign) open(path string) (*record.Writer, *record.Result, error) {
	if c.Resume {
		return c.reopen(path)
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, nil, fmt.Errorf("make the result directory: %w", err)
	}
	w, err := record.Create(path, c.header())
	if err != nil {
		return nil, nil, err
	}
	for _, text := range slices.Concat(c.Machine.Warnings, c.Plan.Notes) {
		if err := w.Warning(text); err != nil {
			return nil, nil, errors.Join(err, w.Abandon())
		}
	}
	return w, &record.Result{}, nil
}

// reopen continues an interrupted result file of the same plan and machine.
func (c *Campaign) reopen(path string) (*record.Writer, *record.Result, error) {
	old, err := record.Read(path)
	if torn := errors.Is(err, record.ErrTruncated) && old.End > 0; err != nil && !torn {
		return nil, nil, err
	}
	want := c.header()
	if old.Header.Scenario.Digest != want.Scenario.Digest || old.Header.Scenario.Smoke != want.Scenario.Smoke {
		return nil, nil, fmt.Errorf("resume %s: the scenario has changed since; start a new run", path)
	}
	if old.Header.Tool != want.Tool {
		return nil, nil, fmt.Errorf("resume %s: it was begun by zcbench %s, this is %s; start a new run", path, toolText(old.Header.Tool), toolText(want.Tool))
	}
	if old.Header.Seed != want.Seed || old.Header.Planned != want.Planned || !sameCases(old.Header.Scenario.Cases, want.Scenario.Cases) {
		return nil, nil, fmt.Errorf("resume %s: it was run with seed %d and %d trials, this plan has seed %d and %d; give the same flags",
			path, old.Header.Seed, old.Header.Planned, want.Seed, want.Planned)
	}
	if old.Header.ForNS != want.ForNS {
		return nil, nil, fmt.Errorf("resume %s: it was run with --for %v, not %v; give the same flags", path, time.Duration(old.Header.ForNS), c.For)
	}
	if keys := old.Header.Environment.Mismatch(want.Environment, record.Sampled); len(keys) > 0 {
		return nil, nil, fmt.Errorf("resume %s: the machine has changed (%s); start a new run", path, strings.Join(keys, ", "))
	}
	w, err := record.Append(path, old.End)
	if err != nil {
		return nil, nil, err
	}
	return w, old, nil
}

func toolText(t record.Tool) string {
	return strings.TrimSpace(t.Version + " " + t.Commit + " " + t.Go)
}

func sameCases(a, b []record.CaseInfo) bool {
	return slices.EqualFunc(a, b, func(a, b record.CaseInfo) bool { return a.ID == b.ID })
}

func (c *Campaign) header() record.Header {
	sc := c.Plan.Scenario
	h := record.Header{
		Schema: record.Schema, Tool: c.Tool, Started: time.Now().UTC(), Seed: c.Seed,
		Environment: sysinfo.With(c.Machine.Environment, sysinfo.Placement(c.placement())),
		Metrics:     Metrics(sc.Kind), ClockCostNS: c.Machine.ClockCostNS, Planned: len(c.Plan.Trials), ForNS: c.For.Nanoseconds(), Probe: c.Machine.Probe,
		Scenario: record.ScenarioInfo{
			Name: sc.Name, Title: sc.Title, Question: sc.Question, File: filepath.Base(sc.File), Text: sc.Text, Digest: sc.Digest,
			Smoke: sc.IsSmoke, Alpha: sc.Measure.Alpha, Blocks: c.Plan.Blocks(), Baseline: c.Plan.Baseline,
			Metrics: sc.Metrics, Points: c.Plan.Points,
			Headline: record.Headline{A: c.label(sc.Headline.A), B: c.label(sc.Headline.B), Metrics: sc.Headline.Metrics, Plot: sc.Headline.Plot},
		},
	}
	for _, cs := range c.Plan.Cases {
		h.Scenario.Cases = append(h.Scenario.Cases, cs.CaseInfo)
	}
	for _, cl := range sc.Claims {
		h.Scenario.Claims = append(h.Scenario.Claims, record.Claim{
			ID: cl.ID, Text: cl.Text, Source: cl.Source, Kind: cl.Kind, Metric: cl.Metric, A: c.label(cl.A), B: c.label(cl.B),
			At: cl.At, Stat: cl.Stat, Expect: cl.Expect, By: cl.By, Needs: cl.Needs, Gate: cl.Gate,
		})
	}
	return h
}

// label is the label of the case that a reference named when the plan was checked.
func (c *Campaign) label(ref scenarios.CaseRef) string { return c.Plan.resolved[ref.Label()] }

func (c *Campaign) placement() string {
	if c.Machine.Placement != "" {
		return c.Machine.Placement
	}
	if len(c.Plan.Trials) == 0 {
		return "nothing runs"
	}
	return placement(c.Plan.Trials[0])
}
