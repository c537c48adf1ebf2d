package probes

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
)

// A fault is a known kernel fault and its bounded reproduction. collect gathers a
// plain trace from the running kernel and has no opinion; judge is a pure function
// of the trace, so that it can be tested on recorded traces of either verdict.
type fault struct {
	name    string
	source  string
	help    string
	seconds int
	affects []string // as of a check
	alone   bool     // it races on purpose
	collect func(*trace) error
	judge   func(trace) judgment
}

// judgment is what a trace shows. Evidence is in figures; Reason says why a fault
// cannot be tested, or why the trace decides nothing.
type judgment struct {
	Verdict  record.FindingVerdict `json:"verdict"`
	Evidence string                `json:"evidence,omitempty"`
	Reason   string                `json:"reason,omitempty"`
}

func present(format string, args ...any) judgment {
	return judgment{Verdict: record.Present, Evidence: fmt.Sprintf(format, args...)}
}

func absent(format string, args ...any) judgment {
	return judgment{Verdict: record.Absent, Evidence: fmt.Sprintf(format, args...)}
}

func unclear(format string, args ...any) judgment {
	return judgment{Verdict: record.Inconclusive, Reason: fmt.Sprintf(format, args...)}
}

// refusal is the kernel lacking what a reproduction needs, as found by trying.
type refusal struct {
	what string
	err  error
}

func (r refusal) Error() string { return fmt.Sprintf("%s: %v", r.what, r.err) }
func (r refusal) Unwrap() error { return r.err }

// run reproduces a fault once.
func (f fault) run() (trace, judgment) {
	t := gather(f.collect)
	return t, decide(t, f.judge)
}

// gather runs a collector on a thread of its own: a ring with a single issuer
// refuses every other.
func gather(collect func(*trace) error) trace {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := trace{Kernel: kernelRelease(), CPUs: runtime.NumCPU()}
	err := collect(&t)
	var no refusal
	switch {
	case errors.As(err, &no):
		t.Refused = no.Error()
	case err != nil:
		t.Failed = err.Error()
	}
	return t
}

// decide judges a trace unless there is nothing in it to judge.
func decide(t trace, judge func(trace) judgment) judgment {
	switch {
	case t.Refused != "":
		return judgment{Verdict: record.Untestable, Reason: "this kernel refuses " + t.Refused}
	case t.Failed != "":
		return unclear("the reproduction broke off: %s", t.Failed)
	}
	return judge(t)
}

func (f fault) check() probe.Check {
	return probe.Check{
		Sort: record.FaultFound, Family: "uring", Name: f.name, Source: f.source, Help: f.help, Seconds: f.seconds, Affects: f.affects,
		Exclusive: f.alone,
		Run: func() record.Finding {
			_, j := f.run()
			return record.Finding{Verdict: j.Verdict, Evidence: j.Evidence, Reason: j.Reason}
		},
	}
}

func kernelRelease() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown"
	}
	return string(u.Release[:bytes.IndexByte(u.Release[:], 0)])
}
