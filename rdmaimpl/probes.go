package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/rdmaimpl/internal/probes"
)

// Probes lists the checks of RDMA devices, for harness/probe to run.
func Probes() []probe.Check { return probes.All() }
