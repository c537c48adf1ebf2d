package uringimpl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"golang.org/x/sys/unix"
)

const (
	comparePairs    = 16 // an even number: each side goes first as often as the other
	compareChunk    = 4 << 10
	compareMessages = 60_000
)

// compareWorkloads are what ring-fixed and its twin in C are compared on.
func compareWorkloads() map[string]record.Workload {
	lognormal := wild()
	lognormal.Clients, lognormal.Load.Depth = 16, 16
	fixed := lognormal
	fixed.Sizes = record.Sizes{Kind: "fixed", Bytes: 4096}
	return map[string]record.Workload{"lognormal": lognormal, "fixed": fixed}
}

// yield is what one side made of a window.
type yield struct {
	bytes, cpuNS, wallNS int64
	enters               int64
}

func (y yield) bytesPerCPU() float64 { return float64(y.bytes) / (float64(y.cpuNS) / 1e9) }

// BenchmarkCompareC runs ring-fixed with 4 KiB chunks and multishot receives
// against the same loop in C (bench/ringfixed.c), in pairs that take turns at
// going first, and gives the ratio of bytes per second of CPU, Go over C, with
// the exact 95 % signed-rank interval. Run it on a quiet machine:
//
//	go test ./uringimpl -run '^$' -bench CompareC -benchtime 1x
//
// With a CPU for each, the receiver sleeps whenever it is ahead of the generator,
// and how often it does is half of the cost: that ratio needs a quiet machine.
// With one CPU for both, the generator fills the sockets while the receiver is
// off: the work itself is compared.
func BenchmarkCompareC(b *testing.B) {
	program := buildC(b)
	for _, name := range []string{"fixed", "lognormal"} {
		for _, other := range []int{0, 1} {
			b.Run(fmt.Sprintf("%s/cpus=%d", name, other+1), func(b *testing.B) {
				if other >= runtime.NumCPU() {
					b.Skip("one CPU only")
				}
				for range b.N {
					comparePaired(b, program, compareWorkloads()[name], other)
				}
			})
		}
	}
}

func comparePaired(b *testing.B, program string, w record.Workload, other int) {
	sides := [...]func(testing.TB, record.Trial) yield{
		runGo,
		func(b testing.TB, tr record.Trial) yield { return runC(b, program, tr) },
	}
	var logs []float64
	var last [2]yield
	for pair := range comparePairs {
		tr := newTrial(ringFixed.Name, map[string]string{"chunk": "4KiB"}, w, record.Timing, compareMessages)
		tr.Seed = uint64(pair)
		tr.CPU, tr.OtherCPU = 0, other
		first := pair % 2
		for _, side := range [...]int{first, 1 - first} {
			last[side] = sides[side](b, tr)
		}
		logs = append(logs, math.Log(last[0].bytesPerCPU()/last[1].bytesPerCPU()))
		fmt.Printf("pair %2d: Go %.0f MB, C %.0f MB per second of CPU, ratio %.3f; %.3f and %.3f calls a message; %.0f and %.0f ms\n", pair,
			last[0].bytesPerCPU()/1e6, last[1].bytesPerCPU()/1e6, math.Exp(logs[pair]), perMessage(last[0]), perMessage(last[1]),
			float64(last[0].wallNS)/1e6, float64(last[1].wallNS)/1e6)
	}
	e := analyze.HodgesLehmann(logs, 0.05)
	b.Logf("Go/C in bytes per second of CPU: %.3f [%.3f, %.3f], %d pairs", math.Exp(e.Value), math.Exp(e.Lo), math.Exp(e.Hi), len(logs))
	b.ReportMetric(math.Exp(e.Value), "go/c")
	b.ReportMetric(math.Exp(e.Lo), "go/c-low")
	b.ReportMetric(math.Exp(e.Hi), "go/c-high")
	b.ReportMetric(0, "ns/op")
}

func perMessage(y yield) float64 { return float64(y.enters) / compareMessages }

// buildC compiles the twin; without a compiler there is nothing to compare with.
func buildC(b testing.TB) string {
	b.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		b.Skip("no gcc to build the loop in C with")
	}
	bin := filepath.Join(b.TempDir(), "ringfixed")
	if out, err := exec.Command(gcc, "-O2", "-Wall", "-Wextra", "-o", bin, "bench/ringfixed.c").CombinedOutput(); err != nil {
		b.Fatalf("gcc: %v\n%s", err, out)
	}
	return bin
}

// runSide runs a receiver in a process of its own against a generator in this
// one, on the trial's other CPU, and returns what the receiver answers on fd 3.
// command gets the trial with the generator's address.
func runSide(b testing.TB, tr record.Trial, command func(record.Trial) *exec.Cmd) []byte {
	b.Helper()
	progress, err := load.NewProgressFile(tr.Workload.Clients)
	if err != nil {
		b.Fatal(err)
	}
	defer progress.Close()
	ln, err := load.Listen("tcp")
	if err != nil {
		b.Fatal(err)
	}
	defer ln.Close()
	tr.Peer.Address = ln.Addr().String()
	theirs, err := load.MapProgress(int(progress.Fd()), tr.Workload.Clients)
	if err != nil {
		b.Fatal(err)
	}
	defer theirs.Close()
	sent := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: its CPU and priority are the trial's
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
		_, err := load.Generate(tr, ln, theirs)
		sent <- err
	}()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	cmd := command(tr)
	cmd.ExtraFiles = []*os.File{w, progress}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err = startRaised(cmd)
	w.Close()
	if err != nil {
		b.Fatal(err)
	}
	answer := new(bytes.Buffer)
	_, err = answer.ReadFrom(r)
	if err := errors.Join(err, cmd.Wait(), <-sent); err != nil {
		b.Fatalf("%v\n%s", err, stderr.String())
	}
	return answer.Bytes()
}

// startRaised starts a command at the priority of measured processes, where
// that is allowed.
func startRaised(cmd *exec.Cmd) error {
	errs := make(chan error)
	go func() {
		runtime.LockOSThread() // for good
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -20)
		errs <- cmd.Start()
	}()
	return <-errs
}

// checkWork compares the work a side did with what its seed says.
func checkWork(b testing.TB, tr record.Trial, got record.Fingerprint) {
	b.Helper()
	if want := load.NewSchedule(tr).Fingerprint(tr.Seed); got != want {
		b.Fatalf("work %+v, want %+v", got, want)
	}
}

func runGo(b testing.TB, tr record.Trial) yield {
	b.Helper()
	out := runSide(b, tr, func(tr record.Trial) *exec.Cmd {
		text, err := json.Marshal(tr)
		if err != nil {
			b.Fatal(err)
		}
		binary, err := os.Executable()
		if err != nil {
			b.Fatal(err)
		}
		cmd := exec.Command(binary, harness.TrialCommand, tr.ID)
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1") // as zcbench starts it
		cmd.Stdin = bytes.NewReader(text)
		return cmd
	})
	var rec record.Record
	if err := json.Unmarshal(out, &rec); err != nil || rec.Status != record.OK {
		b.Fatalf("%v %s: %s", err, rec.Status, rec.Error)
	}
	checkWork(b, tr, rec.Fingerprint)
	var window int64
	for _, size := range load.NewSchedule(tr).Size[tr.Warmup:] {
		window += int64(size)
	}
	cpu := rec.Metrics["cpu_per_msg"].Float64() * float64(tr.Messages) * 1e9
	return yield{bytes: window, cpuNS: int64(cpu), wallNS: rec.Window.NS, enters: rec.Window.Syscalls}
}

func runC(b testing.TB, program string, tr record.Trial) yield {
	b.Helper()
	w := tr.Workload
	out := runSide(b, tr, func(tr record.Trial) *exec.Cmd {
		var port int
		if _, err := fmt.Sscanf(tr.Peer.Address, "127.0.0.1:%d", &port); err != nil {
			b.Fatal(err)
		}
		return exec.Command(program, strconv.Itoa(port), tr.Peer.Token, strconv.Itoa(w.Clients),
			strconv.FormatUint(tr.Seed, 10), strconv.Itoa(tr.Warmup), strconv.Itoa(tr.Messages), strconv.Itoa(compareChunk),
			strconv.FormatInt(w.BudgetBytes/compareChunk, 10), strconv.Itoa(tr.CPU), strconv.FormatInt(load.Largest(w.Sizes), 10))
	})
	var got struct {
		record.Fingerprint
		WindowBytes int64 `json:"window_bytes"`
		CPUNS       int64 `json:"cpu_ns"`
		WallNS      int64 `json:"wall_ns"`
		Enters      int64 `json:"enters"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		b.Fatalf("%q: %v", out, err)
	}
	checkWork(b, tr, got.Fingerprint)
	return yield{bytes: got.WindowBytes, cpuNS: got.CPUNS, wallNS: got.WallNS, enters: got.Enters}
}
