package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// Executor runs trials in a guest, each in a fresh process there. It boots the
// guest when the first trial comes, and again should it have died. The caller
// must Close it.
type Executor struct {
	Options Options
	Clock   record.Clock      // of the host: a guest cannot calibrate one
	Builds  map[string]string // binaries on the host by label, under --ab
	// Program makes the program a trial runs; nil: TrialProgram.
	Program func(g *Guest, t record.Trial) (Program, error)
	// Counts reads what the counting shim left of an adapter in Guest.Report; nil:
	// nothing does.
	Counts func(report string) (*harness.Posts, error)

	mu    sync.Mutex
	guest *Guest
	boots int
}

var _ harness.Executor = (*Executor)(nil)

// placementInGuest is where every trial of a guest runs.
const placementInGuest = "all on the one CPU of the guest"

// TrialProgram is the process of a trial: this program's trial command, or the
// program of an adapter. It may be extended, say by more of an environment.
func TrialProgram(g *Guest, t record.Trial) (Program, error) {
	if len(t.Command) > 0 {
		to, err := g.Import(t.Command[0])
		return Program{Argv: harness.AdapterArgv(g.Program(), t, to)}, err
	}
	return Program{Argv: []string{g.Program(), harness.TrialCommand, t.ID}}, nil
}

// Run runs one trial in the guest. It never fails but by the record.
func (e *Executor) Run(ctx context.Context, t record.Trial) harness.Execution {
	t.Clock = e.Clock
	t.SpawnedNS = 0 // the guest counts its own time
	if t.CPU >= 0 {
		t.CPU, t.OtherCPU = 0, 0
	}
	g, err := e.Guest(ctx)
	if err != nil {
		return failed(t, fmt.Errorf("trial %s: %w", t.ID, err), "", "")
	}
	p, err := e.program(g, t)
	if err != nil {
		return failed(t, fmt.Errorf("trial %s: %w", t.ID, err), "", g.Console())
	}
	c := Command{Program: p, Timeout: time.Duration(t.DeadlineMS) * time.Millisecond, ProgressBytes: load.ProgressBytes(t.Workload.Clients)}
	_ = os.RemoveAll(g.Report()) // an earlier trial's
	r, err := g.Exec(ctx, c)
	var rec record.Record
	if err == nil && r.Err() == nil {
		rec, err = e.record(g, t, r.Exit)
	}
	if err = explain(t, r, err); err != nil {
		x := failed(t, err, r.Stderr, g.Console())
		if ended := r.Err(); ended != nil {
			x.Exit = ended.Error()
		}
		return x
	}
	rec.Placement = placementInGuest
	x := harness.Execution{Record: rec}
	if rec.Status == record.Failed {
		x.Stderr = said(r.Stderr, g.Console())
	}
	return x
}

// Guest returns the running guest, which it boots if there is none.
func (e *Executor) Guest(ctx context.Context) (*Guest, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.guest != nil && e.guest.Alive() {
		return e.guest, nil
	}
	if e.guest != nil {
		_ = e.guest.Close() // it has already said why it is gone
		e.guest = nil
	}
	g, err := Start(ctx, e.Options)
	if err != nil {
		return nil, err
	}
	e.guest = g
	e.boots++
	return g, nil
}

// Boots is how many guests have been booted so far.
func (e *Executor) Boots() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.boots
}

// Close ends the guest, if there is one.
func (e *Executor) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.guest == nil {
		return nil
	}
	err := e.guest.Close()
	e.guest = nil
	return err
}

func (e *Executor) program(g *Guest, t record.Trial) (Program, error) {
	makeProgram := e.Program
	if makeProgram == nil {
		makeProgram = TrialProgram
	}
	p, err := makeProgram(g, t)
	if err != nil {
		return p, err
	}
	if t.Build != "" && len(t.Command) == 0 {
		binary, ok := e.Builds[t.Build]
		if !ok || len(p.Argv) == 0 {
			return p, fmt.Errorf("no binary for the build %q", t.Build)
		}
		if p.Argv[0], err = g.Import(binary); err != nil {
			return p, err
		}
	}
	if p.Stdin, err = json.Marshal(t); err != nil {
		return p, fmt.Errorf("encode the trial: %w", err)
	}
	p.Stdin = append(p.Stdin, '\n')
	return p, nil
}

// record reads the record of a trial from how its program ended.
func (e *Executor) record(g *Guest, t record.Trial, x Exit) (record.Record, error) {
	if len(t.Command) == 0 {
		return decodeRecord(x.Answer, t.ID)
	}
	return harness.AdapterRecord(t, x.Answer, x.Wall, func() (*harness.Posts, error) {
		if e.Counts == nil {
			return nil, errors.New("the counting shim was not there")
		}
		return e.Counts(g.Report())
	})
}

// decodeRecord reads the one record of an answer, which is untrusted input.
func decodeRecord(answer []byte, trial string) (rec record.Record, err error) {
	dec := json.NewDecoder(bytes.NewReader(answer))
	if err := dec.Decode(&rec); err != nil {
		return rec, fmt.Errorf("its answer on fd 3 is not a record: %w", err)
	}
	if dec.More() {
		return rec, errors.New("more than one record on fd 3")
	}
	return rec, rec.Check(trial)
}

// explain turns how a command went into the one error that says it best.
func explain(t record.Trial, r Reply, err error) error {
	var dead *DeadError
	switch {
	case errors.As(err, &dead):
		return fmt.Errorf("trial %s: %w", t.ID, dead)
	case errors.Is(err, context.Canceled):
		return fmt.Errorf("trial %s was interrupted", t.ID)
	case r.TimedOut || errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("trial %s did not end within its %d ms and was killed in the guest", t.ID, t.DeadlineMS)
	case err != nil:
		return fmt.Errorf("trial %s: its record cannot be used: %w", t.ID, err)
	case r.Err() != nil:
		return fmt.Errorf("trial %s: its process in the guest: %w", t.ID, r.Err())
	}
	return nil
}

// failed is the execution of a trial without a record, with what its process
// and the guest's console last said.
func failed(t record.Trial, err error, stderr, console string) harness.Execution {
	var dead *DeadError
	if errors.As(err, &dead) {
		console = dead.Console
	}
	return harness.Execution{
		Record: record.Record{Schema: record.Schema, Trial: t.ID, Status: record.Failed, Error: err.Error()},
		Stderr: said(stderr, console),
	}
}

// said joins the ends of a process's standard error and of the guest's console.
func said(stderr, console string) string {
	if console == "" {
		return stderr
	}
	return stderr + "\n-- guest console --\n" + console
}
