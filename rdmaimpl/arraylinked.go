package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// arrayLinked posts from arrays linked once.
var arrayLinked = harness.Strategy{
	Name: "array-linked", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "preallocated arrays linked once, as hardware benchmarks do",
	Kinds:   []string{harness.KindPostRecv, harness.KindPostSend},
	Run:     byKind(lanes{harness.KindPostRecv: verbs.RecvArrayLinked, harness.KindPostSend: verbs.SendArrayLinked}),
}
