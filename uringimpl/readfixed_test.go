package uringimpl

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
	"golang.org/x/sys/unix"
)

// TestFixedRegions: memory is cut into as few regions as their limit of 1 GiB
// allows, and no chunk lies in two of them.
func TestFixedRegions(t *testing.T) {
	for _, c := range []struct{ chunk, chunks, want int }{
		{4096, 1, 1}, {4096, 1 << 18, 1}, {4096, 1<<18 + 1, 2}, {10_000, 300_000, 3}, {1 << 30, 3, 3}, {3 << 28, 4, 4},
	} {
		mem, err := harness.MapBuffers(c.chunk * c.chunks)
		if err != nil {
			t.Fatal(err)
		}
		regions := fixedRegions(mem, c.chunk, c.chunks)
		at := uintptr(unsafe.Pointer(&mem[0]))
		for _, v := range regions {
			if uintptr(unsafe.Pointer(v.Base)) != at || v.Len > maxFixedBufferBytes || v.Len%uint64(c.chunk) != 0 {
				t.Errorf("%d chunks of %d: a region of %d bytes at %p, want it at %#x", c.chunks, c.chunk, v.Len, v.Base, at)
			}
			at += uintptr(v.Len)
		}
		if end := uintptr(unsafe.Pointer(&mem[0])) + uintptr(len(mem)); at != end || len(regions) != c.want {
			t.Errorf("%d chunks of %d: %d regions up to %#x, want %d up to %#x", c.chunks, c.chunk, len(regions), at, c.want, end)
		}
		if err := unix.Munmap(mem); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadFixedPins: registered memory is all resident before anything is
// received, and the kernel counts as pinned what the strategy says.
func TestReadFixedPins(t *testing.T) {
	for _, chunk := range []string{"4KiB", "16KiB", "10000B"} {
		t.Run(chunk, func(t *testing.T) {
			w := still(1000, 256<<10)
			tr := newTrial(readFixed.Name, map[string]string{"chunk": chunk, "entries": "auto"}, w, record.Counting, 100)
			rec := runChild(t, tr)
			v, err := readFixed.Complete(tr.Params)
			if err != nil {
				t.Fatal(err)
			}
			bytes := v.Bytes("chunk", 0)
			pages := pagesOf(bytes * (w.BudgetBytes / bytes) * int64(w.Clients))
			page := int64(unix.Getpagesize())
			if got := rec.Metrics["vmpin_bytes"].Num; got != pages*page {
				t.Errorf("the kernel counts %d bytes as pinned, want %d", got, pages*page)
			}
			if got := rec.Metrics["pinned_bytes"].Num - rec.Metrics["ring_bytes"].Num; got != pages*page {
				t.Errorf("the strategy tells of %d bytes pinned besides its ring, want %d", got, pages*page)
			}
			for _, name := range []string{"buffer_pages_mean", "buffer_pages_peak", "buffer_pages_end"} {
				if got := rec.Metrics[name].Float64(); got != float64(pages) {
					t.Errorf("%s is %g, want %d", name, got, pages)
				}
			}
		})
	}
}

// TestReadFixedCounts: one request, one completion and one call a message.
func TestReadFixedCounts(t *testing.T) {
	w := still(3000, 64<<10)
	rec := runChild(t, newTrial(readFixed.Name, nil, w, record.Counting, 200))
	for _, name := range []string{"enters", "sqes", "cqes", "receives", "syscalls"} {
		if v := rec.Metrics[name]; v.Num != v.Den {
			t.Errorf("%s is %v, want 1", name, v)
		}
	}
	checkFrugal(t, rec)
}

// memlockChild is set in the process that TestMemlockIsNamed runs.
const memlockChild = "ZCBENCH_TEST_MEMLOCK"

// TestMemlockIsNamed: where the limit on locked memory is too low the trial is
// skipped, naming the limit and the amount. It runs in a process of its own,
// which gives up the capability that lifts the limit.
func TestMemlockIsNamed(t *testing.T) {
	if os.Getenv(memlockChild) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMemlockIsNamed$", "-test.v")
		cmd.Env = append(os.Environ(), memlockChild+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%s", out)
		}
		return
	}
	const limit = 2 << 20
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
	w := still(1000, 4<<20)
	var opened error
	s := readFixed
	s.Open = func(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
		if err := dropLockCapability(); err != nil {
			return nil, err
		}
		r, err := readFixed.Open(b, p)
		opened = err
		return r, err
	}
	rec, _ := runTrialOf(t, newTrial(s.Name, nil, w, record.Counting, 10), harness.Registry{s}, nil)
	if errors.Is(opened, unix.ENOMEM) {
		t.Skipf("no ring at all under the limit: %v", opened)
	}
	if rec.Status != record.Skipped {
		t.Fatalf("%s: %s", rec.Status, rec.Error)
	}
	for _, word := range []string{"RLIMIT_MEMLOCK", fmt.Sprint(limit), fmt.Sprint(16 << 20)} {
		if !strings.Contains(rec.Error, word) {
			t.Errorf("%q does not tell %s", rec.Error, word)
		}
	}
	if !strings.Contains(rec.Remedy, "RLIMIT_MEMLOCK") || !strings.Contains(rec.Remedy, "ulimit -l") {
		t.Errorf("remedy %q", rec.Remedy)
	}
}

// dropLockCapability takes CAP_IPC_LOCK from the calling thread, which is locked.
func dropLockCapability() error {
	runtime.LockOSThread()
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&head, &data[0]); err != nil {
		return err
	}
	for _, set := range []*uint32{&data[0].Effective, &data[0].Permitted, &data[0].Inheritable} {
		*set &^= 1 << unix.CAP_IPC_LOCK
	}
	return unix.Capset(&head, &data[0])
}

// TestReadFixedReleasesPins: closing the ring unpins.
func TestReadFixedReleasesPins(t *testing.T) {
	st, err := residency.NewStatus()
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	w := still(1000, 64<<10)
	rec, _ := runTrial(t, newTrial(readFixed.Name, nil, w, record.Verify, 10), nil)
	if rec.Status != record.OK {
		t.Fatal(rec.Error)
	}
	// The kernel lets go of a ring in its own time after it is closed.
	var l residency.Levels
	for stop := time.Now().Add(10 * time.Second); time.Now().Before(stop); time.Sleep(10 * time.Millisecond) {
		if l, err = st.Read(); err != nil {
			t.Fatal(err)
		}
		if l.Pinned == 0 {
			return
		}
	}
	t.Errorf("%d bytes are still pinned", l.Pinned)
}
