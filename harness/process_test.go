package harness

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// processes runs children of this test binary. The thread is kept: children die
// with the thread that starts them.
func processes(t *testing.T) *Processes {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &Processes{Binary: self, Clock: record.Clock{Source: "monotonic", TicksHz: 1e9}, Registry: childRegistry()}
}

// behave runs one trial by children that behave in a certain way.
func behave(t *testing.T, ctx context.Context, how string, tr record.Trial) Execution {
	t.Helper()
	t.Setenv(childVar, how)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // else each child of a race build lingers for a second
	p := processes(t)
	return p.Run(ctx, tr)
}

// openFiles lists the descriptors of this process and what they are.
func openFiles(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if at, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && !strings.Contains(at, "/fd") {
			out = append(out, e.Name()+" "+at)
		}
	}
	return out
}

// children lists the processes this one has, zombies too.
func children(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil || len(files) == 0 {
		t.Skipf("this kernel does not list children: %v", err)
	}
	var out []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil { // a thread may have ended
			out = append(out, strings.Fields(string(b))...)
		}
	}
	return out
}

func nullTrial() record.Trial { return trialOf("null", workload(), record.Timing, 100) }

func readerTrial(purpose record.Purpose) record.Trial {
	return trialOf("reader", workload(), purpose, 200)
}

// misbehaviour is a way for children to fail, and what must be said of it.
type misbehaviour struct {
	how    string
	says   string
	stderr string
	exit   string
}

func (m misbehaviour) check(t *testing.T, tr record.Trial, x Execution) {
	t.Helper()
	if x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, m.says) {
		t.Errorf("%s: %s, %q; want it failed, %q", m.how, x.Record.Status, x.Record.Error, m.says)
	}
	if x.Record.Trial != tr.ID {
		t.Errorf("%s: the record names %q", m.how, x.Record.Trial)
	}
	if m.how != "fails by itself" && !strings.Contains(x.Record.Error, tr.ID) {
		t.Errorf("%s: %q does not name the trial", m.how, x.Record.Error)
	}
	if !strings.Contains(x.Stderr, m.stderr) || len(x.Stderr) > tailBytes {
		t.Errorf("%s: %d bytes of log %.80q, want %q", m.how, len(x.Stderr), x.Stderr, m.stderr)
	}
	if x.Exit != m.exit {
		t.Errorf("%s: exit %q, want %q", m.how, x.Exit, m.exit)
	}
}

func TestChildMisbehaves(t *testing.T) {
	behave(t, context.Background(), "well", nullTrial()) // so that what Go opens once is open
	files := openFiles(t)
	for _, m := range []misbehaviour{
		{"exits 3", "ended with exit status 3", "the ring is on fire", "exit status 3"},
		{"exits before it reads its trial", "ended with exit status 3", "", "exit status 3"},
		{"exits 0 without an answer", "no answer on fd 3", "", ""},
		{"garbage", "not the JSON expected", "here comes garbage", ""},
		{"garbage and hangs", "not the JSON expected", "", ""},
		{"half an answer", "not the JSON expected", "", ""},
		{"record of another trial", `record of trial "someone/else"`, "", ""},
		{"infinite metric", "1e999", "", ""},
		{"answers and exits 3", "ended with exit status 3", "", "exit status 3"},
		{"writes 100 MB", "longer than", "flood: ", "exit status 4"},
		{"closes fd 3 and hangs", "no answer on fd 3", "", ""},
		{"fails by itself", "payload byte 9 is wrong", "the details", ""},
	} {
		t.Run(m.how, func(t *testing.T) {
			tr := nullTrial()
			x := behave(t, context.Background(), m.how, tr)
			m.check(t, tr, x)
			if left := children(t); len(left) > 0 {
				t.Errorf("children are left: %v", left)
			}
		})
	}
	if now := openFiles(t); !slices.Equal(now, files) {
		t.Errorf("open files\n%q, before\n%q", now, files)
	}
}

// A child may answer that it cannot run before it has read all of its trial,
// which here is more than a pipe takes.
func TestChildAnswersEarly(t *testing.T) {
	tr := nullTrial()
	tr.Params = map[string]string{"long": strings.Repeat("x", 1<<20)}
	x := behave(t, context.Background(), "answers without reading its trial", tr)
	if x.Record.Status != record.Failed || x.Record.Error != "this cannot run here" || x.Exit != "" {
		t.Errorf("%s, %q, exit %q", x.Record.Status, x.Record.Error, x.Exit)
	}
}

// A log of any length leaves its end.
func TestChildLogIsCut(t *testing.T) {
	x := behave(t, context.Background(), "logs 100 MB", nullTrial())
	if x.Record.Status != record.OK || x.Stderr != "" {
		t.Errorf("%s, %s, %d bytes of log: a trial may log what it likes", x.Record.Status, x.Record.Error, len(x.Stderr))
	}
	var tl tail
	for i := range 5000 {
		if _, err := tl.Write([]byte(strconv.Itoa(i) + "\xff\n")); err != nil {
			t.Fatal(err)
		}
	}
	if s := tl.String(); !strings.HasSuffix(s, "4998?\n4999?\n") || len(s) != tailBytes {
		t.Errorf("the tail is %d bytes and ends in %q", len(s), s[len(s)-20:])
	}
}

func TestChildHangs(t *testing.T) {
	for _, m := range []misbehaviour{
		{"hangs", "did not end within its 400 ms and was killed", "waiting for godot", "signal: killed"},
		{"answers and hangs", "did not end within its 400 ms and was killed", "", "signal: killed"},
		{"generator hangs", "the generator did not say where it listens", "", ""},
	} {
		t.Run(m.how, func(t *testing.T) {
			tr := readerTrial(record.Timing)
			tr.DeadlineMS = 400
			if m.how == "hangs" {
				tr = nullTrial()
				tr.DeadlineMS = 400
			}
			m.check(t, tr, behave(t, context.Background(), m.how, tr))
			if left := children(t); len(left) > 0 {
				t.Errorf("children are left: %v", left)
			}
		})
	}
}

func TestChildIsKilledByPID(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	t.Setenv(childVar+"_PID", file)
	killed := make(chan error, 1)
	go func() {
		for {
			b, err := os.ReadFile(file)
			if pid, bad := strconv.Atoi(string(b)); err == nil && bad == nil {
				killed <- syscall.Kill(pid, syscall.SIGKILL)
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	tr := readerTrial(record.Timing)
	m := misbehaviour{"is killed by pid", "ended with signal: killed", "", "signal: killed"}
	m.check(t, tr, behave(t, context.Background(), m.how, tr))
	if err := <-killed; err != nil {
		t.Fatal(err)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
}

func TestTrialIsInterrupted(t *testing.T) {
	// Whatever the processes are at: starting, or deep in the trial.
	for _, after := range []time.Duration{time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(after, cancel)
		tr := readerTrial(record.Timing)
		x := behave(t, ctx, "hangs", tr)
		if x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, tr.ID+" was interrupted") {
			t.Errorf("after %v: %s: %s", after, x.Record.Status, x.Record.Error)
		}
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("children are left: %v", left)
	}
}

func TestGeneratorMisbehaves(t *testing.T) {
	behave(t, context.Background(), "well", readerTrial(record.Timing))
	files := openFiles(t)
	for _, m := range []misbehaviour{
		{"generator exits 3", "the generator did not say where it listens: its process ended with exit status 3", "no sockets left", ""},
		{"generator prints garbage", "the generator did not say where it listens: answer on fd 3 is not", "", ""},
		{"generator gives no address", "it gave no address", "", ""},
		{"generator gives no report", "the generator gave no report: its process ended with exit status 5", "forgot it", ""},
		{"generator gives an empty report", "its last line holds none", "", ""},
		{"generator fails", "the generator failed: out of order", "", ""},
	} {
		t.Run(m.how, func(t *testing.T) {
			tr := readerTrial(record.Timing)
			m.check(t, tr, behave(t, context.Background(), m.how, tr))
			if left := children(t); len(left) > 0 {
				t.Errorf("children are left: %v", left)
			}
		})
	}
	if now := openFiles(t); !slices.Equal(now, files) {
		t.Errorf("open files\n%q, before\n%q", now, files)
	}
}

func TestNoSuchBinary(t *testing.T) {
	p := processes(t)
	p.Binary = filepath.Join(t.TempDir(), "none")
	for _, tr := range []record.Trial{nullTrial(), readerTrial(record.Timing)} {
		if x := p.Run(context.Background(), tr); x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, tr.ID) || !strings.Contains(x.Record.Error, "none") {
			t.Errorf("%s: %s", x.Record.Status, x.Record.Error)
		}
	}
}

func TestChildEnvironment(t *testing.T) {
	for _, k := range []string{"GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK", "LC_ALL"} {
		t.Setenv(k, "x")
	}
	t.Setenv("LD_PRELOAD", "/tmp/spy.so")
	if env := childEnvironment(); slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "LD_PRELOAD") }) {
		t.Error("what the user preloads is preloaded into what is measured")
	}
	p := &Processes{Registry: Registry{{Name: "plain"}, {Name: "heap", Allocates: true}}}
	for strategy, want := range map[string][]string{"plain": {"GODEBUG=asyncpreemptoff=1", "LC_ALL=C"}, "heap": {"LC_ALL=C"}} {
		var got []string
		for _, kv := range p.environment(record.Trial{Strategy: strategy}) {
			if strings.HasPrefix(kv, "GO") && !strings.HasPrefix(kv, "GOCOVERDIR") && strings.Contains("GODEBUG GOGC GOMEMLIMIT GOMAXPROCS GOTRACEBACK", kv[:strings.Index(kv, "=")]) || strings.HasPrefix(kv, "LC_ALL") {
				got = append(got, kv)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: environment %q, want %q", strategy, got, want)
		}
	}
}
