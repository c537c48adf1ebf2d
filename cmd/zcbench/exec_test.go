package main

import (
	"fmt"
	"math/bits"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl"
)

const rustLabel = "exec{label=guard-rust(no-post)}"

// build compiles an example adapter, or skips where its compiler is missing.
func build(t *testing.T, out, compiler string, args ...string) {
	t.Helper()
	cc, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("no %s: the adapter cannot be built", compiler)
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	if text, err := exec.CommandContext(t.Context(), cc, append(args, "-o", out)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

// receiveFile writes a scenario that compares epoll-read with adapters.
func receiveFile(t *testing.T, dir string, uses ...string) string {
	t.Helper()
	text := `schema: zcbench/v1
name: mine
title: Mine
question: Is mine as good?
kind: receive
workload: {clients: 2, sizes: {fixed: 512}, budget: 64KiB, load: {closed: 2}}
strategies:
  - name: epoll-read
` + strings.Join(uses, "\n") + `
baseline: {name: epoll-read}
measure: {blocks: 6, messages: 2000, counting_messages: 100, verify_messages: 100}
metrics: [messages_per_s, cpu_per_msg, syscalls, heap_allocs]
smoke:
  measure: {blocks: 1}
`
	file := filepath.Join(dir, "mine.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestMissingAdapterIsToldAtItsPlace(t *testing.T) {
	file := receiveFile(t, t.TempDir(), "  - {name: exec, command: [adapters/none]}")
	for _, args := range [][]string{{"validate", file}, {"run", file, "--smoke"}, {"run", file, "--dry-run"}} {
		r := zcbench(t, nil, "", args...)
		r.want(t, exitUsage)
		if !regexp.MustCompile(regexp.QuoteMeta(file) + `:9:28: there is no program adapters/none in `).MatchString(r.errOut) {
			t.Errorf("%s: %s", args[0], r.errOut)
		}
	}
	optional := receiveFile(t, t.TempDir(), "  - {name: exec, command: [adapters/none], optional: run make adapters}")
	zcbench(t, nil, "", "validate", optional).want(t, exitOK)
	if dry := zcbench(t, nil, "", "run", optional, "--dry-run"); !strings.Contains(dry.out, "case exec{command=none}  (skipped: there is no program adapters/none") {
		t.Errorf("the dry run says\n%s", dry.out)
	}
	dir := filepath.Join(t.TempDir(), "r")
	r := zcbench(t, nil, "", "run", optional, "--smoke", "--only", "counts", "-o", dir)
	r.want(t, exitOK)
	if s := readResult(t, dir).Skips; len(s) != 1 || s[0].Case != "exec{command=none}" || s[0].Remedy != "run make adapters" || !strings.Contains(unwrapped(r.out), "run make adapters") {
		t.Errorf("skips %+v\n%s", s, r.out)
	}
}

// An adapter is a row beside ours, its counts included.
func TestAdapterRun(t *testing.T) {
	dir := t.TempDir()
	build(t, filepath.Join(dir, "adapters", "epollrecv"), "cc", "-O2", "../../harness/adapters/epollrecv.c", "-ldl")
	file := receiveFile(t, dir, "  - {name: exec, command: [adapters/epollrecv]}", "  - {name: exec, command: [adapters/epollrecv], params: {label: again}}")
	r := zcbench(t, nil, "", "run", file, "--smoke", "-o", filepath.Join(dir, "r"))
	r.want(t, exitOK)
	res := readResult(t, filepath.Join(dir, "r"))
	counted := map[string]int{}
	for _, l := range res.Trials {
		if l.Trial.Strategy == "exec" && l.Trial.Purpose == record.Counting {
			if l.Record.Metrics["heap_allocs"] != record.Count(0, 100) || l.Record.Metrics["syscalls"].Num == 0 {
				t.Errorf("%s: %+v", l.Trial.ID, l.Record.Metrics)
			}
			counted[l.Trial.Case]++
		}
	}
	if len(counted) != 2 || counted["exec{command=epollrecv}"] != 3 || counted["exec{label=again}"] != 3 || res.Footer.Failed != 0 {
		t.Errorf("counted %v, %d trials failed", counted, res.Footer.Failed)
	}
}

// One that lies fails its trials by name, and ours are kept.
func TestLyingAdapterFails(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ answer, says string }{
		"nothing received": {`{\"schema\":1,\"trial\":\"$1\",\"status\":\"ok\",\"window\":{\"ns\":1}}`, "the work does not match"},
		"garbage":          {`so fast`, "is not the JSON expected"},
		"invented metric":  {`{\"schema\":1,\"trial\":\"$1\",\"status\":\"ok\",\"metrics\":{\"speed\":{\"v\":1}}}`, "speed"},
	} {
		t.Run(name, func(t *testing.T) {
			script := "#!/bin/sh\nset -- \"$(sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/')\"\necho \"" + c.answer + "\" >&3\n"
			if err := os.WriteFile(filepath.Join(dir, "liar"), []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			file := receiveFile(t, dir, "  - {name: exec, command: [./liar]}")
			out := filepath.Join(t.TempDir(), "r")
			r := zcbench(t, nil, "", "run", file, "--smoke", "-o", out)
			r.want(t, exitFailed)
			for _, l := range readResult(t, out).Trials {
				if adapter := l.Trial.Strategy == "exec"; adapter != (l.Record.Status == record.Failed) {
					t.Errorf("%s: %s %s", l.Trial.ID, l.Record.Status, l.Record.Error)
				} else if adapter && !strings.Contains(l.Record.Error, c.says) {
					t.Errorf("%s: %q, want %q", l.Trial.ID, l.Record.Error, c.says)
				}
			}
		})
	}
}

// The guard in Rust stands beside ours in the post-receive table, with the same
// allocations.
func TestRustGuardIsARow(t *testing.T) {
	needRDMA(t)
	dir := t.TempDir()
	build(t, filepath.Join(dir, "adapters", "guard-rs"), "rustc", "-C", "opt-level=3", "--edition", "2021", "../../harness/adapters/guard.rs")
	text, err := os.ReadFile("../../scenarios/rdma-post-recv.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "rdma-post-recv.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	r := zcbench(t, nil, "", "run", file, "--smoke", "--filter", "*guard*", "-o", filepath.Join(dir, "r"), "--require", "rdma")
	r.want(t, exitOK)
	res := readResult(t, filepath.Join(dir, "r"))
	if class, _ := res.Header.Environment.Get("class"); class != rdmaimpl.ClassGuest {
		t.Logf("measured on a device of class %q", class)
	}
	if len(res.Skips) != 0 || res.Footer.Failed != 0 || !strings.Contains(r.out, "guard-rust") {
		t.Fatalf("skips %+v, %d failed\n%s", res.Skips, res.Footer.Failed, r.out)
	}
	counts := map[string]string{}
	for _, l := range res.Trials {
		if l.Trial.Purpose != record.Counting || l.Trial.Strategy != "guard" && l.Trial.Strategy != "exec" {
			continue
		}
		var all string
		for _, name := range []string{"lane_allocs", "lane_reallocs", "lane_frees", "lane_alloc_bytes", "provider_allocs", "post_syscalls"} {
			all += fmt.Sprintf("%s %g ", name, l.Record.Metrics[name].Float64())
		}
		if first, ok := counts[l.Trial.Point]; ok && first != all {
			t.Errorf("%s: %s, elsewhere %s", l.Trial.ID, all, first)
		}
		counts[l.Trial.Point] = all
		if k := bits.Len(uint((l.Trial.Workload.Batch - 1) / 4)); !strings.Contains(all, fmt.Sprintf("lane_allocs 2 lane_reallocs %d lane_frees 2 ", 2*k)) {
			t.Errorf("%s: %s", l.Trial.ID, all)
		}
	}
	if len(counts) != 2 {
		t.Errorf("counts %v", counts)
	}
	if !strings.Contains(r.out, rustLabel[:20]) {
		t.Errorf("the table has no row %s:\n%s", rustLabel, r.out)
	}
}
