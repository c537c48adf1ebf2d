package harness

import (
	"context"

	"github.com/zcbench/zcbench/harness/record"
)

// Execution is what came of one trial's processes.
type Execution struct {
	Record    record.Record
	Generator *record.Generator
	Stderr    string // its tail, when the trial failed
	Exit      string // how the child ended, when not well
}

// Executor runs one trial. The real one starts processes; tests have one that
// needs neither processes nor clocks.
type Executor interface {
	Run(ctx context.Context, t record.Trial) Execution
}

// failed returns the execution of a trial that did not yield a record.
func failed(t record.Trial, err error) Execution {
	return Execution{Record: record.Record{Schema: record.Schema, Trial: t.ID, Status: record.Failed, Error: err.Error()}}
}
