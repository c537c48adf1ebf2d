// Package probe finds out what a machine can do by trying it: each check runs in
// a child process with a deadline, so that a fault of the kernel, a hang or a
// crash is a finding and never the end of the program.
package probe

import "github.com/zcbench/zcbench/harness/record"

// Check is one thing to try. Run may hang, crash or be killed: it runs in a
// process of its own. It sets Verdict, Value, Reason, Evidence and Steps; the
// rest of the finding is filled in from the check.
type Check struct {
	Sort   record.Sort
	Family string
	Name   string // unique over all checks, words joined by dashes
	Unit   string // of a limit
	Source string
	Help   string
	// Seconds is the deadline; 0: defaultSeconds.
	Seconds int
	Run     func() record.Finding
}
