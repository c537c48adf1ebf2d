package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// arrayStack has its arrays on the stack.
var arrayStack = harness.Strategy{
	Name: "array-stack", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "arrays on the stack, zeroed for every batch",
	Kinds:   []string{harness.KindPostRecv},
	Run:     byKind(lanes{harness.KindPostRecv: verbs.RecvArrayStack}),
}
