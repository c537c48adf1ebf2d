package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// inlineOwned copies the payload into memory of its own before the post, which copies it again.
var inlineOwned = harness.Strategy{
	Name: "inline-owned", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "inline, the payload copied into a buffer of the request first",
	Kinds:   []string{harness.KindPayload},
	Run:     byKind(lanes{harness.KindPayload: verbs.InlineOwned}),
}
