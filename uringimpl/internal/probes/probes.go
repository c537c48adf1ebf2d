// Package probes lists what is tried on a machine's io_uring, its memory calls and
// its sockets: features, limits, known kernel faults, and when each call really
// reads the caller's buffer. Nothing is decided by a kernel version: every finding
// comes from using the interface.
package probes

import (
	"slices"

	"github.com/zcbench/zcbench/harness/probe"
)

// All returns every check, features first.
func All() []probe.Check {
	return slices.Concat(features(), limits(), faults(), copyPoints())
}
