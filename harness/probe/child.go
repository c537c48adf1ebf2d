package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ChildCommand is the hidden subcommand a check's process runs, followed by the
// check's name.
const ChildCommand = "__probe"

// answerFD is where a check's process writes its finding.
const answerFD = 3

// ErrNoCheck means no check has the name asked for.
var ErrNoCheck = errors.New("no such check")

// Child is the main function of a check's process: it bounds its memory, runs
// the check and writes the finding as JSON to fd 3.
func Child(name string, checks []Check) error {
	i := slices.IndexFunc(checks, func(c Check) bool { return c.Name == name })
	if i < 0 {
		return fmt.Errorf("check %q: %w", name, ErrNoCheck)
	}
	c := checks[i]
	unix.CloseOnExec(answerFD)
	if err := limit(c.memory()); err != nil {
		return fmt.Errorf("check %s: %w", name, err)
	}
	// Rings, credentials and lowered limits belong to the thread that has them.
	runtime.LockOSThread()
	return answer(c.finding(c.Run()))
}

// limit bounds the private memory of this process to more bytes than it has, and
// offers it first to a kernel that runs out of memory.
func limit(more int64) error {
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
	lim.Cur = min(lim.Max, uint64(used+more))
	if err := unix.Setrlimit(unix.RLIMIT_DATA, &lim); err != nil {
		return fmt.Errorf("setrlimit RLIMIT_DATA to %d bytes: %w", lim.Cur, err)
	}
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}) // crashes are expected; a core file is only litter
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0)
	return nil
}

// dataBytes reads VmData, what RLIMIT_DATA counts, from /proc/PID/status.
func dataBytes(status string) (int64, error) {
	for _, line := range strings.Split(status, "\n") {
		rest, ok := strings.CutPrefix(line, "VmData:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("VmData of /proc/self/status: %w", err)
		}
		return kib << 10, nil
	}
	return 0, errors.New("/proc/self/status has no VmData")
}

func answer(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the finding: %w", err)
	}
	for b = append(b, '\n'); len(b) > 0; {
		n, err := unix.Write(answerFD, b)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("write the finding to fd 3 (zcbench starts this command itself): %w", err)
		}
		b = b[max(n, 0):]
	}
	return nil
}
