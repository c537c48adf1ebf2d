package perfcount

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// onTracingThread runs f on a thread with its own view of mounts, in which the
// tracing file system is mounted at dir. The thread ends with it. An error of f
// means that the kernel refuses, and skips the test.
func onTracingThread(t *testing.T, f func(dir string) error) {
	t.Helper()
	dir := t.TempDir()
	refused := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlock: the thread is spoilt
		err := mountTracefs(dir)
		if err == nil {
			defer unix.Unmount(dir, unix.MNT_DETACH)
			err = f(dir)
		}
		refused <- err
	}()
	if err := <-refused; err != nil {
		t.Skip(err)
	}
}

// mountTracefs mounts the tracing file system for the calling thread alone.
func mountTracefs(dir string) error {
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("tracefs", dir, "tracefs", unix.MS_RDONLY, ""); err != nil {
		return fmt.Errorf("mount tracefs: %w", err)
	}
	return nil
}

// TestCountsSystemCalls makes a known number of calls. A signal the runtime
// sends the thread adds one, so the best of some rounds must be exact.
func TestCountsSystemCalls(t *testing.T) {
	onTracingThread(t, func(dir string) error {
		c, err := openSyscalls("/", []string{filepath.Join(dir, "absent"), dir}, perfEventOpen)
		if err != nil {
			if _, none := os.Stat(filepath.Join(dir, "events/raw_syscalls")); none == nil && os.Geteuid() == 0 {
				t.Errorf("the tracepoint is there, yet: %v", err)
			}
			return err
		}
		defer c.Close()
		for _, calls := range []int64{0, 1, 1000} {
			best := int64(1 << 62)
			for range 20 {
				n, err := countCalls(c, calls)
				if err != nil {
					t.Error(err)
					return nil
				}
				best = min(best, n)
			}
			if best != calls {
				t.Errorf("counted %d system calls, made %d", best, calls)
			}
		}
		return nil
	})
}

func countCalls(c *Counter, calls int64) (int64, error) {
	if err := c.Start(); err != nil {
		return 0, err
	}
	for range calls {
		unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
	}
	err := c.Stop()
	return c.Count(), err
}

func TestSyscallsWithoutTracefs(t *testing.T) {
	dir := t.TempDir()
	if c, err := openSyscalls("/", []string{dir}, perfEventOpen); err == nil || !strings.Contains(err.Error(), "mount -t tracefs") {
		t.Errorf("%v, %v", c, err)
	}
	path := filepath.Join(dir, "events/raw_syscalls/sys_enter/id")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("many\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if c, err := openSyscalls("/", []string{dir}, perfEventOpen); err == nil {
		t.Errorf("a number that is none: %v", c)
	}
	if err := os.WriteFile(path, []byte("7\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	deny := func(attr *unix.PerfEventAttr) (int, error) {
		if attr.Type != unix.PERF_TYPE_TRACEPOINT || attr.Config != 7 {
			t.Errorf("opened type %d, config %d", attr.Type, attr.Config)
		}
		return -1, unix.EACCES
	}
	if c, err := openSyscalls("/", []string{dir}, deny); err == nil || !strings.Contains(err.Error(), "not permitted") {
		t.Errorf("%v, %v", c, err)
	}
}
