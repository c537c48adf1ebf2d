package residency

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func openStatus(t *testing.T) *Status {
	t.Helper()
	s, err := NewStatus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func levels(t *testing.T, s *Status) Levels {
	t.Helper()
	v, err := s.Read()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestStatusFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "status")
	text := "Name:\tx\nGroups:\t" + strings.Repeat("4294967294 ", 5000) + `
VmPeak:	     999 kB
VmLck:	       1 kB
VmPin:	       2 kB
VmHWM:	      30 kB
VmRSS:	      20 kB
RssAnon:	      10 kB
VmPTE:	      44 kB
`
	write := func(text string) (Levels, error) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := newStatus(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Read()
	}
	want := Levels{HWM: 30 << 10, RSS: 20 << 10, RSSAnon: 10 << 10, PTE: 44 << 10, Pinned: 2 << 10, Locked: 1 << 10}
	if got, err := write(text); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, bad := range []string{"", "VmRSS:\t1 kB\n", strings.Replace(text, "44 kB", "44 MB", 1), strings.Replace(text, "44", "x", 1)} {
		if got, err := write(bad); err == nil {
			t.Errorf("accepted %q: %+v", bad[:min(len(bad), 40)], got)
		}
	}
}

// TestStatusFollowsMemory maps, locks and spreads memory and watches each
// figure move by what is known.
func TestStatusFollowsMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	s := openStatus(t)
	const spread, big = 64, 8192
	sparse := mapPages(t, spread*hugeBytes/pageSize)
	mem := mapPages(t, big)
	before := levels(t, s)
	for i := range spread {
		sparse[i*hugeBytes] = 1
	}
	for p := range big {
		writePage(mem, p)
	}
	after := levels(t, s)
	if got, want := after.PTE-before.PTE, int64(spread*pageSize); got < want || got > 2*want {
		t.Errorf("page tables grew by %d bytes, want %d to %d", got, want, 2*want)
	}
	const slack = 4 << 20 // other threads, and per-CPU counters of some kernels
	want := int64((big + spread) * pageSize)
	for name, got := range map[string]int64{"RSS": after.RSS - before.RSS, "RSSAnon": after.RSSAnon - before.RSSAnon} {
		if got < want-slack || got > want+slack {
			t.Errorf("%s grew by %d bytes, want about %d", name, got, want)
		}
	}
	if after.HWM < after.RSS-slack {
		t.Errorf("peak %d below resident %d", after.HWM, after.RSS)
	}
	advise(t, mem, unix.MADV_DONTNEED)
	if err := ResetPeak(); err != nil {
		t.Fatal(err)
	}
	if reset := levels(t, s); reset.HWM > after.HWM-want/2 {
		t.Errorf("peak %d after a reset, %d before", reset.HWM, after.HWM)
	}
}

func TestLockedMemory(t *testing.T) {
	s := openStatus(t)
	mem := mapPages(t, 4)
	before := levels(t, s).Locked
	if err := unix.Mlock(mem); err != nil {
		t.Skipf("mlock of 4 pages: %v", err)
	}
	if got := levels(t, s).Locked - before; got != int64(4*pageSize) {
		t.Errorf("locked memory grew by %d bytes, want %d", got, 4*pageSize)
	}
}

// TestPinnedMemory registers a buffer with io_uring: it becomes resident and
// pinned in full.
func TestPinnedMemory(t *testing.T) {
	var params [120]byte
	fd, _, errno := unix.Syscall(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)), 0)
	if errno != 0 {
		t.Skipf("io_uring_setup: %v", errno)
	}
	defer unix.Close(int(fd))
	const pages = 16
	s, mem := openStatus(t), mapPages(t, pages)
	before := levels(t, s).Pinned
	iov := unix.Iovec{Base: &mem[0]}
	iov.SetLen(len(mem))
	const registerBuffers = 0
	if _, _, errno := unix.Syscall6(unix.SYS_IO_URING_REGISTER, fd, registerBuffers, uintptr(unsafe.Pointer(&iov)), 1, 0, 0); errno != 0 {
		t.Fatalf("register a buffer: %v", errno)
	}
	if got := levels(t, s).Pinned - before; got != pages*int64(pageSize) {
		t.Errorf("pinned memory grew by %d bytes, want %d", got, pages*pageSize)
	}
	expect(t, everySampler(t, regionOf("registered", mem)), pages, 0)
}
