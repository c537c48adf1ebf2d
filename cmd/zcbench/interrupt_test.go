package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness"
	"golang.org/x/sys/unix"
)

// interrupts is how often a run is interrupted, each at a moment of its own.
const interrupts = 20

// markVar tells the processes of one run from all others.
const markVar = "ZCBENCH_TEST_MARK"

// playground is where runs of a test have their temporary files and their cache to
// themselves, and so what they leave behind is seen.
type playground struct {
	temp, cache string
	env         []string
}

func newPlayground(t *testing.T) playground {
	t.Helper()
	p := playground{temp: t.TempDir(), cache: sharedCache()}
	p.env = []string{"TMPDIR=" + p.temp, "XDG_CACHE_HOME=" + p.cache, markVar + "=" + p.temp}
	return p
}

// sharedCache is the cache of all playgrounds: what the machine does is found out
// once for all of them.
var sharedCache = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "zcbench-test-cache-")
	must(err)
	return dir
})

// clean fails if anything of a run is left: processes, temporary files, devices.
func (p playground) clean(t *testing.T, dir string) {
	t.Helper()
	var left []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if left = marked(p.temp); len(left) == 0 {
			break
		}
	}
	if len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
	entries, err := os.ReadDir(p.temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(harness.LockPath()) {
			t.Errorf("a temporary file is left: %s", e.Name())
		}
	}
	for _, glob := range []string{filepath.Join(dir, ".*"), filepath.Join(p.cache, "zcbench", "*.tmp"), "/sys/class/infiniband/zcrxe*"} {
		if found, _ := filepath.Glob(glob); len(found) > 0 {
			t.Errorf("left: %q", found)
		}
	}
}

// marked lists the processes that carry a mark in their environment.
func marked(mark string) []string {
	var out []string
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil || !bytes.Contains(b, []byte(markVar+"="+mark+"\x00")) {
			continue // of others, or gone
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(f)))
		if err == nil && pid != os.Getpid() {
			out = append(out, strings.Join(cmdline(pid), " "))
		}
	}
	return out
}

// A run that is interrupted, wherever it is, ends at once with what it has: a
// footer, exit code 130, and nothing left of its processes and files.
func TestInterruptedAnywhere(t *testing.T) {
	p := newPlayground(t)
	file := filepath.Join(t.TempDir(), "killed.yaml")
	if err := os.WriteFile(file, []byte(killScenario), 0o600); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	zcbench(t, p.env, "", "run", file, "-o", filepath.Join(out, "warm")).want(t, exitOK) // and fills the cache
	began := time.Now()
	zcbench(t, p.env, "", "run", file, "-o", filepath.Join(out, "whole")).want(t, exitOK)
	span := time.Since(began)
	rng := rand.New(rand.NewPCG(6, 20))
	codes := map[int]int{}
	var slowest time.Duration
	for i := range interrupts {
		c := interrupted{playground: p, dir: filepath.Join(out, strconv.Itoa(i)), after: time.Duration(rng.Int64N(int64(span)))}
		c.group, c.twice, c.atGenerator, c.cold = i%2 == 0, i%3 == 0, i%5 == 1, i%7 == 3
		code, took := c.once(t, file)
		codes[code]++
		slowest = max(slowest, took)
	}
	t.Logf("a whole run takes %v; exit codes %v; the slowest ended %v after its interrupt", span, codes, slowest)
	if codes[exitInterrupted] < interrupts/2 {
		t.Errorf("only %d of %d interrupts fell into the run", codes[exitInterrupted], interrupts)
	}
}

// interrupted is one run and how it is interrupted.
type interrupted struct {
	playground
	dir         string
	after       time.Duration
	group       bool // the whole group is told, as a terminal does
	twice       bool
	atGenerator bool // as soon as a generator is seen to start
	cold        bool // there is no cache: while the machine is probed
}

func (c interrupted) once(t *testing.T, file string) (code int, took time.Duration) {
	t.Helper()
	env := c.env
	if c.cold {
		env = append(append([]string{}, env...), "XDG_CACHE_HOME="+t.TempDir())
	}
	cmd := command(t, env, "run", file, "-o", c.dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if c.atGenerator {
		awaitChild(cmd.Process.Pid, harness.GenerateCommand)
	} else {
		time.Sleep(c.after)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	told := time.Now()
	for range map[bool]int{false: 1, true: 2}[c.twice] {
		pid := cmd.Process.Pid
		if c.group {
			pid = -pid
		}
		_ = unix.Kill(pid, unix.SIGINT) // it may have ended
		time.Sleep(20 * time.Millisecond)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatalf("%+v: still there half a minute after the interrupt\n%s", c, errOut.String())
	}
	took = time.Since(told)
	c.check(t, cmd, errOut.String())
	return cmd.ProcessState.ExitCode(), took
}

func awaitChild(pid int, command string) {
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		for _, child := range childrenOf(pid) {
			if args := cmdline(child); len(args) > 1 && args[1] == command {
				return
			}
		}
	}
}

func (c interrupted) check(t *testing.T, cmd *exec.Cmd, errOut string) {
	t.Helper()
	code := cmd.ProcessState.ExitCode()
	begun := false
	if b, err := os.ReadFile(filepath.Join(c.dir, "result.jsonl")); err == nil && len(b) > 0 {
		begun = true
		res := readResult(t, c.dir)
		if res.Footer == nil || res.Footer.Status != "interrupted" && res.Footer.Status != "complete" {
			t.Errorf("%+v: footer %+v", c, res.Footer)
		}
	}
	early := !begun && cmd.ProcessState.Sys().(syscall.WaitStatus).Signaled() // before it could listen
	if code != exitInterrupted && code != exitOK && !early {
		t.Errorf("%+v: exit %d\n%s", c, code, errOut)
	}
	if code == exitInterrupted && (strings.Count(errOut, "zcbench: interrupted") != 1 || strings.Contains(errOut, "failed")) {
		t.Errorf("%+v: stderr %q", c, errOut)
	}
	c.clean(t, c.dir)
}

// guestDirs lists the directories of guests on this machine.
func guestDirs() []string {
	var out []string
	for _, dir := range []string{"/dev/shm", os.TempDir()} {
		found, _ := filepath.Glob(filepath.Join(dir, "zcbench-guest-*"))
		out = append(out, found...)
	}
	return out
}

// An interrupted run takes its guest down with it: no process of it is left, and
// no memory it was in.
func TestInterruptedGuest(t *testing.T) {
	needRDMA(t)
	p := newPlayground(t)
	env := []string{"TMPDIR=" + p.temp, markVar + "=" + p.temp} // the guest is in the user's cache
	before := guestDirs()
	dir := filepath.Join(t.TempDir(), "r")
	cmd := command(t, env, "run", "rdma-post-recv", "--smoke", "-o", dir)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitForTrials(t, dir, 1)
	told := time.Now()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // its code is checked below
	t.Logf("ended %v after the interrupt", time.Since(told))
	if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
		t.Fatalf("exit %d\n%s", code, errOut.String())
	}
	if f := readResult(t, dir).Footer; f == nil || f.Status != "interrupted" {
		t.Errorf("footer %+v", f)
	}
	p.clean(t, dir)
	var left []string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if left = slices.DeleteFunc(guestDirs(), func(d string) bool { return slices.Contains(before, d) }); len(left) == 0 {
			return // others may have come and gone meanwhile
		}
	}
	t.Errorf("directories of a guest are left: %q", left)
}
