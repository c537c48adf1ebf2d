package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// wrEx posts through the extended interface.
var wrEx = harness.Strategy{
	Name: "wr-ex", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "the ibv_wr_* setters: no arrays at all",
	Kinds:   []string{harness.KindPostSend},
	Run:     byKind(lanes{harness.KindPostSend: verbs.SendWREx}),
}
