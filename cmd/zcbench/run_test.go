package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
	"golang.org/x/sys/unix"
)

const question = "uring-fixed-vs-inc"

func readResult(t *testing.T, dir string) *record.Result {
	t.Helper()
	res, err := record.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func needUring(t *testing.T) {
	t.Helper()
	if reason, _ := harness.Capability(harness.NeedsUring); reason != "" {
		t.Skipf("io_uring is not to be had here: %s", reason)
	}
}

func TestSmokeRunOfTheQuestion(t *testing.T) {
	needUring(t)
	dir := filepath.Join(t.TempDir(), "r")
	r := zcbench(t, nil, "", "run", question, "--smoke", "-o", dir, "--require", "uring")
	r.want(t, exitOK)
	res := readResult(t, dir)
	if res.Footer == nil || res.Footer.Status != "complete" || res.Footer.Failed != 0 {
		t.Errorf("footer %+v, want complete without failures", res.Footer)
	}
	for _, c := range res.Header.Scenario.Cases {
		if !strings.Contains(r.out, c.Label) {
			t.Errorf("the table does not show %s:\n%s", c.Label, r.out)
		}
	}
	for _, name := range []string{"report.html", "summary.md", "residency.png", "residency.svg", "latency.png", "effects.png", "pareto.png"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || st.Size() == 0 {
			t.Errorf("%s: missing or empty (%v)", name, err)
		}
	}
	again := zcbench(t, nil, "", "run", question, "--smoke", "-o", dir)
	again.want(t, exitFailed)
	if !strings.Contains(again.errOut, "exists") {
		t.Errorf("a run over an existing result says %q", again.errOut)
	}
}

// TestSkipsOfThisKernel holds what strategies this kernel lacks against a
// committed list, so that a strategy cannot silently stop being measured.
func TestSkipsOfThisKernel(t *testing.T) {
	needUring(t)
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	release := unix.ByteSliceToString(u.Release[:])
	list := filepath.Join("testdata", "skips", majorMinor(release)+".txt")
	want, err := os.ReadFile(list)
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no list of skips for kernel %s; add %s", release, list)
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "r")
	names := uringQuestions()
	zcbench(t, nil, "", append([]string{"run", "--smoke", "--only", "counts", "-o", dir}, names...)...).want(t, exitOK)
	var got []string
	for _, name := range names {
		for _, s := range readResult(t, filepath.Join(dir, name)).Skips {
			got = append(got, name+": "+s.Case+": "+s.Reason)
		}
	}
	if !slices.Equal(got, lines(string(want))) {
		t.Errorf("skips %q, want %q", got, lines(string(want)))
	}
}

// uringQuestions are the scenarios of io_uring but the wide ones.
func uringQuestions() []string {
	return slices.DeleteFunc(scenarios.Embedded(), func(name string) bool {
		return !strings.HasPrefix(name, "uring-") || strings.HasSuffix(name, "-full")
	})
}

func majorMinor(release string) string {
	parts := strings.SplitN(release, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

func lines(s string) []string {
	var out []string
	for _, l := range strings.Split(s, "\n") {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

func TestRefusedUringIsASkip(t *testing.T) {
	refused := []string{refuseUring + "=1"}
	dir := filepath.Join(t.TempDir(), "r")
	r := zcbench(t, refused, "", "run", question, "--smoke", "-o", dir)
	r.want(t, exitOK)
	res := readResult(t, dir)
	skipped := map[string]bool{}
	for _, s := range res.Skips {
		skipped[s.Case] = true
		if s.Reason == "" || s.Remedy == "" {
			t.Errorf("skip of %s without reason or remedy: %+v", s.Case, s)
		}
		if !strings.Contains(unwrapped(r.out), s.Reason) {
			t.Errorf("the table does not give the reason %q", s.Reason)
		}
	}
	for _, want := range []string{"ring-inc", "slot", "heap", "ring-fixed{chunk=4KiB}"} {
		if !skipped[want] {
			t.Errorf("%s is not among the skips %+v", want, res.Skips)
		}
	}
	if !slices.ContainsFunc(res.Trials, func(l record.TrialLine) bool {
		return l.Trial.Strategy == "epoll-read" && l.Trial.Purpose == record.Counting && l.Record.Status == record.OK
	}) {
		t.Error("epoll-read was not measured although it needs no io_uring")
	}
	zcbench(t, refused, "", "run", question, "--smoke", "-o", dir+"2", "--require", "uring").want(t, exitFailed)
}

// unwrapped is a text with its lines joined.
func unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestKilledChildFailsItsTrialOnly(t *testing.T) {
	needUring(t)
	dir := filepath.Join(t.TempDir(), "r")
	cmd := command(t, nil, "run", question, "--smoke", "-o", dir, "--filter", "ring-inc")
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	victim := killTrialOf(t, cmd.Process.Pid)
	_ = cmd.Wait() // the exit code is checked below
	if code := cmd.ProcessState.ExitCode(); code != exitFailed {
		t.Fatalf("exit %d, want %d\n%s", code, exitFailed, errOut.String())
	}
	res := readResult(t, dir)
	ok := 0
	for _, l := range res.Trials {
		switch {
		case l.Record.Status == record.OK:
			ok++
		case l.Trial.ID != victim:
			t.Errorf("trial %s failed too: %s", l.Trial.ID, l.Record.Error)
		case !strings.Contains(l.Record.Error, "killed"):
			t.Errorf("the killed trial says %q", l.Record.Error)
		}
	}
	if ok == 0 || !strings.Contains(errOut.String(), victim) {
		t.Errorf("%d trials kept; stderr does not name %s:\n%s", ok, victim, errOut.String())
	}
}

// killTrialOf waits for a counting trial's process below pid, kills it, and
// returns the trial's id.
func killTrialOf(t *testing.T, pid int) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		for _, child := range childrenOf(pid) {
			args := cmdline(child)
			if len(args) == 3 && args[1] == harness.TrialCommand && strings.Contains(args[2], "/counting/") {
				if unix.Kill(child, unix.SIGKILL) == nil {
					return args[2]
				}
			}
		}
	}
	t.Fatal("no counting trial was seen to kill")
	return ""
}

func childrenOf(pid int) []int {
	var out []int
	files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has just ended
		}
		for _, word := range strings.Fields(string(b)) {
			if n, err := strconv.Atoi(word); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

func cmdline(pid int) []string {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimRight(string(b), "\x00"), "\x00")
}

func TestInterruptAndResume(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	args := []string{"run", question, "--smoke", "--filter", "epoll-read"}
	cmd := command(t, nil, append(args, "-o", dir)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForTrials(t, dir, 2)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_ = cmd.Wait() // the exit code is checked below
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit %d, want %d", code, exitInterrupted)
	}
	t.Logf("ended %v after the interrupt", time.Since(began))
	before := readResult(t, dir)
	if before.Footer == nil || before.Footer.Status != "interrupted" {
		t.Fatalf("footer %+v, want interrupted", before.Footer)
	}
	zcbench(t, nil, "", append(args, "--resume", dir)...).want(t, exitOK)
	after := readResult(t, dir)
	seen := map[string]int{}
	for _, l := range after.Trials {
		if l.Invalid == "" {
			seen[l.Trial.ID]++
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("trial %s counts %d times", id, n)
		}
	}
	if after.Footer.Status != "complete" || len(after.Trials) < after.Header.Planned {
		t.Errorf("after resuming: %d of %d trials, footer %+v", len(after.Trials), after.Header.Planned, after.Footer)
	}
}

func waitForTrials(t *testing.T, dir string, n int) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		f, err := os.Open(filepath.Join(dir, record.FileName))
		if err != nil {
			continue
		}
		have := 0
		for sc := bufio.NewReader(f); ; {
			line, err := sc.ReadString('\n')
			if strings.HasPrefix(line, `{"trial"`) {
				have++
			}
			if err != nil {
				break
			}
		}
		f.Close()
		if have >= n {
			return
		}
	}
	t.Fatalf("no %d trials were written to %s", n, dir)
}

func TestNarrowPlainOutput(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	r := zcbench(t, []string{"COLUMNS=40", "NO_COLOR=1", "LC_ALL=C"}, "", "run", question, "--smoke", "--filter", "epoll-read", "-o", dir)
	r.want(t, exitOK)
	for i, l := range strings.Split(r.out, "\n") {
		if utf8.RuneCountInString(l) > 40 {
			t.Errorf("line %d has %d columns: %q", i+1, utf8.RuneCountInString(l), l)
		}
		if strings.ContainsAny(l, "\x1b\r") {
			t.Errorf("line %d has control characters: %q", i+1, l)
		}
	}
	if !strings.Contains(r.out, "epoll-read") {
		t.Errorf("no case in:\n%s", r.out)
	}
}

// TestTwoBuildsArePaired runs one binary against itself: counts must be equal.
func TestTwoBuildsArePaired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	r := zcbench(t, nil, "", "run", question, "--smoke", "--only", "counts", "--filter", "epoll-read*", "-o", dir, "--ab", "old="+self, "new="+self)
	r.want(t, exitOK)
	if !strings.Contains(r.out, "epoll-read [new]") || !strings.Contains(unwrapped(r.out), "each case of new is compared with the same case of old") {
		t.Errorf("no row of the new build in:\n%s", r.out)
	}
	rep, err := readAll([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rep.Scenarios[0].Points[0].Cases {
		if c.Info.Build != "new" {
			continue
		}
		for _, m := range []string{"syscalls", "copied_bytes", "wasted_bytes", "buffer_pages_mean"} {
			if e := c.Cells[m].Effect; e == nil || !e.Exact || e.Differs() {
				t.Errorf("%s of %s against itself: %+v", m, c.Name, e)
			}
		}
	}
}
