package harness

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/zcbench/zcbench/harness/childenv"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// Names of the hidden subcommands that children run, each followed by the id of
// its trial for those who look at the process list.
const (
	TrialCommand    = "__trial"
	GenerateCommand = "__generate"
)

// maxRecordBytes bounds what is read from a child.
const maxRecordBytes = record.MaxLineBytes / 2

// Processes runs each trial in a fresh child process, with its load generator
// in another. Both die with the thread that started them, so Run must be called
// from a goroutine locked to a thread that lives as long as the run.
type Processes struct {
	Binary   string            // this program
	Builds   map[string]string // binaries by label, under --ab
	Clock    record.Clock
	Registry Registry
	// Extra, if set, returns further variables for a trial's process. The counting
	// shim is to leave its counts of an adapter in the file report.
	Extra func(ctx context.Context, t record.Trial, report string) ([]string, error)
	// Counts, if set, reads such a file.
	Counts func(report string) (*Posts, error)
}

// Run starts the trial's processes and collects what they say.
func (p *Processes) Run(ctx context.Context, t record.Trial) Execution {
	if t.DeadlineMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(t.DeadlineMS)*time.Millisecond)
		defer cancel()
	}
	t.Clock = p.Clock
	if s, ok := p.Registry.Find(t.Strategy); ok && s.Reserves != nil {
		t.ReserveBytes = s.Reserves(t.Workload, t.Params)
	}
	progress, err := load.NewProgressFile(t.Workload.Clients)
	if err != nil {
		return failed(t, err)
	}
	defer progress.Close()
	binary := p.Binary
	if t.Build != "" {
		binary = p.Builds[t.Build]
	}
	var gen *process
	if p.receives(t) {
		if t, gen, err = p.startGenerator(ctx, t, progress); err != nil {
			x := failed(t, orInterrupted(ctx, t, err))
			if gen != nil {
				x.Stderr = gen.stderr.String()
			}
			return x
		}
		defer gen.kill()
	}
	a, err := p.adapterOf(t)
	if err != nil {
		return failed(t, err)
	}
	defer a.close()
	env := p.environment(t)
	if p.Extra != nil {
		more, err := p.Extra(ctx, t, a.report())
		if err != nil {
			return failed(t, orInterrupted(ctx, t, err))
		}
		env = append(env, more...)
	}
	argv := []string{binary, TrialCommand, t.ID}
	if a != nil {
		argv = AdapterArgv(p.Binary, t, t.Command[0])
	}
	child, err := start(ctx, argv, t.ID, env, progress, a)
	if err != nil {
		return failed(t, orInterrupted(ctx, t, err))
	}
	defer child.kill()
	t.SpawnedNS = child.started
	return collect(ctx, t, child, gen, progress)
}

// orInterrupted is err, or that the trial was interrupted if that is behind it.
func orInterrupted(ctx context.Context, t record.Trial, err error) error {
	if !errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	return explain(ctx, t, err, nil)
}

// receives tells whether a trial needs a generator.
func (p *Processes) receives(t record.Trial) bool {
	s, _ := p.Registry.Find(t.Strategy)
	return t.Workload.Kind == record.KindReceive && s.Family != Null.Family
}

// startGenerator returns the generator also where it failed, ended, for what it
// logged.
func (p *Processes) startGenerator(ctx context.Context, t record.Trial, progress *os.File) (record.Trial, *process, error) {
	var token [16]byte
	if _, err := rand.Read(token[:]); err != nil {
		return t, nil, fmt.Errorf("make a token: %w", err)
	}
	t.Peer = record.Peer{Network: t.Workload.Transport, Token: hex.EncodeToString(token[:])}
	gen, err := start(ctx, []string{p.Binary, GenerateCommand, t.ID}, t.ID, childEnvironment(), progress, nil)
	if err != nil {
		return t, nil, err
	}
	var hello GeneratorLine
	if err = gen.send(t); err == nil {
		err = gen.receive(&hello)
	}
	if err == nil && hello.Address == "" {
		err = errors.New("it gave no address")
	}
	if err != nil {
		return t, gen, fmt.Errorf("trial %s: the generator did not say where it listens: %w", t.ID, because(err, gen.stop()))
	}
	t.Peer.Address = hello.Address
	return t, gen, nil
}

// GeneratorLine is one line of a generator's answer on fd 3: first where it
// listens, at the end how it went.
type GeneratorLine struct {
	Address string            `json:"address,omitempty"`
	Report  *record.Generator `json:"report,omitempty"`
}

// collect hands the child its trial and waits for both to end.
func collect(ctx context.Context, t record.Trial, child, gen *process, progress *os.File) Execution {
	var x Execution
	err := child.send(t)
	if err == nil {
		x.Record, err = child.record(t)
	}
	var ended error
	if err == nil {
		ended = child.end()
		err = child.over
	} else {
		ended = child.stop()
	}
	if err = explain(ctx, t, err, ended); err != nil {
		x = failed(t, fmt.Errorf("%w%s", err, seen(ctx, t, child, progress)))
		if ended != nil {
			x.Exit = ended.Error()
		}
	}
	if x.Record.Status == record.Failed {
		x.Stderr = child.stderr.String()
	}
	if gen == nil || x.Record.Status != record.OK {
		return x
	}
	var last GeneratorLine
	err = gen.receive(&last)
	if err == nil && last.Report == nil {
		err = errors.New("its last line holds none")
	}
	switch {
	case err != nil:
		x.Record.Error = fmt.Sprintf("trial %s: the generator gave no report: %v", t.ID, because(err, gen.stop()))
	case last.Report.Error != "":
		x.Generator = last.Report
		x.Record.Error = fmt.Sprintf("trial %s: the generator failed: %s", t.ID, last.Report.Error)
	default:
		x.Generator = last.Report
		return x
	}
	x.Record.Status = record.Failed
	x.Stderr = gen.stderr.String()
	return x
}

// unanswered tells whether err is no more than a child that is gone.
func unanswered(err error) bool { return errors.Is(err, io.EOF) }

// because joins what is wrong with a child's answer with how the child ended by
// itself, which is what matters where there is no answer.
func because(err, ended error) error {
	switch {
	case ended == nil:
		return err
	case err == nil || unanswered(err):
		return fmt.Errorf("its process ended with %w", ended)
	}
	return fmt.Errorf("%w; its process ended with %w", err, ended)
}

// explain turns how a child ended into the one error that says it best.
func explain(ctx context.Context, t record.Trial, err, ended error) error {
	switch {
	case err == nil && ended == nil:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("trial %s did not end within its %d ms and was killed", t.ID, t.DeadlineMS)
	case ctx.Err() != nil:
		return fmt.Errorf("trial %s was interrupted", t.ID)
	case err != nil && !unanswered(err):
		return fmt.Errorf("trial %s: its record cannot be used: %w", t.ID, because(err, ended))
	}
	return fmt.Errorf("trial %s: %w", t.ID, because(err, ended))
}

// environment is that of a trial's child. Signals that stop Go code for the
// scheduler's sake would interrupt waits and so change counts; they are off
// where no garbage collection needs them.
func (p *Processes) environment(t record.Trial) []string {
	env := childEnvironment()
	if s, ok := p.Registry.Find(t.Strategy); ok && !s.Allocates {
		env = append(env, "GODEBUG=asyncpreemptoff=1")
	}
	return env
}

// childEnvironment leaves out what would change how a child runs, counts or prints.
func childEnvironment() []string {
	return append(childenv.Clean(os.Environ()), "LC_ALL=C")
}

// process is a child that answers in JSON lines on fd 3.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	answers *os.File
	lines   *bufio.Reader
	stderr  tail
	started int64 // CLOCK_MONOTONIC ns
	waited  bool
	err     error
	stopped atomic.Bool // by stop, not by itself
	adapter *adapter    // nil: one of our own
	over    error       // what is wrong with what an adapter said behind its record
}

func start(ctx context.Context, argv []string, id string, env []string, progress *os.File, a *adapter) (*process, error) {
	command := argv[1]
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for %s %s: %w", command, id, err)
	}
	defer w.Close()
	p := &process{answers: r, lines: bufio.NewReader(io.LimitReader(r, maxRecordBytes)), adapter: a}
	p.cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
	p.cmd.Env = env
	p.cmd.Stderr = &p.stderr
	p.cmd.ExtraFiles = []*os.File{w, progress}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: a != nil}
	p.cmd.Cancel = p.signal
	p.cmd.WaitDelay = time.Second
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		r.Close()
		return nil, fmt.Errorf("pipe for %s %s: %w", command, id, err)
	}
	p.started = monotonicNS()
	if err := p.cmd.Start(); err != nil {
		r.Close()
		return nil, fmt.Errorf("start %s %s: %w", command, id, err)
	}
	return p, nil
}

// signal kills the process; of an adapter also what it started.
func (p *process) signal() error {
	if p.adapter == nil {
		return p.cmd.Process.Kill()
	}
	err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	if errors.Is(err, syscall.ESRCH) {
		return os.ErrProcessDone
	}
	return err
}

// send hands the child its trial. A child that does not read all of it is no
// error yet: it may have answered that it cannot run, and if not, that shows.
func (p *process) send(t record.Trial) error {
	err := errors.Join(json.NewEncoder(p.stdin).Encode(t), p.stdin.Close())
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// line reads the next line of the child's answer.
func (p *process) line() ([]byte, error) {
	b, err := p.lines.ReadBytes('\n')
	if err != nil && !(errors.Is(err, io.EOF) && len(b) > 0) {
		return nil, fmt.Errorf("no answer on fd 3: %w", err)
	}
	if len(b) >= maxRecordBytes {
		return nil, fmt.Errorf("answer on fd 3 is longer than %d bytes", maxRecordBytes)
	}
	return b, nil
}

// receive reads the next line of the child's answer into v.
func (p *process) receive(v any) error {
	b, err := p.line()
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("answer on fd 3 is not the JSON expected: %w", err)
	}
	return nil
}

// record reads the record that the child answers with.
func (p *process) record(t record.Trial) (rec record.Record, err error) {
	if p.adapter == nil {
		if err = p.receive(&rec); err == nil {
			err = rec.Check(t.ID)
		}
		return rec, err
	}
	b, err := p.line()
	if err != nil {
		return rec, err
	}
	rec, err = AdapterRecord(t, b, time.Duration(monotonicNS()-p.started), p.adapter.counts)
	if rec.Placement == "" {
		rec.Placement = placement(t)
	}
	return rec, err
}

// end waits for the process and says how it ended; nil is well.
func (p *process) end() error {
	if !p.waited {
		p.waited = true
		if p.adapter != nil {
			p.exited()
			_ = p.signal() // what it left behind
		}
		p.err = p.cmd.Wait()
		if p.adapter != nil {
			p.over = p.rest()
		}
		p.answers.Close()
	}
	return p.err
}

// graceTime is how long a child may take to end once its answer is of no use.
const graceTime = time.Second

// stop ends a child whose answer is of no use: nobody reads on what it writes,
// and in time it is killed. It says how the child ended, nil if it was killed.
func (p *process) stop() error {
	p.answers.Close()
	timer := time.AfterFunc(graceTime, func() {
		p.stopped.Store(true)
		_ = p.signal() // it may have ended by itself
	})
	defer timer.Stop()
	if err := p.end(); !p.stopped.Load() {
		return err
	}
	return nil
}

func (p *process) kill() {
	if !p.waited {
		_ = p.signal() // it may have ended by itself
		_ = p.end()
	}
}
