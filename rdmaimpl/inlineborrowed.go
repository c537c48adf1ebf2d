package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// inlineBorrowed lets the post read the caller's buffer.
var inlineBorrowed = harness.Strategy{
	Name: "inline-borrowed", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "inline, straight from the caller's buffer",
	Kinds:   []string{harness.KindPayload},
	Run:     byKind(lanes{harness.KindPayload: verbs.InlineBorrowed}),
}
