package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// goAppend is a caller in Go whose slices grow.
var goAppend = harness.Strategy{
	Name: "go-append", Family: "rdma", Needs: harness.NeedsRDMA, Allocates: true,
	Summary: "Go slices grown by append, pinned, one cgo call a batch",
	Kinds:   []string{harness.KindPostRecv},
	Run:     byKind(lanes{harness.KindPostRecv: verbs.RecvGoAppend}),
}
