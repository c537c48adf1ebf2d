package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// guardReserved asks for its arrays' room once a batch.
var guardReserved = harness.Strategy{
	Name: "guard-reserved", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "the same arrays, with room for the batch asked for at the start",
	Kinds:   []string{harness.KindPostRecv},
	Run:     byKind(lanes{harness.KindPostRecv: verbs.RecvGuardReserved}),
}
