package harness

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

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
// together, at most as newAssemblyPool has it.
func assemblyBuffers(size int64, w record.Workload) int64 {
	if size == 0 {
		return 0
	}
	return min(max(assemblyLeast, int64(max(w.HoldMessages, w.HoldEach*w.Clients)+w.Clients)), assemblyMost/size)
}

// boundMemory bounds this process, which runs a trial, so that one that takes more
// fails alone, and offers it first to a kernel that runs out of memory.
func boundMemory(t record.Trial) error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read the memory in use: %w", err)
	}
	used, err := dataBytes(string(status))
	if err != nil {
		return err
	}
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_DATA, &lim); err != nil {
		return fmt.Errorf("getrlimit RLIMIT_DATA: %w", err)
	}
	lim.Cur = min(lim.Cur, uint64(used+memoryBound(t)))
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &lim); err != nil {
		return fmt.Errorf("bound the memory to %d bytes: %w", lim.Cur, err)
	}
	offerMemory()
	return nil
}

// offerMemory makes this process and what it becomes the first to be killed where
// memory runs out, in place of the run (proc_pid_oom_score_adj(5)). Where that
// cannot be said the kernel chooses.
func offerMemory() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

// dataBytes reads VmData, which RLIMIT_DATA counts (proc_pid_status(5)).
func dataBytes(status string) (int64, error) {
	for line := range strings.Lines(status) {
		rest, ok := strings.CutPrefix(line, "VmData:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("VmData of /proc/self/status: %w", err)
		}
		return kib << 10, nil
	}
	return 0, errors.New("/proc/self/status has no VmData")
}

// ranOut tells from what a process logged that it died for want of memory.
func ranOut(log string) bool {
	for _, sign := range []string{"out of memory", "cannot allocate memory", "Cannot allocate memory", "memory exhausted", "std::bad_alloc", "memory allocation of ", "failed to allocate"} {
		if strings.Contains(log, sign) {
			return true
		}
	}
	return false
}
