package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// array posts from arrays made once, with the pass that links them each time.
var array = harness.Strategy{
	Name: "array", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "preallocated arrays, filled and linked for every post: the proposed low-level call",
	Kinds:   []string{harness.KindPostRecv, harness.KindPostSend, harness.KindAging},
	Params:  []harness.Param{paramAllocator},
	Run:     byKind(lanes{harness.KindPostRecv: verbs.RecvArray, harness.KindPostSend: verbs.SendArray, harness.KindAging: verbs.RecvArray}),
}
