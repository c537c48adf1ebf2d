package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// guard grows its arrays as the discussed guard's vectors do: capacity 4 first, then doubled, nothing reserved or kept.
var guard = harness.Strategy{
	Name: "guard", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "arrays grow from nothing with every batch and are freed after the post",
	Kinds:   []string{harness.KindPostRecv, harness.KindPostSend, harness.KindAging},
	Params:  []harness.Param{paramAllocator},
	Run:     byKind(lanes{harness.KindPostRecv: verbs.RecvGuard, harness.KindPostSend: verbs.SendGuard, harness.KindAging: verbs.RecvGuard}),
}
