package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// wqeCopyModel is the provider's copy alone, a model and labelled so, for sizes no provider takes inline.
var wqeCopyModel = harness.Strategy{
	Name: "wqe-copy-model", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "a model: a copy into memory laid out as work queue entries, no device",
	Kinds:   []string{harness.KindPayload},
	Run:     byKind(lanes{harness.KindPayload: verbs.WQECopy}),
}
