// Package probe finds out what a machine can do by trying it: each check runs in
// a child process with a deadline, so that a fault of the kernel, a hang or a
// crash is a finding and never the end of the program.
package probe

import (
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// Check is one thing to try. Run may hang, crash or be killed: it runs in a
// process of its own, on a thread it is locked to. It sets Verdict, Value, Reason,
// Evidence and Steps; the rest of the finding is filled in from the check.
type Check struct {
	Sort   record.Sort
	Family string
	Name   string // unique over all checks, words joined by dashes
	Unit   string // of a limit
	Source string
	Help   string
	// Seconds is the deadline; 0: DefaultSeconds.
	Seconds int
	// MemoryBytes is the private memory it may map beyond what its process has at
	// the start; 0: DefaultMemoryBytes. Untouched memory counts too.
	MemoryBytes int64
	// Exclusive checks run with no other beside them: those that race on purpose, or
	// use up what all share.
	Exclusive bool
	// Affects lists the cases that a fault makes wrong; see record.Finding.
	Affects []string
	Run     func() record.Finding
}

// Bounds of a check that names none of its own.
const (
	DefaultSeconds     = 10
	DefaultMemoryBytes = 512 << 20
)

// Deadline is how long the check's process may take.
func (c Check) Deadline() time.Duration {
	if c.Seconds > 0 {
		return time.Duration(c.Seconds) * time.Second
	}
	return DefaultSeconds * time.Second
}

func (c Check) memory() int64 {
	if c.MemoryBytes > 0 {
		return c.MemoryBytes
	}
	return DefaultMemoryBytes
}

// finding is what a check found, under its name.
func (c Check) finding(f record.Finding) record.Finding {
	f.Sort, f.Family, f.Name, f.Unit = c.Sort, c.Family, c.Name, c.Unit
	if f.Source == "" {
		f.Source = c.Source
	}
	if f.Help == "" {
		f.Help = c.Help
	}
	if f.Sort == record.FaultFound && f.Verdict == record.Present && f.Affects == nil {
		f.Affects = c.Affects
	}
	return f
}

// inconclusive is the finding of a check that came to none.
func (c Check) inconclusive(reason, evidence string) record.Finding {
	return c.finding(record.Finding{Verdict: record.Inconclusive, Reason: reason, Evidence: evidence})
}
