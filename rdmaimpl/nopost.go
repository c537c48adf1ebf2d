package rdmaimpl

import (
	"github.com/zcbench/zcbench/harness"
)

// noPost makes the allocations of an aging heap without any posts.
var noPost = harness.Strategy{
	Name: "no-post", Family: "rdma", Needs: harness.NeedsRDMA,
	Summary: "the control: the same long-lived allocations, no posts",
	Kinds:   []string{harness.KindAging},
	Params:  []harness.Param{paramAllocator},
	Run:     ages,
}
