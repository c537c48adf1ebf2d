package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var errKilled = errors.New("killed because the caller gave up")

const (
	// peerGrace is what a peer has to end by itself once the program has.
	peerGrace = time.Second
	// drainTime bounds waiting for pipes that an orphan may hold open.
	drainTime = 500 * time.Millisecond
	// reapTime bounds waiting for killed orphans to vanish.
	reapTime = time.Second
)

// runCommand runs a command in the guest and leaves no process of it behind.
func runCommand(ctx context.Context, c Command) Reply {
	timeout := c.Timeout
	if timeout <= 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer killRest()
	r, err := runPair(ctx, c)
	if err != nil {
		r.Exit = Exit{Code: -1, Error: err.Error()}
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		r.TimedOut = true
	case ctx.Err() != nil:
		r.Killed = true
	}
	return r
}

// runPair runs the peer, if any, and the program.
func runPair(ctx context.Context, c Command) (Reply, error) {
	var r Reply
	var progress, ours, theirs *os.File
	if c.ProgressBytes > 0 {
		fd, err := unix.MemfdCreate("zcbench-progress", unix.MFD_CLOEXEC)
		if err != nil {
			return r, fmt.Errorf("memfd_create for fd 4: %w", err)
		}
		progress = os.NewFile(uintptr(fd), "progress")
		defer progress.Close()
		if err := progress.Truncate(c.ProgressBytes); err != nil {
			return r, fmt.Errorf("size fd 4 to %d bytes: %w", c.ProgressBytes, err)
		}
	}
	var peer *process
	if c.Peer != nil {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return r, fmt.Errorf("socketpair for fd 5: %w", err)
		}
		ours, theirs = os.NewFile(uintptr(pair[0]), "fd 5"), os.NewFile(uintptr(pair[1]), "fd 5")
		defer ours.Close()
		defer theirs.Close()
		if peer, err = start(ctx, *c.Peer, progress, theirs); err != nil {
			return r, fmt.Errorf("the peer: %w", err)
		}
		defer peer.kill()
		theirs.Close() // so that either side sees the other's end
	}
	main, err := start(ctx, c.Program, progress, ours)
	if err != nil {
		return r, err
	}
	if ours != nil {
		ours.Close()
	}
	r.Exit = main.wait()
	if peer != nil {
		grace := time.AfterFunc(peerGrace, peer.kill)
		defer grace.Stop()
		e := peer.wait()
		r.Peer = &e
	}
	return r, nil
}

// process is a program running in the guest, in a session of its own.
type process struct {
	cmd      *exec.Cmd
	answers  *os.File // our end of fd 3
	answer   head
	answered chan struct{} // closed when the answer is read
	stdout   head
	stderr   *tail
	started  time.Time
}

func start(ctx context.Context, p Program, progress, link *os.File) (*process, error) {
	if len(p.Argv) == 0 {
		return nil, errors.New("a command without a program")
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for fd 3: %w", err)
	}
	defer w.Close()
	proc := &process{
		answers: r, answer: head{max: MaxAnswerBytes}, answered: make(chan struct{}),
		stdout: head{max: maxStdoutBytes}, stderr: newTail(maxStderrBytes),
	}
	cmd := exec.CommandContext(ctx, p.Argv[0], p.Argv[1:]...)
	proc.cmd = cmd
	cmd.Env, cmd.Dir = p.Env, p.Dir
	cmd.Stdin = bytes.NewReader(p.Stdin)
	cmd.Stdout, cmd.Stderr = &proc.stdout, proc.stderr
	cmd.ExtraFiles = []*os.File{w, progress, link}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { proc.kill(); return nil }
	cmd.WaitDelay = drainTime
	proc.started = time.Now()
	if err := spawn(cmd, p.Privileged); err != nil {
		r.Close()
		return nil, fmt.Errorf("start %s in the guest: %w", p.Argv[0], err)
	}
	go func() {
		_, _ = io.Copy(&proc.answer, r) // ends with the last writer, or when wait closes r
		close(proc.answered)
	}()
	return proc, nil
}

// kill ends the program and all it started that stayed in its session.
func (p *process) kill() { _ = unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL) }

// wait waits for the program to end, then a little for what it wrote.
func (p *process) wait() Exit {
	err := p.cmd.Wait()
	e := Exit{Wall: time.Since(p.started)}
	p.kill() // what it left behind
	select {
	case <-p.answered:
	case <-time.After(drainTime):
		p.answers.Close()
		<-p.answered
	}
	p.answers.Close()
	e.Answer, e.Stdout, e.Stderr = p.answer.b, p.stdout.b, p.stderr.String()
	state := p.cmd.ProcessState
	if state == nil {
		e.Code, e.Error = -1, fmt.Sprintf("wait for the program: %v", err)
		return e
	}
	e.Code = state.ExitCode()
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		e.Signal = ws.Signal().String()
	}
	if p.answer.over {
		e.Error = fmt.Sprintf("the answer on fd 3 is longer than %d bytes", MaxAnswerBytes)
	}
	return e
}

// withheld are the capabilities ordinary programs go without: with them a
// program could mount the host's root writable, or reach other processes.
var withheld = []uintptr{
	unix.CAP_SYS_ADMIN, unix.CAP_MKNOD, unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO,
	unix.CAP_SYS_BOOT, unix.CAP_SYS_PTRACE, unix.CAP_SYS_TIME,
}

// spawn starts cmd from a thread of its own, which ends afterwards: rights
// dropped from a thread are passed to what it starts and cannot be taken back.
func spawn(cmd *exec.Cmd, privileged bool) error {
	errc := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if !privileged {
			for _, c := range withheld {
				if err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0); err != nil {
					errc <- fmt.Errorf("drop capability %d: %w", c, err)
					return
				}
			}
		}
		errc <- cmd.Start()
	}()
	return <-errc
}

// killRest kills every process but this one and collects them. A process
// stuck in the kernel is not waited for.
func killRest() {
	_ = unix.Kill(-1, unix.SIGKILL) // ESRCH: there is none
	for end := time.Now().Add(reapTime); time.Now().Before(end); {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return // ECHILD: all are gone
		case pid == 0:
			time.Sleep(time.Millisecond)
		}
	}
}
