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

// fitsChunks refuses chunks that do not fit the budget.
func fitsChunks(w record.Workload, p harness.Values) error {
	chunk := p.Bytes("chunk", 0)
	per := w.BudgetBytes / chunk
	if per < 1 {
		return fmt.Errorf("chunk of %d bytes is larger than the budget of %d bytes a client", chunk, w.BudgetBytes)
	}
	if n := int64(p.Int("entries", 1)); n > per {
		return fmt.Errorf("%d entries of %d bytes are more than the budget of %d bytes a client", n, chunk, w.BudgetBytes)
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
