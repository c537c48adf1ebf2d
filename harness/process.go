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
	"slices"
	"strings"
	"syscall"
	"time"

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
}

// Run starts the trial's processes and collects what they say.
func (p *Processes) Run(ctx context.Context, t record.Trial) Execution {
	if t.DeadlineMS > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(t.DeadlineMS)*time.Millisecond)
		defer cancel()
	}
	t.Clock = p.Clock
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
	if t.Strategy != Null.Name {
		if t, gen, err = p.startGenerator(ctx, t, progress); err != nil {
			return failed(t, err)
		}
		defer gen.kill()
	}
	child, err := start(ctx, binary, TrialCommand, t.ID, p.environment(t), progress)
	if err != nil {
		return failed(t, err)
	}
	defer child.kill()
	t.SpawnedNS = child.started
	return collect(ctx, t, child, gen)
}

func (p *Processes) startGenerator(ctx context.Context, t record.Trial, progress *os.File) (record.Trial, *process, error) {
	var token [16]byte
	if _, err := rand.Read(token[:]); err != nil {
		return t, nil, fmt.Errorf("make a token: %w", err)
	}
	t.Peer = record.Peer{Network: t.Workload.Transport, Token: hex.EncodeToString(token[:])}
	gen, err := start(ctx, p.Binary, GenerateCommand, t.ID, childEnvironment(), progress)
	if err != nil {
		return t, nil, err
	}
	if err := gen.send(t); err != nil {
		gen.kill()
		return t, nil, fmt.Errorf("tell the generator its trial: %w", err)
	}
	var hello GeneratorLine
	if err := gen.receive(&hello); err != nil || hello.Address == "" {
		return t, nil, fmt.Errorf("the generator did not say where it listens: %w", errors.Join(err, gen.end()))
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
func collect(ctx context.Context, t record.Trial, child, gen *process) Execution {
	var x Execution
	err := child.send(t)
	if err == nil {
		err = child.receive(&x.Record)
	}
	ended := child.end()
	if err == nil {
		err = x.Record.Check(t.ID)
	}
	if err = explain(ctx, t, err, ended); err != nil {
		x = failed(t, err)
		x.Stderr = child.stderr.String()
		if ended != nil {
			x.Exit = ended.Error()
		}
	}
	if gen == nil || x.Record.Status != record.OK {
		return x
	}
	var last GeneratorLine
	err = gen.receive(&last)
	if err == nil && last.Report != nil {
		x.Generator = last.Report
		if e := last.Report.Error; e != "" {
			x.Record.Status, x.Record.Error = record.Failed, "the generator failed: "+e
		}
		return x
	}
	x.Record.Status = record.Failed
	x.Record.Error = fmt.Sprintf("the generator gave no report: %v", errors.Join(err, gen.end()))
	x.Stderr = gen.stderr.String()
	return x
}

// explain turns how a child ended into the one error that says it best.
func explain(ctx context.Context, t record.Trial, err, ended error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("trial %s did not end within its %d ms and was killed", t.ID, t.DeadlineMS)
	case ctx.Err() != nil:
		return fmt.Errorf("trial %s was interrupted", t.ID)
	case ended != nil:
		return fmt.Errorf("trial %s: its process ended with %w", t.ID, ended)
	case err != nil:
		return fmt.Errorf("trial %s: its record cannot be used: %w", t.ID, err)
	}
	return nil
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

// childEnvironment leaves out what would change how Go runs or prints.
func childEnvironment() []string {
	drop := []string{"GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOTRACEBACK", "LC_ALL"}
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.Contains(drop, k)
	})
	return append(env, "LC_ALL=C")
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
}

func start(ctx context.Context, binary, command, id string, env []string, progress *os.File) (*process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pipe for %s %s: %w", command, id, err)
	}
	defer w.Close()
	p := &process{answers: r, lines: bufio.NewReader(io.LimitReader(r, maxRecordBytes))}
	p.cmd = exec.CommandContext(ctx, binary, command, id)
	p.cmd.Env = env
	p.cmd.Stderr = &p.stderr
	p.cmd.ExtraFiles = []*os.File{w, progress}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
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

func (p *process) send(t record.Trial) error {
	return errors.Join(json.NewEncoder(p.stdin).Encode(t), p.stdin.Close())
}

// receive reads the next line of the child's answer.
func (p *process) receive(v any) error {
	b, err := p.lines.ReadBytes('\n')
	if err != nil && !(errors.Is(err, io.EOF) && len(b) > 0) {
		return fmt.Errorf("no answer on fd 3: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("answer on fd 3 is not the JSON expected: %w", err)
	}
	return nil
}

// end waits for the process and says how it ended; nil is well.
func (p *process) end() error {
	if !p.waited {
		p.waited = true
		p.err = p.cmd.Wait()
		p.answers.Close()
	}
	return p.err
}

func (p *process) kill() {
	if !p.waited {
		_ = p.cmd.Process.Kill() // it may have ended by itself
		_ = p.end()
	}
}

// tail keeps the last bytes written to it.
type tail struct{ b []byte }

const tailBytes = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - tailBytes; over > 0 {
		t.b = append(t.b[:0], t.b[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return strings.ToValidUTF8(string(t.b), "?") }
