package guest

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	consoleBytes = 8 << 10 // of the console's tail
	bootLines    = 8       // of it in the error of a failed boot
	// haltTime is what a guest has to power off before it is killed.
	haltTime = 2 * time.Second
	// killTime is what a guest has to answer after a command's time is up.
	killTime = 5 * time.Second
	// goneTime bounds waiting for the supervisor, which bounds its own waits.
	goneTime = 2 * finishTime
)

// ErrNoKernel means no guest kernel has been built yet.
var ErrNoKernel = errors.New("no guest kernel in the cache: run `zcbench guest build`")

// DeadError says that a guest is gone, and what its console last said.
type DeadError struct {
	Reason  string
	Console string
}

func (e *DeadError) Error() string { return "the guest is gone: " + e.Reason }

// Guest is a running guest. Its methods may be called from several goroutines;
// commands run one at a time.
type Guest struct {
	ready     Ready
	bootTime  time.Duration
	pid       int
	landlock  int
	rejected  []string
	place     string
	env       []string // of programs
	dir       runDir
	console   *tail
	cmd       *exec.Cmd      // the supervisor
	control   io.WriteCloser // closed: the supervisor ends the guest
	toGuest   *os.File
	fromGuest *os.File
	messages  chan fromGuest
	quiet     sync.WaitGroup // the readers of the supervisor and the console
	gone      chan struct{}  // closed when nothing of the guest is left

	exec    sync.Mutex // one command at a time
	nextID  uint64
	imports map[string]string

	mu     sync.Mutex
	reason string // why it is gone, once known
	closed bool
}

// Start boots a guest and waits until its device is usable. The caller must
// Close it.
func Start(ctx context.Context, o Options) (*Guest, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	sweep(o.TempDirs)
	own := guestOwner()
	place, rejected, err := choosePlace(o.TempDirs, o.MemBytes, own)
	if err != nil {
		return nil, err
	}
	dir, err := makeRunDir(place, o.Kernel, own)
	if err != nil {
		return nil, err
	}
	g := &Guest{
		place: place, rejected: rejected, dir: dir, console: newTail(consoleBytes), env: programEnv(o.Env, dir.temp()),
		messages: make(chan fromGuest), gone: make(chan struct{}), imports: map[string]string{},
	}
	if err := g.leaveSetup(); err != nil {
		return nil, errors.Join(err, dir.remove())
	}
	began := time.Now()
	status, err := g.launch(o, own)
	if err != nil && (g.cmd == nil || g.cmd.Process == nil) {
		return nil, errors.Join(err, dir.remove())
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.Boot, fmt.Errorf("its device was not usable within %v", o.Boot))
	defer cancel()
	if err := g.boot(ctx, status); err != nil {
		err = errors.Join(err, g.Close())
		if said := g.Console(); said != "" {
			err = fmt.Errorf("%w; its console ended with:\n%s", err, lastLines(said, bootLines))
		}
		return nil, err
	}
	g.bootTime = time.Since(began)
	return g, nil
}

// leaveSetup puts what the guest's init must know where it looks first.
func (g *Guest) leaveSetup() error {
	s := setup{Address: guestAddress, Seed: make([]byte, 64), Env: g.env}
	if _, err := rand.Read(s.Seed); err != nil {
		return fmt.Errorf("make a seed for the guest: %w", err)
	}
	if err := writeJSON(g.dir.setupFile(), s); err != nil {
		return fmt.Errorf("tell the guest its set-up: %w", err)
	}
	return nil
}

// launch starts the supervisor, and the readers of what it and the guest say.
func (g *Guest) launch(o Options, own owner) (status <-chan statusLine, err error) {
	var ends []*os.File // those of the supervisor, closed here
	defer func() {
		for _, f := range ends {
			f.Close()
		}
	}()
	pipe := func() (r, w *os.File) {
		if err != nil {
			return nil, nil
		}
		r, w, err = os.Pipe()
		return r, w
	}
	inR, inW := pipe()
	outR, outW := pipe()
	statusR, statusW := pipe()
	consoleR, consoleW := pipe()
	if err != nil {
		return nil, fmt.Errorf("pipes to the guest: %w", err)
	}
	ends = []*os.File{inR, outW, statusW, consoleW}
	g.toGuest, g.fromGuest = inW, outR

	g.cmd = exec.Command(g.dir.program(), superviseArg)
	g.cmd.Dir = "/"
	g.cmd.Stdout, g.cmd.Stderr = statusW, consoleW
	// The lock comes along so that it is held until the supervisor ends too.
	g.cmd.ExtraFiles = []*os.File{inR, outW, g.dir.lock}
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // out of Ctrl-C's reach
	if g.control, err = g.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("pipe to the guest's supervisor: %w", err)
	}
	if err := g.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the guest's supervisor: %w", err)
	}
	first := make(chan statusLine, 1)
	g.quiet.Go(func() { g.readStatus(statusR, first) })
	g.quiet.Go(func() {
		defer consoleR.Close()
		_, _ = io.Copy(g.console, consoleR)
	})
	go g.readGuest()
	go g.await()
	return first, sendLine(g.control, supervision{
		RunDir: g.dir.path, Kernel: g.dir.kernel(), Args: kernelArgs(o, g.dir),
		Env:      []string{"TMPDIR=" + g.dir.state(), "HOME=" + g.dir.state(), "PATH=/usr/bin:/bin"},
		Writable: []string{g.dir.state(), g.dir.scratch()},
		UID:      own.uid, GID: own.gid, Drop: own.drop, CPU: o.CPU - 1, Lifetime: o.Lifetime,
	})
}

// readStatus follows what the supervisor says: first of the start, which is
// passed on, then of the end.
func (g *Guest) readStatus(r io.ReadCloser, first chan<- statusLine) {
	defer close(first)
	defer r.Close()
	dec := json.NewDecoder(r)
	for {
		var l statusLine
		if dec.Decode(&l) != nil {
			return
		}
		if l.Ended != "" {
			g.doom(l.Ended)
			continue
		}
		g.mu.Lock()
		known := g.pid != 0
		if !known {
			g.pid, g.landlock = l.PID, l.Landlock
		}
		g.mu.Unlock()
		if !known {
			first <- l
		}
	}
}

// readGuest passes on what the guest says until it says no more.
func (g *Guest) readGuest() {
	defer close(g.messages)
	defer g.fromGuest.Close()
	in := bufio.NewReaderSize(g.fromGuest, 64<<10)
	for {
		var m fromGuest
		if err := readLine(in, &m); err != nil {
			if !errors.Is(err, io.EOF) {
				g.doom("its messages cannot be used: " + err.Error())
			}
			return
		}
		select {
		case g.messages <- m:
		case <-g.gone:
			return
		}
	}
}

// await waits for the supervisor's end, and ends and cleans up what it could
// not, should it have been killed.
func (g *Guest) await() {
	err := g.cmd.Wait()
	if pid := g.PID(); err != nil && pid > 0 {
		_ = unix.Kill(-pid, unix.SIGKILL)
	}
	quiet := make(chan struct{})
	go func() {
		g.quiet.Wait() // all processes of the guest hold its console open
		close(quiet)
	}()
	select {
	case <-quiet:
	case <-time.After(finishTime):
	}
	if err != nil {
		g.doom("its supervisor ended with " + err.Error())
	}
	_ = g.dir.remove()
	close(g.gone)
}

// doom notes why the guest is gone, unless a reason is known, and lets its
// supervisor end it.
func (g *Guest) doom(reason string) {
	g.mu.Lock()
	if g.reason == "" {
		g.reason = reason
	}
	g.mu.Unlock()
	g.control.Close()
}

// dead is the error of a guest that is gone.
func (g *Guest) dead() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	reason := g.reason
	if reason == "" {
		reason = "it closed its channel"
	}
	return &DeadError{Reason: reason, Console: g.Console()}
}

// boot follows the start of the guest up to its device.
func (g *Guest) boot(ctx context.Context, status <-chan statusLine) error {
	if err := g.firstStatus(ctx, status); err != nil {
		return err
	}
	m, err := g.next(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("boot the guest: %w", err)
	case m.Failed != "":
		return fmt.Errorf("set the guest up: %s", m.Failed)
	case m.Ready == nil:
		return errors.New("set the guest up: it did not say what device it has")
	}
	g.ready = *m.Ready
	return nil
}

func (g *Guest) firstStatus(ctx context.Context, status <-chan statusLine) error {
	select {
	case l, ok := <-status:
		if !ok || l.PID == 0 {
			g.waitGone()
			return errors.New("start the guest: its supervisor failed")
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("start the guest: %w", context.Cause(ctx))
	}
}

// next returns the guest's next message.
func (g *Guest) next(ctx context.Context) (fromGuest, error) {
	select {
	case m, ok := <-g.messages:
		if !ok {
			g.waitGone()
			return m, g.dead()
		}
		return m, nil
	case <-ctx.Done():
		return fromGuest{}, context.Cause(ctx)
	}
}

// waitGone gives the supervisor time to say how the guest ended.
func (g *Guest) waitGone() {
	select {
	case <-g.gone:
	case <-time.After(goneTime):
	}
}

// send writes a message to the guest; one that does not read gets killed.
func (g *Guest) send(m toGuest) error {
	if err := g.toGuest.SetWriteDeadline(time.Now().Add(killTime)); err != nil {
		return fmt.Errorf("bound writing to the guest: %w", err)
	}
	err := sendLine(g.toGuest, m)
	if err == nil {
		return nil
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		g.doom(fmt.Sprintf("it read nothing for %v", killTime))
	}
	g.control.Close()
	g.waitGone()
	return errors.Join(g.dead(), fmt.Errorf("write to the guest: %w", err))
}

// Close halts the guest, kills it if it does not halt, and returns once no
// process and no file of it is left.
func (g *Guest) Close() error {
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	if g.reason == "" {
		g.reason = "it was closed"
	}
	g.mu.Unlock()
	if first && g.ready.Device != "" && g.exec.TryLock() {
		_ = g.toGuest.SetWriteDeadline(time.Now().Add(haltTime))
		_ = sendLine(g.toGuest, toGuest{Halt: true}) // or it is killed below
		select {
		case <-g.gone:
		case <-time.After(haltTime):
		}
		g.exec.Unlock()
	}
	g.control.Close()
	g.toGuest.Close()
	select {
	case <-g.gone:
		return nil
	case <-time.After(goneTime):
		return fmt.Errorf("the guest's supervisor, process %d, does not end", g.cmd.Process.Pid)
	}
}
