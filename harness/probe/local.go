package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/zcbench/zcbench/harness/childenv"
)

const (
	// killGrace is how long a killed process may take to vanish.
	killGrace = 2 * time.Second
	// drainTime bounds waiting for pipes that a grandchild may hold open.
	drainTime = 500 * time.Millisecond
)

// Local runs checks as children of this process: binary with ChildCommand and the
// check's name. A child dies with the thread that started it.
func Local(binary string) Place {
	return func(ctx context.Context, c Check) Outcome {
		// A child is killed when the thread that started it ends.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		return runChild(ctx, binary, c)
	}
}

func runChild(ctx context.Context, binary string, c Check) (o Outcome) {
	r, w, err := os.Pipe()
	if err != nil {
		return Outcome{Err: fmt.Errorf("pipe: %w", err)}
	}
	defer r.Close()
	said := &ends{}
	cmd := exec.Command(binary, ChildCommand, c.Name)
	cmd.Env = Environment(os.Environ())
	cmd.Stderr = said
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	cmd.WaitDelay = drainTime
	err = cmd.Start()
	w.Close()
	if err != nil {
		return Outcome{Err: err}
	}
	answer := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(r, MaxAnswerBytes+1)) // what came is judged; closing r ends it
		if len(b) > MaxAnswerBytes {
			r.Close() // nobody reads on: the child must not wait for that
		}
		answer <- b
	}()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	o = await(ctx, c, cmd.Process.Pid, ended)
	if o.Stuck {
		r.Close()
	}
	drain := time.AfterFunc(drainTime, func() { r.Close() })
	defer drain.Stop()
	o.Answer = <-answer
	o.Stderr = said.String()
	return o
}

// await waits for a child to end and kills it, and what it started, when its time
// is up.
func await(ctx context.Context, c Check, pid int, ended <-chan error) (o Outcome) {
	deadline := time.NewTimer(c.Deadline())
	defer deadline.Stop()
	select {
	case o.Ended = <-ended:
		if errors.Is(o.Ended, exec.ErrWaitDelay) {
			o.Ended = nil // something it left behind holds its standard error
		}
		_ = syscall.Kill(-pid, syscall.SIGKILL)
		return o
	case <-deadline.C:
		o.TimedOut = true
	case <-ctx.Done():
		o.Err = ctx.Err()
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	select {
	case <-ended:
	case <-time.After(killGrace):
		o.Stuck = true
	}
	return o
}

// Environment makes the environment of a check's process out of another: without
// what would change how it runs or counts. Signals for the
// scheduler's sake would interrupt waits in the kernel, and stacks would push the
// reason of a crash out of what is kept.
func Environment(env []string) []string {
	return append(childenv.Clean(env), "LC_ALL=C", "GODEBUG=asyncpreemptoff=1", "GOTRACEBACK=none")
}

// ends keeps the first and the last bytes written to it: programs begin with the
// reason of a crash, or end with it. It may be read while a process that could not
// be killed still writes.
type ends struct {
	mu          sync.Mutex
	first, last []byte
}

const endBytes = 2 << 10 // of either end

func (t *ends) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := min(len(p), endBytes-len(t.first))
	t.first = append(t.first, p[:k]...)
	t.last = append(t.last, p[k:]...)
	if over := len(t.last) - endBytes; over > 0 {
		t.last = append(t.last[:0], t.last[over:]...)
	}
	return len(p), nil
}

func (t *ends) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.first) + string(t.last)
}
