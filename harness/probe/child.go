package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/zcbench/zcbench/harness/childenv"
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

// limit bounds the memory of this process and keeps it from leaving a core file:
// crashes are expected here.
func limit(more int64) error {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	return childenv.BoundMemory(more)
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
