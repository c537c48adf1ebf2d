package uringimpl

import (
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// holdings are what trials take and must give back.
type holdings struct {
	files   int
	rings   int // mappings of io_uring
	buffers int // kB of writable mappings advised against huge pages: harness.MapBuffers
}

func holdingsNow(t *testing.T) holdings {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	h := holdings{files: len(fds), rings: strings.Count(string(smaps), "[io_uring]")}
	size := 0
	for _, line := range strings.Split(string(smaps), "\n") {
		f := strings.Fields(line)
		switch {
		case len(f) > 1 && f[0] == "Size:":
			size, _ = strconv.Atoi(f[1])
		case len(f) > 1 && f[0] == "VmFlags:" && slices.Contains(f, "nh") && slices.Contains(f, "wr") && size != stackKB(t):
			h.buffers += size
		}
	}
	return h
}

// stackKB is the size of a thread's stack, which the kernel marks like a buffer.
func stackKB(t *testing.T) int {
	t.Helper()
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_STACK, &lim); err != nil {
		t.Fatal(err)
	}
	return int(lim.Cur >> 10)
}

// TestNothingLeaks: when trials are over, well or not, no file, no ring and no
// buffer is left of them.
func TestNothingLeaks(t *testing.T) {
	w := wild()
	w.BudgetBytes, w.Sizes.Max = 64<<10, 8<<10
	spoil := func(client int, p []byte) (int, []byte) { return client ^ 1, p }
	for _, s := range Strategies() {
		t.Run(s.Name, func(t *testing.T) {
			round := func(trials int) {
				for range trials {
					for _, tamper := range []harness.Tamper{nil, spoil} {
						runTrial(t, newTrial(s.Name, nil, w, record.Verify, 100), tamper)
					}
				}
			}
			round(1)
			before := holdingsNow(t)
			round(4)
			after := holdingsNow(t)
			for stop := time.Now().Add(2 * time.Second); after.files > before.files && time.Now().Before(stop); after = holdingsNow(t) {
				time.Sleep(10 * time.Millisecond) // the other side closes in its own time
			}
			if after.files > before.files || after.rings > 0 || after.buffers > before.buffers && !raceDetector {
				t.Errorf("after eight trials %+v, before %+v", after, before)
			}
		})
	}
}

// TestHoldingsAreSeen: the leak test sees what a trial holds while it runs.
func TestHoldingsAreSeen(t *testing.T) {
	before := holdingsNow(t)
	mem, err := harness.MapBuffers(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	r, err := openRing(4, 4)
	if err != nil {
		t.Skip(err)
	}
	with := holdingsNow(t)
	if with.files != before.files+1 || with.rings <= before.rings || with.buffers != before.buffers+1024 {
		t.Errorf("%+v with a ring and 1 MiB of buffers, %+v without", with, before)
	}
	if err := errors.Join(r.Close(), unix.Munmap(mem)); err != nil {
		t.Error(err)
	}
}
