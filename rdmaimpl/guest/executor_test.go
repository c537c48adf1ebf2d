package guest_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"github.com/zcbench/zcbench/rdmaimpl/guest/guesttest"
)

func newExecutor(t *testing.T) *guest.Executor {
	t.Helper()
	e := &guest.Executor{
		Options: guesttest.Options(t, guest.Options{MemBytes: testMem}),
		Clock:   record.Clock{Source: "monotonic", TicksHz: 1e9},
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func trial(strategy string) record.Trial {
	return record.Trial{
		Schema: record.Schema, ID: strategy + "/1", Strategy: strategy, Purpose: record.Floor, Seed: 1,
		Warmup: 10, Messages: 100, CPU: 1, OtherCPU: 0, DeadlineMS: 20000,
		Workload: record.Workload{
			Kind: "receive", Transport: "tcp", Clients: 1, Sizes: record.Sizes{Kind: "fixed", Bytes: 200},
			BudgetBytes: 1 << 16, Load: record.Load{Mode: "closed", Depth: 1}, Assembly: "contiguous", Touch: "header",
		},
	}
}

// Each trial is a fresh process; all share one boot.
func TestExecutorRunsTrials(t *testing.T) {
	e := newExecutor(t)
	for range 3 {
		x := e.Run(t.Context(), trial(harness.Null.Name))
		if x.Record.Status != record.OK {
			t.Fatalf("%s: %s\n%s", x.Record.Status, x.Record.Error, x.Stderr)
		}
		if x.Record.Fingerprint.Ops != 110 || !strings.Contains(x.Record.Placement, "one CPU of the guest") {
			t.Errorf("got %+v", x.Record)
		}
	}
	if e.Boots() != 1 {
		t.Errorf("%d boots for three trials", e.Boots())
	}
}

func TestExecutorPassesTheHostsClock(t *testing.T) {
	e := newExecutor(t)
	e.Clock = record.Clock{Source: "tsc", TicksHz: 2.5e9}
	x := e.Run(t.Context(), trial("clock"))
	if got := strings.Join(x.Record.Notes, " "); got != "tsc 2.5e+09 0" {
		t.Errorf("the trial was told %q, %s", got, x.Record.Error)
	}
}

// Whatever goes wrong names the trial, and the next one runs.
func TestExecutorNamesFailures(t *testing.T) {
	e := newExecutor(t)
	for strategy, want := range map[string]struct{ message, exit, stderr string }{
		"crash":   {"ended by signal: killed", "signal", "about to crash"},
		"exit":    {"exit status 3", "exit status 3", ""},
		"garbage": {"not a record", "", ""},
		"other":   {`record of trial "another"`, "", ""},
		"hang":    {"did not end within its 1000 ms", "signal", ""},
	} {
		spec := trial(strategy)
		if strategy == "hang" {
			spec.DeadlineMS = 1000
		}
		x := e.Run(t.Context(), spec)
		if x.Record.Status != record.Failed || x.Record.Trial != spec.ID ||
			!strings.Contains(x.Record.Error, spec.ID) || !strings.Contains(x.Record.Error, want.message) {
			t.Errorf("%s: %s: %s", strategy, x.Record.Status, x.Record.Error)
		}
		if !strings.Contains(x.Exit, want.exit) || !strings.Contains(x.Stderr, want.stderr) {
			t.Errorf("%s: exit %q, standard error %q", strategy, x.Exit, x.Stderr)
		}
	}
	if x := e.Run(t.Context(), trial(harness.Null.Name)); x.Record.Status != record.OK {
		t.Errorf("after the failures: %s", x.Record.Error)
	}
	if e.Boots() != 1 {
		t.Errorf("%d boots: a failed trial cost the guest", e.Boots())
	}
}

func TestExecutorRestartsAKilledGuest(t *testing.T) {
	e := newExecutor(t)
	g, err := e.Guest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan harness.Execution, 1)
	go func() { done <- e.Run(context.Background(), trial("hang")) }()
	time.Sleep(300 * time.Millisecond)
	if err := killHard(g.PID()); err != nil {
		t.Fatal(err)
	}
	x := <-done
	if x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, "hang/1") || !strings.Contains(x.Record.Error, "the guest is gone: its kernel was ended by signal: killed") {
		t.Errorf("%s: %s", x.Record.Status, x.Record.Error)
	}
	mustLeaveNothing(t, g.PID(), runDir(g))
	if x := e.Run(t.Context(), trial(harness.Null.Name)); x.Record.Status != record.OK || e.Boots() != 2 {
		t.Errorf("after the kill, boot %d: %s: %s", e.Boots(), x.Record.Status, x.Record.Error)
	}
}

func TestExecutorIsInterrupted(t *testing.T) {
	e := newExecutor(t)
	if _, err := e.Guest(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(300*time.Millisecond, cancel)
	if x := e.Run(ctx, trial("hang")); x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, "was interrupted") {
		t.Errorf("%s: %s", x.Record.Status, x.Record.Error)
	}
}

func TestExecutorRunsOtherBuilds(t *testing.T) {
	e := newExecutor(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	e.Builds = map[string]string{"new": self}
	spec := trial(harness.Null.Name)
	spec.Build = "new"
	if x := e.Run(t.Context(), spec); x.Record.Status != record.OK {
		t.Errorf("build new: %s", x.Record.Error)
	}
	spec.Build = "old"
	if x := e.Run(t.Context(), spec); !strings.Contains(x.Record.Error, `no binary for the build "old"`) {
		t.Errorf("build old: %s: %s", x.Record.Status, x.Record.Error)
	}
}

func TestExecutorWithoutKernel(t *testing.T) {
	e := &guest.Executor{Options: guest.Options{CacheDir: t.TempDir()}}
	if x := e.Run(t.Context(), trial("null")); x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, "zcbench guest build") {
		t.Errorf("%s: %s", x.Record.Status, x.Record.Error)
	}
}
