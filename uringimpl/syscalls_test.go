package uringimpl

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/perfcount"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// traced counts with the kernel's tracepoint the system calls that its thread
// enters in each Receive, beside what the strategy counts itself.
type traced struct {
	harness.Receiver
	counter      *perfcount.Counter
	kernel, ours int64
}

func (r *traced) Receive(target uint64) error {
	before := r.Receiver.Counters().Syscalls
	if err := r.counter.Start(); err != nil {
		return err
	}
	err := errors.Join(r.Receiver.Receive(target), r.counter.Stop())
	r.kernel += r.counter.Count()
	r.ours += int64(r.Receiver.Counters().Syscalls - before)
	return err
}

func (r *traced) Close() error { return errors.Join(r.Receiver.Close(), r.counter.Close()) }

// mountTracing gives the calling thread alone a view of mounts with the tracing
// file system in its usual place.
func mountTracing() error {
	const dir = "/sys/kernel/tracing"
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tracefs", dir, "tracefs", unix.MS_RDONLY, ""); err != nil && err != unix.EBUSY {
		return fmt.Errorf("mount tracefs: %w", err)
	}
	return nil
}

// openCounter opens the counter on a thread prepared for it, or says why there
// is none. As root with the tracepoint there it must open.
func openCounter(t *testing.T) (*perfcount.Counter, error) {
	if err := mountTracing(); err != nil {
		return nil, err
	}
	c, err := perfcount.OpenSyscalls()
	_, there := os.Stat("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id")
	if err != nil && there == nil && os.Geteuid() == 0 && !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the tracepoint is there, yet: %v", err)
	}
	return c, err
}

// TestSyscallsAgainstKernel compares our counts of system calls with the
// kernel's, in timing trials: there the harness makes no calls of its own. It
// runs in a process like that of a trial, where Go's scheduler sends no signals:
// the return from one is a call too.
func TestSyscallsAgainstKernel(t *testing.T) {
	const quiet = "GODEBUG=asyncpreemptoff=1"
	if os.Getenv("GODEBUG") != "asyncpreemptoff=1" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSyscallsAgainstKernel$", "-test.v")
		cmd.Env = append(os.Environ(), quiet)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%s", out)
		}
		return
	}
	for _, s := range Strategies() {
		if s.Name == goNet.Name {
			continue // the Go runtime makes its calls: TestGoNetSaysWhatItCannotTell
		}
		for _, params := range groupings(s) {
			if _, ok := s.Param("zap"); ok {
				params["zap"] = "prefix"
			}
			t.Run(fmt.Sprintf("%s/%v", s.Name, params), func(t *testing.T) { agreesWithKernel(t, s, params) })
		}
	}
}

func agreesWithKernel(t *testing.T, s harness.Strategy, params map[string]string) {
	best := int64(1 << 62)
	for range 10 {
		kernel, ours, err := tracedTrial(t, s, params)
		if err != nil {
			t.Skipf("no count of the kernel's to compare with: %v", err)
		}
		if ours < 20 {
			t.Fatalf("only %d calls counted", ours)
		}
		if kernel < ours {
			t.Errorf("%d calls counted, the kernel has only %d", ours, kernel)
		}
		if best = min(best, kernel-ours); best == 0 {
			return
		}
	}
	// Of a strategy that allocates, Go makes some calls: it grows the heap.
	if !s.Allocates || best > 20 {
		t.Errorf("in the best of ten rounds the kernel counted %d calls more", best)
	}
}

// tracedTrial runs a trial on a thread of its own; err is why there is no counter.
func tracedTrial(t *testing.T, s harness.Strategy, params map[string]string) (kernel, ours int64, err error) {
	t.Helper()
	var r *traced
	var noCounter error
	open := s.Open
	s.Open = func(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
		runtime.LockOSThread() // never unlocked: the thread's mounts are its own
		c, err := openCounter(t)
		if err != nil {
			noCounter = err
			return nil, err
		}
		inner, err := open(b, p)
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		r = &traced{Receiver: inner, counter: c}
		return r, nil
	}
	w := wild()
	w.BudgetBytes = 64 << 10
	if params["zap"] == "prefix" {
		w.BudgetBytes = 256 << 10 // room to give back within a buffer
	}
	w.Sizes.Max = 8 << 10
	rec, _ := runTrialOf(t, newTrial(s.Name, params, w, record.Timing, 300), harness.Registry{s}, nil)
	if noCounter != nil {
		return 0, 0, noCounter
	}
	if rec.Status != record.OK {
		t.Fatal(rec.Error)
	}
	return r.kernel, r.ours, nil
}
