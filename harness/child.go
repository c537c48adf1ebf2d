package harness

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// File descriptors a child finds open.
const (
	answerFD   = 3
	progressFD = 4
)

// TrialChild is the main function of a trial's process: it reads a trial from
// in, runs it and writes its record to fd 3.
func TrialChild(in io.Reader, reg Registry) error {
	t, prog, err := childTrial(in)
	if err != nil {
		return err
	}
	if err := boundMemory(t); err != nil {
		return err
	}
	return answer(RunTrial(t, reg, prog))
}

// GeneratorChild is the main function of a load generator's process.
func GeneratorChild(in io.Reader) error {
	t, prog, err := childTrial(in)
	if err != nil {
		return err
	}
	if err := boundMemory(t); err != nil {
		return err
	}
	ln, err := load.Listen(t.Peer.Network)
	if err != nil {
		return err
	}
	defer ln.Close()
	if err := answer(GeneratorLine{Address: ln.Addr().String()}); err != nil {
		return err
	}
	rep, err := load.Generate(t, ln, prog)
	if err != nil {
		rep.Error = err.Error()
	}
	return answer(GeneratorLine{Report: &rep})
}

func childTrial(in io.Reader) (t record.Trial, prog *load.Progress, err error) {
	if err := json.NewDecoder(io.LimitReader(in, maxRecordBytes)).Decode(&t); err != nil {
		return t, nil, fmt.Errorf("read the trial from standard input: %w", err)
	}
	if t.Schema != record.Schema {
		return t, nil, fmt.Errorf("trial schema %d: this build speaks schema %d", t.Schema, record.Schema)
	}
	// The descriptors are for this process alone.
	unix.CloseOnExec(answerFD)
	unix.CloseOnExec(progressFD)
	prog, err = load.MapProgress(progressFD, t.Workload.Clients)
	return t, prog, err
}

func answer(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	for b = append(b, '\n'); len(b) > 0; {
		n, err := unix.Write(answerFD, b)
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("write the answer to fd 3 (zcbench starts this command itself): %w", err)
		}
		b = b[max(n, 0):]
	}
	return nil
}
