package childenv

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// BoundMemory lets this process map at most so many bytes of private memory more
// than it has, so that one that runs away fails alone, and offers it first to a
// kernel that runs out of memory. Address space that is reserved and never touched
// counts, too (RLIMIT_DATA, getrlimit(2)).
func BoundMemory(more int64) error {
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
	lim.Cur = min(lim.Cur, uint64(used+more))
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &lim); err != nil {
		return fmt.Errorf("bound the memory to %d bytes: %w", lim.Cur, err)
	}
	OfferMemory()
	return nil
}

// OfferMemory makes this process and what it becomes the first to be killed where
// memory runs out, in place of the run (proc_pid_oom_score_adj(5)). Where that
// cannot be said the kernel chooses.
func OfferMemory() { _ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) }

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
