package guest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
)

// Started with the command of adapters this test binary is zcbench.
func init() {
	if len(os.Args) > 1 && os.Args[1] == harness.AdapterCommand {
		fmt.Fprintln(os.Stderr, harness.AdapterChild(os.Args[2:]))
		os.Exit(4)
	}
}

// adapterTrial is a trial of posts by an adapter in shell.
func adapterTrial(t *testing.T, name string, lines ...string) record.Trial {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+strings.Join(lines, "\n")+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	tr := trial(harness.Exec.Name)
	tr.ID, tr.Purpose, tr.Command = "exec{command="+name+"}/counting/1", record.Counting, []string{file, "two words"}
	tr.Workload = record.Workload{Kind: harness.KindPostRecv, Batch: 5, Bytes: 64}
	return tr
}

// answered is a good answer to adapterTrial, with more metrics.
func answered(tr record.Trial, metrics string) string {
	ops := tr.Messages * tr.Workload.Batch
	return fmt.Sprintf("cat >&3 <<'END'\n"+`{"schema":1,"trial":%q,"status":"ok","fingerprint":{"ops":%d,"bytes":%d,"sum":"0"},"window":{"ns":1000},"metrics":{%s}}`+"\nEND",
		tr.ID, ops, ops*64, metrics)
}

// An adapter runs in the guest as our own children do, and leaves the shim's
// report where the host reads it.
func TestExecutorRunsAdapters(t *testing.T) {
	e := newExecutor(t)
	e.Counts = func(report string) (*harness.Posts, error) {
		text, err := os.ReadFile(report)
		return &harness.Posts{Lane: harness.AllocCounts{Allocs: int64(len(text))}}, err
	}
	g, err := e.Guest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tr := adapterTrial(t, "good")
	good := answered(tr, `"heap_held_bytes":{"num":5,"den":1}`)
	tr = adapterTrial(t, "good", `test "$1" = "two words" || exit 9`, `grep -q '"id":"exec{command=good}' || exit 8`, "printf 1234567 > "+g.Report(), good)
	x := e.Run(t.Context(), tr)
	if x.Record.Status != record.OK {
		t.Fatalf("%s\n%s", x.Record.Error, x.Stderr)
	}
	if x.Record.Metrics["lane_allocs"] != record.Count(7, 100) || x.Record.Metrics["heap_held_bytes"].Num != 5 || !strings.Contains(x.Record.Placement, "guest") {
		t.Errorf("%+v", x.Record)
	}
	// The next one does not inherit the report.
	x = e.Run(t.Context(), adapterTrial(t, "good", good))
	if _, counted := x.Record.Metrics["lane_allocs"]; x.Record.Status != record.OK || counted {
		t.Errorf("a trial without a report: %+v", x.Record)
	}
}

func TestExecutorRefusesAdapters(t *testing.T) {
	e := newExecutor(t)
	for name, c := range map[string]struct {
		does         func(tr record.Trial) []string
		says, stderr string
	}{
		"garbage": {func(record.Trial) []string { return []string{"echo dear me >&2", "echo fast >&3"} }, "not the JSON expected", "dear me"},
		"invents": {func(tr record.Trial) []string { return []string{answered(tr, `"speed":{"v":1}`)} }, `metric "speed" is not one of`, ""},
		"repeats": {func(tr record.Trial) []string { return []string{answered(tr, ""), answered(tr, "")} }, "goes on behind the record", ""},
		"exits":   {func(tr record.Trial) []string { return []string{answered(tr, ""), "exit 7"} }, "exit status 7", ""},
		"hangs":   {func(record.Trial) []string { return []string{"sleep 1000"} }, "did not end within its 900 ms", ""},
	} {
		tr := adapterTrial(t, name)
		tr = adapterTrial(t, name, c.does(tr)...)
		if name == "hangs" {
			tr.DeadlineMS = 900
		}
		x := e.Run(t.Context(), tr)
		if x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, tr.ID) || !strings.Contains(x.Record.Error, c.says) || !strings.Contains(x.Stderr, c.stderr) {
			t.Errorf("%s: %s: %s\n%s", name, x.Record.Status, x.Record.Error, x.Stderr)
		}
	}
	if e.Boots() != 1 {
		t.Errorf("%d boots: a bad adapter cost the guest", e.Boots())
	}
	missing := adapterTrial(t, "missing")
	missing.Command[0] += "-not"
	if x := e.Run(t.Context(), missing); x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, "missing-not: no such file") {
		t.Errorf("a missing program: %s", x.Record.Error)
	}
}
