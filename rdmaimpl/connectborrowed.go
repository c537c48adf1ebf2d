package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
)

// connectBorrowed borrows connection parameters.
var connectBorrowed = harness.Strategy{
	Name: "borrowed", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "private data read where the caller has it",
	Kinds:   []string{harness.KindConnect},
	Run:     connects(false),
}
