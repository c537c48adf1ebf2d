//go:build cgo && !noverbs

package rdmaimpl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// laneCommand makes this test binary run the guard lane on the null device.
const laneCommand = "guard-lane"

// Started with zcbench's command for adapters this test binary is zcbench.
func init() {
	if len(os.Args) < 3 {
		return
	}
	var err error
	switch os.Args[1] {
	case harness.AdapterCommand:
		err = harness.AdapterChild(os.Args[2:])
	case laneCommand:
		err = guardLane(os.Args[2], os.Args[3:])
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	os.Exit(0)
}

// laneFigures are what one window of the guard lane gives: counts of all its posts
// under the shim, else ticks a work request.
type laneFigures struct {
	Counts             shim.Side
	Build, Drop, Total float64
}

// guardLane runs windows of the guard lane, one for each batch size, and prints
// their figures.
func guardLane(posts string, batches []string) error {
	n, err := strconv.Atoi(posts)
	if err != nil {
		return err
	}
	ctx, err := verbs.OpenNull()
	if err != nil {
		return err
	}
	var all []laneFigures
	for _, b := range batches {
		batch, err := strconv.Atoi(b)
		if err != nil {
			return err
		}
		f, err := guardWindow(ctx, n, batch)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	return errors.Join(json.NewEncoder(os.Stdout).Encode(all), ctx.Close())
}

func guardWindow(ctx *verbs.Context, posts, batch int) (f laneFigures, err error) {
	w, err := ctx.OpenWindow(verbs.Config{Lane: verbs.RecvGuard, Batch: batch, Bytes: 64, Batches: (posts + 1) / 2, Totals: posts / 2})
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Warm(); err != nil {
		return f, err
	}
	r, err := w.Run()
	if err != nil {
		return f, err
	}
	if r.Counts != nil {
		f.Counts = r.Counts.Lane
	}
	each := func(span func(verbs.Lap) uint64) float64 {
		return (median(r.Laps, func(l verbs.Lap) float64 { return float64(span(l)) }) - float64(r.ClockTicks)) / float64(batch)
	}
	f.Build, f.Drop = each(func(l verbs.Lap) uint64 { return l.Build }), each(func(l verbs.Lap) uint64 { return l.Drop })
	f.Total = median(r.Totals, func(v verbs.Total) float64 { return float64(v.Ticks) / float64(v.Batches*batch) })
	return f, nil
}

// runLane runs guardLane in a process of its own.
func runLane(t testing.TB, env []string, posts int, batches ...int) []laneFigures {
	t.Helper()
	args := []string{laneCommand, strconv.Itoa(posts)}
	for _, b := range batches {
		args = append(args, strconv.Itoa(b))
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "GODEBUG=asyncpreemptoff=1"), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	var all []laneFigures
	if err == nil {
		err = json.Unmarshal(out, &all)
	}
	if err != nil || len(all) != len(batches) {
		t.Fatalf("guard lane: %v: %s", err, out)
	}
	return all
}

// rustGuard compiles the guard in Rust.
func rustGuard(t testing.TB) string {
	t.Helper()
	if _, err := verbs.OpenNull(); err != nil {
		t.Skip(err)
	}
	rustc, err := exec.LookPath("rustc")
	if err != nil {
		t.Skip("no rustc: the guard in Rust cannot be built")
	}
	out := filepath.Join(t.TempDir(), "guard-rs")
	source := filepath.Join("..", "harness", "adapters", "guard.rs")
	cmd := exec.CommandContext(t.Context(), rustc, "-C", "opt-level=3", "-C", "panic=abort", "--edition", "2021", "-D", "warnings", "-o", out, source)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// runRust runs one trial of the guard in Rust as an adapter.
func runRust(t testing.TB, program string, purpose record.Purpose, posts, batch, sges int) record.Record {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	clk, _ := clock.Choose("/", time.Millisecond)
	p := &harness.Processes{
		Binary: self, Clock: record.Clock{Source: clk.Source, TicksHz: clk.TicksHz}, Registry: harness.Registry{harness.Exec}, Counts: ReadCounts,
		Extra: func(ctx context.Context, tr record.Trial, report string) ([]string, error) {
			p, err := PreloadOf(ctx, tr)
			p.Report = report
			return p.Env(), err
		},
	}
	x := p.Run(context.WithoutCancel(t.Context()), record.Trial{
		Schema: record.Schema, ID: fmt.Sprintf("exec{label=rust}@batch=%d/%s", batch, purpose), Strategy: harness.Exec.Name, Purpose: purpose,
		Command: []string{program}, Warmup: max(1, posts/10), Messages: posts, CPU: -1, DeadlineMS: 60_000,
		Workload: record.Workload{Kind: harness.KindPostRecv, Batch: batch, SGEs: sges, Bytes: 64, Buffers: "hot"},
	})
	if x.Record.Status != record.OK {
		t.Fatalf("%s: %s\n%s", x.Record.Status, x.Record.Error, x.Stderr)
	}
	return x.Record
}

// The real Vec allocates what our lane does, and what the table of the discussed
// guard says: two arrays, k reallocations of each, 48 S bytes.
func TestRustGuardCountsEqualTheLane(t *testing.T) {
	const posts, most = 3, 256
	program := rustGuard(t)
	path, err := shim.Path(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var batches []int
	for n := 1; n <= most; n++ {
		batches = append(batches, n)
	}
	lane := runLane(t, shim.Env(path, "", ""), posts, batches...)
	for i, n := range batches {
		k, s := growth(n)
		table := shim.Side{Allocs: 2, Reallocs: 2 * k, Frees: 2, RequestedBytes: 48 * s}
		checkRust(t, runRust(t, program, record.Counting, posts, n, 1), n, 1, posts, table)
		want := shim.Side{Allocs: posts * table.Allocs, Reallocs: posts * table.Reallocs, Frees: posts * table.Frees, RequestedBytes: posts * table.RequestedBytes}
		if lane[i].Counts != want {
			t.Errorf("the guard lane, batch %d: %+v, the table says %+v", n, lane[i].Counts, want)
		}
	}
	for _, n := range []int{1, 2, 3, 5, 17, 33, 128} {
		for _, g := range []int{2, 4} {
			k, s := growth(n)
			kg, sg := growth(n * g)
			checkRust(t, runRust(t, program, record.Counting, posts, n, g), n, g, posts,
				shim.Side{Allocs: 2, Reallocs: k + kg, Frees: 2, RequestedBytes: 32*s + 16*sg})
		}
	}
}

// growth is how often a Vec of n small elements grows after its first room for
// four, and how many elements it asks for in all.
func growth(n int) (k, s uint64) {
	last := uint64(4)
	for s = 4; last < uint64(n); k++ {
		last *= 2
		s += last
	}
	return k, s
}

func checkRust(t *testing.T, rec record.Record, n, sges, posts int, table shim.Side) {
	t.Helper()
	for name, want := range map[string]uint64{
		"lane_allocs": table.Allocs, "lane_reallocs": table.Reallocs, "lane_frees": table.Frees, "lane_alloc_bytes": table.RequestedBytes,
		"provider_allocs": 0, "post_syscalls": 0,
	} {
		if got := rec.Metrics[name]; got != record.Count(int64(want)*int64(posts), int64(posts)) {
			t.Errorf("the guard in Rust, batch %d of %d SGEs: %s is %+v, the table says %d a post", n, sges, name, got, want)
		}
	}
}

// A verify trial checks what the stand-in was given; it cannot be used otherwise.
func TestRustGuardVerifies(t *testing.T) {
	program := rustGuard(t)
	for _, purpose := range []record.Purpose{record.Verify, record.Timing} {
		rec := runRust(t, program, purpose, 50, 33, 2)
		if purpose == record.Verify && rec.Fingerprint != (record.Fingerprint{}) || len(rec.Notes) == 0 {
			t.Errorf("%s: %+v", purpose, rec)
		}
		_, timed := rec.Metrics["total_per_wr"]
		if _, reason := rec.Unavailable["post_per_wr"]; timed != (purpose == record.Timing) || reason != timed {
			t.Errorf("%s trial: metrics %v, unavailable %v", purpose, rec.Metrics, rec.Unavailable)
		}
	}
}

// ratios are the times of the guard in Rust over those of our lane on the null
// device, whose post does what the stand-in does: medians of fresh processes that
// run in turn, with the ends of their 95% intervals.
type ratios struct{ total, parts spread }

type spread struct{ median, low, high float64 }

func rustOverLane(t testing.TB, program string, batch, rounds int) ratios {
	t.Helper()
	const posts = 20_000
	var total, parts []float64
	clk, _ := clock.Choose("/", 50*time.Millisecond)
	for range rounds {
		rust := runRust(t, program, record.Timing, posts, batch, 1).Metrics
		lane := runLane(t, nil, posts, batch)[0]
		seconds := func(ticks float64) float64 { return ticks / clk.TicksHz }
		total = append(total, rust["total_per_wr"].Float64()/seconds(lane.Total))
		parts = append(parts, (rust["build_per_wr"].Float64()+rust["drop_per_wr"].Float64())/seconds(lane.Build+lane.Drop))
	}
	return ratios{spreadOf(total), spreadOf(parts)}
}

// spreadOf takes the ends of the interval by a binomial's 97.5% point.
func spreadOf(v []float64) spread {
	slices.Sort(v)
	n := float64(len(v))
	rank := min(int(math.Ceil(n/2+0.98*math.Sqrt(n))), len(v)-1)
	return spread{v[len(v)/2], v[len(v)-1-rank], v[rank]}
}

// The lane stands for the real Vec: they do the same, so neither takes twice the
// other's time. How close they are depends on the CPU (0.75 to 1.01 on two kinds of
// EPYC) and is for BenchmarkRustOverGuard to tell. What a busy machine leaves open
// is not held against either.
func TestRustGuardTakesTheLanesTime(t *testing.T) {
	if testing.Short() {
		t.Skip("times are not compared in short runs")
	}
	program := rustGuard(t)
	for _, n := range []int{5, 33, 128} {
		if r := rustOverLane(t, program, n, 11).total; r.low > 2 || r.high < .5 {
			t.Errorf("batch %d: the guard in Rust takes %.3f times as long as the lane [%.3f, %.3f]", n, r.median, r.low, r.high)
		}
	}
}

// BenchmarkRustOverGuard tells the ratios the test above bounds.
func BenchmarkRustOverGuard(b *testing.B) {
	program := rustGuard(b)
	for _, n := range []int{1, 5, 33, 128} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			for b.Loop() {
				r := rustOverLane(b, program, n, 25)
				for name, s := range map[string]spread{"total": r.total, "build+drop": r.parts} {
					b.ReportMetric(s.median, name)
					b.ReportMetric(s.low, name+"_low")
					b.ReportMetric(s.high, name+"_high")
				}
			}
		})
	}
}
