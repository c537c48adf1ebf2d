package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

var paramMultishot = harness.Param{
	Name: "multishot", Kind: harness.ParamBool, Default: "true",
	Help: "one receive request serves many messages, instead of one request each",
}

var paramReprovide = harness.Param{
	Name: "reprovide", Kind: harness.ParamText, Default: "batched", Values: []string{"eager", "batched", "lazy"},
	Help: "when buffers go back: at once, once a wake-up, or when half of them are due",
}

var paramReclaim = harness.Param{
	Name: "reclaim", Kind: harness.ParamText, Default: "none", Values: []string{"none", "memset", "dontneed", "free"},
	Help: "what is done with the pages of consumed messages: nothing, zeroing, MADV_DONTNEED, MADV_FREE",
}

var paramTHP = harness.Param{
	Name: "thp", Kind: harness.ParamText, Default: "never", Values: []string{"never", "always"},
	Help: "transparent huge pages for the buffers, by madvise",
}

// fitsChunks refuses chunks that do not fit the budget, and so few that a
// message could not be received whole.
func fitsChunks(w record.Workload, p harness.Values) error {
	chunk := p.Bytes("chunk", 0)
	per := w.BudgetBytes / chunk
	if per < 1 {
		return fmt.Errorf("chunk of %d bytes is larger than the budget of %d bytes a client", chunk, w.BudgetBytes)
	}
	n := int64(p.Int("entries", int(per)))
	if n > per {
		return fmt.Errorf("%d entries of %d bytes are more than the budget of %d bytes a client", n, chunk, w.BudgetBytes)
	}
	// The first bytes of a message share a chunk with the one before it. To make
	// it contiguous takes one more chunk, in which to see that it goes on.
	need, why := int64(2), "a message that goes on in a second one"
	if w.Assembly != "contiguous" {
		largest := load.Largest(w.Sizes)
		need, why = (largest+chunk-1)/chunk+1, fmt.Sprintf("a message of %d bytes left where it was received", largest)
	}
	if n < need {
		return fmt.Errorf("%d chunks of %d bytes a client are too few for %s: it takes %d; raise the budget or entries", n, chunk, why, need)
	}
	return fitsBudget(w, p)
}

// fitsBudget refuses messages a client's whole memory cannot hold.
func fitsBudget(w record.Workload, _ harness.Values) error {
	if largest := load.Largest(w.Sizes); largest > w.BudgetBytes {
		return fmt.Errorf("messages of up to %d bytes do not fit the budget of %d bytes a client", largest, w.BudgetBytes)
	}
	return nil
}
