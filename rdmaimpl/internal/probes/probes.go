// Package probes lists what is tried on a machine's RDMA devices: features, limits,
// and when each verb really reads the caller's buffer.
package probes

import (
	"slices"

	"github.com/zcbench/zcbench/harness/probe"
)

// All returns every check, features first.
func All() []probe.Check {
	return slices.Concat(features(), limits(), copyPoints())
}
