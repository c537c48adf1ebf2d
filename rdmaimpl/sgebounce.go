package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// sgeBounce copies the payload into a registered bounce buffer.
var sgeBounce = harness.Strategy{
	Name: "sge-bounce", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "copied into a registered buffer kept for the purpose",
	Kinds:   []string{harness.KindPayload},
	Run:     byKind(lanes{harness.KindPayload: verbs.SGEBounce}),
}
