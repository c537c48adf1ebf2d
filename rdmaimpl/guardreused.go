package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// guardReused keeps its arrays from batch to batch.
var guardReused = harness.Strategy{
	Name: "guard-reused", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "the same arrays, emptied and kept from batch to batch",
	Kinds:   []string{harness.KindPostRecv},
	Run:     byKind(lanes{harness.KindPostRecv: verbs.RecvGuardReused}),
}
