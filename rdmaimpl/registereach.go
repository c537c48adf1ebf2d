package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// registerEach registers and deregisters the caller's buffer around each post.
var registerEach = harness.Strategy{
	Name: "register-each", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "the caller's buffer registered for each post",
	Kinds:   []string{harness.KindPayload},
	Run:     byKind(lanes{harness.KindPayload: verbs.RegisterEach}),
}
