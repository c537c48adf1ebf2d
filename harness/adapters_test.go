package harness_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl"
)

// epollReceiver compiles the example adapter that receives.
func epollReceiver(t testing.TB) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: the example adapter cannot be built")
	}
	out := filepath.Join(t.TempDir(), "epollrecv")
	cmd := exec.CommandContext(t.Context(), cc, "-O2", "-Wall", "-Wextra", "-Werror", "-o", out, filepath.Join("adapters", "epollrecv.c"), "-ldl")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// underShim are processes whose counting trials of adapters run under the shim.
func underShim(t testing.TB) *harness.Processes {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The generator is this test binary too.
	t.Setenv("HARNESS_TEST_CHILD", "well")
	return &harness.Processes{
		Binary: self, Clock: record.Clock{Source: "monotonic", TicksHz: 1e9}, Registry: harness.Registry{harness.Exec}, Counts: rdmaimpl.ReadCounts,
		Extra: func(ctx context.Context, tr record.Trial, report string) ([]string, error) {
			p, err := rdmaimpl.PreloadOf(ctx, tr)
			p.Report = report
			return p.Env(), err
		},
	}
}

func receiveTrial(program string, purpose record.Purpose, l record.Load, messages int) record.Trial {
	w := record.Workload{
		Kind: record.KindReceive, Transport: "tcp", Clients: 3, Sizes: record.Sizes{Kind: "lognormal", Median: 2000, Sigma: 1.5, Max: 64 << 10},
		BudgetBytes: 64 << 10, Load: l, Assembly: "contiguous", Touch: "payload",
	}
	return record.Trial{
		Schema: record.Schema, ID: fmt.Sprintf(`exec{label="a \"b\""}/%s/%s`, purpose, l.Mode), Strategy: harness.Exec.Name, Purpose: purpose, Workload: w,
		Command: []string{program}, Seed: 1<<63 + 12345, Warmup: load.WarmupMessages(w), Messages: messages, CPU: -1, OtherCPU: -1, DeadlineMS: 30_000,
	}
}

// The example receives what the generator sends, under every load, and says so.
func TestEpollAdapterReceives(t *testing.T) {
	program := epollReceiver(t)
	p := underShim(t)
	for _, tr := range []record.Trial{
		receiveTrial(program, record.Timing, record.Load{Mode: "closed", Depth: 4}, 3000),
		receiveTrial(program, record.Timing, record.Load{Mode: "open", RateHz: 5000}, 1000),
		receiveTrial(program, record.Verify, record.Load{Mode: "closed", Depth: 2}, 500),
		receiveTrial(program, record.Counting, record.Load{Mode: load.Lockstep}, 200),
	} {
		x := p.Run(t.Context(), tr)
		if x.Record.Status != record.OK {
			t.Errorf("%s: %s\n%s", tr.ID, x.Record.Error, x.Stderr)
			continue
		}
		if want := load.NewSchedule(tr).Fingerprint(tr.Seed); x.Record.Fingerprint != want {
			t.Errorf("%s: %+v received, %+v sent", tr.ID, x.Record.Fingerprint, want)
		}
		checkReceiveFigures(t, tr, x)
	}
}

func checkReceiveFigures(t *testing.T, tr record.Trial, x harness.Execution) {
	t.Helper()
	m := x.Record.Metrics
	switch tr.Purpose {
	case record.Timing:
		seconds := float64(x.Record.Window.NS) / 1e9
		if rate := m["messages_per_s"].Float64(); rate <= 0 || rate*seconds < .99*float64(tr.Messages) || rate*seconds > 1.01*float64(tr.Messages) {
			t.Errorf("%s: %g messages/s over %g s", tr.ID, rate, seconds)
		}
		if cpu := m["cpu_per_msg"].Float64(); cpu <= 0 || cpu*float64(tr.Messages) > 1.1*seconds {
			t.Errorf("%s: %g s CPU a message over %g s", tr.ID, cpu, seconds)
		}
		if p50, p99 := m["latency_p50"].Float64(), m["latency_p99"].Float64(); p50 <= 0 || tr.Messages >= 1000 && p99 < p50 {
			t.Errorf("%s: latency %g s, %g s", tr.ID, p50, p99)
		}
	case record.Counting:
		if m["heap_allocs"] != record.Count(0, 200) || m["receives"].Num < 200 || m["syscalls"].Num < 400 {
			t.Errorf("%s: %+v", tr.ID, m)
		}
	}
}

// Two counting trials of one seed agree, as those of our own strategies do.
func TestEpollAdapterCountsRepeat(t *testing.T) {
	program := epollReceiver(t)
	p := underShim(t)
	var first map[string]record.Value
	for range 2 {
		x := p.Run(t.Context(), receiveTrial(program, record.Counting, record.Load{Mode: load.Lockstep}, 300))
		if x.Record.Status != record.OK {
			t.Fatalf("%s\n%s", x.Record.Error, x.Stderr)
		}
		for _, name := range []string{"syscalls", "receives", "copied_bytes", "heap_allocs"} {
			if first != nil && first[name] != x.Record.Metrics[name] {
				t.Errorf("%s: %+v, then %+v", name, first[name], x.Record.Metrics[name])
			}
		}
		first = x.Record.Metrics
	}
}

// It says what it cannot do, and what is not its work.
func TestEpollAdapterRefuses(t *testing.T) {
	program := epollReceiver(t)
	p := underShim(t)
	held := receiveTrial(program, record.Timing, record.Load{Mode: "closed", Depth: 2}, 100)
	held.Workload.HoldMessages = 4
	if x := p.Run(t.Context(), held); x.Record.Status != record.Skipped || !strings.Contains(x.Record.Error, "cannot hold") || x.Record.Remedy == "" {
		t.Errorf("a workload with hold: %s: %s", x.Record.Status, x.Record.Error)
	}
	other := receiveTrial(program, record.Timing, record.Load{}, 100)
	other.Workload.Kind = harness.KindPostRecv
	if x := p.Run(t.Context(), other); x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, "for kind receive") {
		t.Errorf("another kind: %s: %s", x.Record.Status, x.Record.Error)
	}
}
