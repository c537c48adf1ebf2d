package guest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors a supervisor finds open beside its standard ones: standard input
// is held open by the host side for as long as it lives, standard output takes
// statusLines, standard error is the guest's console.
const (
	channelInFD  = 3 // the guest reads from it
	channelOutFD = 4 // the guest writes to it
)

// addrNoRandomize is ADDR_NO_RANDOMIZE of linux/personality.h.
const addrNoRandomize = 0x0040000

// supervision is what a supervisor is told, as one JSON line.
type supervision struct {
	RunDir   string        `json:"run_dir"`
	Kernel   string        `json:"kernel"`
	Args     []string      `json:"args"`
	Env      []string      `json:"env"`
	Writable []string      `json:"writable"` // directories
	UID      int           `json:"uid"`
	GID      int           `json:"gid"`
	Drop     bool          `json:"drop"` // change to UID and GID
	CPU      int           `json:"cpu"`  // to keep the guest on; -1: any
	Lifetime time.Duration `json:"lifetime_ns"`
}

// statusLine is what a supervisor tells, first of the start, then of the end.
type statusLine struct {
	PID      int    `json:"pid,omitempty"`
	Landlock int    `json:"landlock,omitempty"` // ABI version in force; 0: none
	Ended    string `json:"ended,omitempty"`
}

// supervise starts a guest's kernel and ends with it, or ends it when the host
// side is gone or the guest's lifetime is over. Either way it leaves no process
// and removes the run directory.
func supervise(control io.Reader, status io.Writer) error {
	in := bufio.NewReader(control)
	var s supervision
	if err := readLine(in, &s); err != nil {
		return fmt.Errorf("read what to supervise: %w", err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	signal.Ignore(unix.SIGPIPE)

	out := json.NewEncoder(status)
	started := make(chan kernelStart)
	defer close(started)
	go startKernel(s, started)
	k := <-started
	if k.err != nil {
		return errors.Join(k.err, os.RemoveAll(s.RunDir))
	}
	pid := k.pid
	_ = out.Encode(statusLine{PID: pid, Landlock: k.landlock})
	ended := make(chan string, 1)
	gone := make(chan struct{})
	go reap(pid, ended, gone)
	abandoned := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, in)
		close(abandoned)
	}()
	var why string
	select {
	case why = <-ended:
	case <-abandoned:
		why = "ended by its host side"
	case <-time.After(s.Lifetime):
		why = fmt.Sprintf("killed at the end of its lifetime of %v", s.Lifetime)
	case sig := <-signals:
		why = "ended by the supervisor, which got: " + sig.String()
	}
	err := errors.Join(finish(pid, gone), os.RemoveAll(s.RunDir))
	_ = out.Encode(statusLine{Ended: why}) // the host side may be gone
	return err
}

// kernelStart is a started kernel, or why there is none.
type kernelStart struct {
	pid, landlock int
	err           error
}

// startKernel starts the guest's kernel from a thread of its own, which it
// confines for good: the rest of the supervisor has to clean up later. The
// kernel dies with that thread, which therefore stays until done is closed.
func startKernel(s supervision, done chan kernelStart) {
	runtime.LockOSThread()
	var k kernelStart
	k.pid, k.landlock, k.err = confinedKernel(s)
	done <- k
	<-done
}

func confinedKernel(s supervision) (pid, landlock int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, 0, fmt.Errorf("prctl(PR_SET_CHILD_SUBREAPER): %w", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return 0, 0, fmt.Errorf("forbid core files: %w", err)
	}
	if s.CPU >= 0 {
		var set unix.CPUSet
		set.Set(s.CPU)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return 0, 0, fmt.Errorf("keep the guest on CPU %d: %w", s.CPU, err)
		}
	}
	// Randomised addresses make the kernel manage more pages than it has, by an
	// amount that differs from boot to boot. Some containers forbid the call: so be it.
	_, _, _ = unix.RawSyscall(unix.SYS_PERSONALITY, addrNoRandomize, 0, 0)
	landlock, err = confine(s.Writable)
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return 0, 0, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, 0, err
	}
	defer null.Close()
	attr := syscall.ProcAttr{
		Dir: "/", Env: s.Env,
		Files: []uintptr{null.Fd(), 2, 2, channelInFD, channelOutFD},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	if s.Drop {
		attr.Sys.Credential = &syscall.Credential{Uid: uint32(s.UID), Gid: uint32(s.GID)}
	}
	pid, err = syscall.ForkExec(s.Kernel, append([]string{"linux"}, s.Args...), &attr)
	if err != nil {
		return 0, 0, fmt.Errorf("start the guest's kernel %s as user %d: %w", s.Kernel, s.UID, err)
	}
	// Only the guest may hold its ends, so that each side sees the other's end.
	return pid, landlock, errors.Join(unix.Close(channelInFD), unix.Close(channelOutFD))
}

// reap collects every process below this one and tells how the kernel ended.
func reap(kernel int, ended chan<- string, gone chan<- struct{}) {
	defer close(gone)
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return // ECHILD: all are gone
		case pid == kernel && ws.Signaled():
			ended <- "its kernel was ended by signal: " + ws.Signal().String()
		case pid == kernel:
			ended <- fmt.Sprintf("its kernel exited with status %d", ws.ExitStatus())
		}
	}
}

// finishTime bounds waiting for killed processes to vanish.
const finishTime = 5 * time.Second

// finish kills what is left of the guest. Its processes are all in the session
// and group of its kernel, and become children of this one when that is gone.
func finish(pid int, gone <-chan struct{}) error {
	deadline := time.After(finishTime)
	for {
		_ = unix.Kill(-pid, unix.SIGKILL) // ESRCH: none left
		select {
		case <-gone:
			return nil
		case <-time.After(10 * time.Millisecond):
		case <-deadline:
			return fmt.Errorf("processes of the guest's group %d are still there %v after they were killed", pid, finishTime)
		}
	}
}
