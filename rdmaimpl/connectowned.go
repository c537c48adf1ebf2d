package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
)

// connectOwned copies connection parameters, as sender and as receiver.
var connectOwned = harness.Strategy{
	Name: "owned", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "private data copied into memory of the library on both sides",
	Kinds:   []string{harness.KindConnect},
	Run:     connects(true),
}
