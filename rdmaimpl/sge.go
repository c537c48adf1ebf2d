package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// sge points the device at the caller's registered buffer.
var sge = harness.Strategy{
	Name: "sge", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "a registered buffer, read by the device",
	Kinds:   []string{harness.KindPayload},
	Run:     byKind(lanes{harness.KindPayload: verbs.SGE}),
}
