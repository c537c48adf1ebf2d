package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// inlineEx hands the payload to ibv_wr_set_inline_data.
var inlineEx = harness.Strategy{
	Name: "inline-ex", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "inline by the setter, which copies at once",
	Kinds:   []string{harness.KindPayload},
	Run:     byKind(lanes{harness.KindPayload: verbs.InlineEx}),
}
