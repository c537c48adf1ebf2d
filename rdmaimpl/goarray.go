package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// goArray is a caller in Go whose slices are kept.
var goArray = harness.Strategy{
	Name: "go-array", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "Go slices made and pinned once, one cgo call a batch",
	Kinds:   []string{harness.KindPostRecv},
	Run:     byKind(lanes{harness.KindPostRecv: verbs.RecvGoArray}),
}
