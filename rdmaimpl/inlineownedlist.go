package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// inlineOwnedList copies the slices of a payload into memory of its own.
var inlineOwnedList = harness.Strategy{
	Name: "inline-owned-list", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "inline from a list of slices, copied into buffers of the request first",
	Kinds:   []string{harness.KindPayload},
	Run:     byKind(lanes{harness.KindPayload: verbs.InlineOwnedList}),
}
