package uringimpl

import (
	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/uringimpl/internal/probes"
)

// Probes lists the checks of io_uring, memory and sockets, for harness/probe to run.
func Probes() []probe.Check { return probes.All() }
