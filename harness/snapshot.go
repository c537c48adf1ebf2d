package harness

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// snapshot is one end of a window.
type snapshot struct {
	tick       uint64
	messages   int64
	bytes      int64
	cpu        int64 // ns of the process
	usage      unix.Rusage
	count      Counters
	copied     int64
	forced     int64
	refused    refusals
	allocs     int64
	allocBytes int64
	steal      int64 // ns, all CPUs
}

// opening reads the start of a window. What itself allocates, faults or takes
// time is read first, the clock last.
func (m *measurement) opening(r Receiver) snapshot {
	var s snapshot
	s.steal = stealNS()
	m.work(r, &s)
	m.bench.Sink.StartWindow()
	if m.sampler != nil {
		m.sampler.resetPeak()
	}
	m.settle()
	m.heap(&s)
	m.perf.reset()
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &s.usage) // cannot fail for the calling thread
	s.tick, s.cpu = m.clk.Now(), processCPU()
	return s
}

// closing reads the end of a window, in the opposite order.
func (m *measurement) closing(r Receiver) snapshot {
	var s snapshot
	s.tick, s.cpu = m.clk.Now(), processCPU()
	_ = unix.Getrusage(unix.RUSAGE_THREAD, &s.usage)
	m.perf.pause()
	m.heap(&s)
	m.work(r, &s)
	s.steal = stealNS()
	return s
}

func (m *measurement) work(r Receiver, s *snapshot) {
	sink := m.bench.Sink
	s.messages, s.bytes = int64(sink.got), int64(sink.bytes)
	s.copied, s.forced = int64(sink.copied), int64(sink.forced)
	s.count, s.refused = r.Counters(), sink.refusals()
}

func (m *measurement) heap(s *snapshot) {
	if m.bench.Trial.Purpose != record.Counting {
		return
	}
	runtime.ReadMemStats(&m.stats)
	s.allocs, s.allocBytes = int64(m.stats.Mallocs), int64(m.stats.TotalAlloc)
}

// How often a counting trial looks whether the process has come to rest.
const (
	settleLooks = 500
	settleQuiet = 5 // looks in a row that see nothing
	settlePause = 100 * time.Microsecond
)

// settle waits until nothing else in the process allocates. Go starts threads
// and goroutines late and allocates for them, up to milliseconds after what asked
// for them, and each such object would be taken for one of the window's. A pause
// of this thread, which is locked, makes Go start the threads it will ever need.
func (m *measurement) settle() {
	if m.bench.Trial.Purpose != record.Counting {
		return
	}
	var last uint64
	for looks, quiet := 0, 0; looks < settleLooks && quiet < settleQuiet; looks++ {
		time.Sleep(settlePause)
		runtime.ReadMemStats(&m.stats)
		if quiet++; m.stats.Mallocs != last {
			quiet = 0
		}
		last = m.stats.Mallocs
	}
}

func processCPU() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

// stealNS is the time the hypervisor gave to others, all CPUs together, from
// the first line of /proc/stat (proc_stat(5)), in steps of 10 ms.
func stealNS() int64 {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(b, []byte("\n"))
	f := bytes.Fields(first)
	if len(f) < 9 {
		return 0
	}
	n, err := strconv.ParseInt(string(f[8]), 10, 64)
	if err != nil {
		return 0
	}
	return n * 1e7
}
