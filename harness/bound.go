package harness

import (
	"strings"

	"github.com/zcbench/zcbench/harness/childenv"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// Room beside what a trial's buffers take: several times what any child was seen
// to map, so that none of ours comes near it unless something runs away.
const (
	boundSpare     = 2 << 30
	boundPerClient = 8 << 20 // a huge page for each range, rings, tables
	boundTimes     = 4       // the buffers
)

// memoryBound is how many bytes of private memory a trial's process may map beside
// what it has when it starts. Address space that is reserved and never touched
// counts, too (RLIMIT_DATA, getrlimit(2)).
func memoryBound(t record.Trial) int64 {
	w := t.Workload
	n := boundSpare + t.ReserveBytes
	if w.Kind == record.KindReceive {
		n += int64(w.Clients) * (boundPerClient + boundTimes*w.BudgetBytes)
		page := int64(unix.Getpagesize())
		size := (load.Largest(w.Sizes) + page - 1) / page * page
		n += boundTimes * size * assemblyBuffers(size, w)
	}
	if w.LiveBytes != nil {
		n += boundTimes * int64(w.Live) * load.Largest(*w.LiveBytes)
	}
	n += boundTimes * int64(max(w.Batch, 1)) * int64(max(w.SGEs, 1)) * w.Bytes
	return n + 64*int64(t.Warmup+t.Messages)*int64(max(w.Batch, 1))
}

// assemblyBuffers is how many buffers of a size there may be for messages put
// together.
func assemblyBuffers(size int64, w record.Workload) int64 {
	if size == 0 {
		return 0
	}
	return assemblyCount(size, w.Held()+w.Clients)
}

// boundMemory bounds this process, which runs a trial.
func boundMemory(t record.Trial) error { return childenv.BoundMemory(memoryBound(t)) }

// ranOut tells from what a process logged that it died for want of memory.
func ranOut(log string) bool {
	for _, sign := range []string{"out of memory", "cannot allocate memory", "Cannot allocate memory", "memory exhausted", "std::bad_alloc", "memory allocation of ", "failed to allocate"} {
		if strings.Contains(log, sign) {
			return true
		}
	}
	return false
}
