package perfcount

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// faults is a counter every kernel with perf events has, and whose truth a
// test can make: pages touched for the first time.
var faults = spec{"faults", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_PAGE_FAULTS}

// lockThread keeps the test on one thread.
func lockThread(t *testing.T) {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
}

func openReal(t *testing.T, list ...spec) *Counters {
	t.Helper()
	lockThread(t)
	c, unavailable := open("/", list, perfEventOpen)
	t.Cleanup(func() { c.Close() })
	if len(unavailable) > 0 {
		t.Skipf("the kernel refuses software events: %v", unavailable)
	}
	return c
}

// touch writes pages of fresh memory for the first time.
func touch(t *testing.T, pages int) {
	t.Helper()
	ps := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, pages*ps, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	if err := unix.Madvise(mem, unix.MADV_NOHUGEPAGE); err != nil && err != unix.EINVAL {
		t.Fatal(err)
	}
	for p := range pages {
		mem[p*ps] = 1
	}
}

func readOne(t *testing.T, c *Counters) Reading {
	t.Helper()
	list, err := c.Read()
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	return list[0]
}

// TestCountsBetweenStartAndStop touches memory before, between and after, and
// on another thread meanwhile.
func TestCountsBetweenStartAndStop(t *testing.T) {
	const pages, slack = 5000, 200 // the runtime may touch some itself
	c := openReal(t, faults)
	for round := range 2 {
		touch(t, pages)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		touch(t, pages)
		other := make(chan struct{})
		go func() {
			defer close(other)
			runtime.LockOSThread() // never this thread
			defer runtime.UnlockOSThread()
			touch(t, 3*pages)
		}()
		<-other
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		touch(t, pages)
		r := readOne(t, c)
		if r.Value < pages || r.Value > pages+slack || r.Multiplexed || r.Share != 1 || r.Unavailable != "" {
			t.Errorf("round %d: %+v, want %d faults", round, r, pages)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	c := openReal(t, faults, spec{"switches", unix.PERF_TYPE_SOFTWARE, unix.PERF_COUNT_SW_CONTEXT_SWITCHES})
	var failed error
	note := func(err error) {
		if err != nil {
			failed = err
		}
	}
	n := testing.AllocsPerRun(100, func() {
		note(c.Start())
		note(c.Stop())
		_, err := c.Read()
		note(err)
	})
	if n != 0 || failed != nil {
		t.Errorf("%v allocations, %v", n, failed)
	}
}

// TestKernelNotPermitted refuses whatever counts the kernel, as a kernel does
// to a user at perf_event_paranoid 2.
func TestKernelNotPermitted(t *testing.T) {
	lockThread(t)
	perf := func(attr *unix.PerfEventAttr) (int, error) {
		if attr.Bits&unix.PerfBitExcludeKernel == 0 {
			return -1, unix.EACCES
		}
		return perfEventOpen(attr)
	}
	c, unavailable := open("/", []spec{faults}, perf)
	defer c.Close()
	if len(unavailable) > 0 {
		t.Skipf("the kernel refuses software events: %v", unavailable)
	}
	if r := readOne(t, c); !r.UserOnly {
		t.Errorf("%+v is not marked", r)
	}
	if n := c.Notes(); len(n) != 1 || !strings.Contains(n[0], "user mode only") {
		t.Errorf("notes %q", n)
	}
}

func TestRefusals(t *testing.T) {
	root := t.TempDir()
	path := filepath.Join(root, "proc/sys/kernel/perf_event_paranoid")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for errno, want := range map[unix.Errno]string{
		unix.ENOENT: "no such counter", unix.EOPNOTSUPP: "no such counter", unix.ENODEV: "no such counter",
		unix.EACCES: "perf_event_paranoid is 3", unix.EPERM: "perf_event_paranoid is 3",
		unix.ENOSYS: "seccomp", unix.EBUSY: "another tool", unix.EMFILE: "too many files", unix.EIO: "refused",
	} {
		c, unavailable := open(root, specs(), func(*unix.PerfEventAttr) (int, error) { return -1, errno })
		if len(unavailable) != len(specs()) {
			t.Errorf("%v: reasons %v", errno, unavailable)
		}
		for metric, reason := range unavailable {
			if !strings.Contains(reason, want) || !strings.Contains(reason, errno.Error()) {
				t.Errorf("%v, %s: %q does not say %q", errno, metric, reason, want)
			}
		}
		if list, err := c.Read(); len(list) != 0 || err != nil {
			t.Errorf("%v: readings %v, %v", errno, list, err)
		}
	}
}

// TestHardware counts a loop of known length where there are counters.
func TestHardware(t *testing.T) {
	lockThread(t)
	c, unavailable := Open()
	defer c.Close()
	for metric, reason := range unavailable {
		if reason == "" {
			t.Errorf("%s is unavailable without a reason", metric)
		}
	}
	if len(unavailable) == len(specs()) {
		t.Skipf("the kernel refuses every counter: %v", unavailable)
	}
	const loops = 50_000_000
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	x := spin(loops)
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	list, err := c.Read()
	if err != nil || x == 0 {
		t.Fatal(err)
	}
	for _, r := range list {
		t.Logf("%+v", r)
		if r.Metric == "instructions" && r.Unavailable == "" && (r.Value < 2*loops || r.Value > 100*loops) {
			t.Errorf("%d instructions in %d loops", r.Value, loops)
		}
	}
}

//go:noinline
func spin(n int) (x uint64) {
	for i := range n {
		x = x*31 + uint64(i)
	}
	return x
}
