package uringimpl

import (
	"github.com/zcbench/zcbench/harness"
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

var paramChunk = harness.Param{Name: "chunk", Kind: harness.ParamBytes, Default: "4KiB", Help: "bytes of a chunk"}

var paramEntries = harness.Param{
	Name: "entries", Kind: harness.ParamInt, Default: harness.Auto,
	Help: "chunks a client; auto: as many as the budget holds",
}

var paramGroup = harness.Param{
	Name: "group", Kind: harness.ParamText, Default: "per-client", Values: []string{"per-client", "shared"},
	Help: "a buffer group a client, or one group of all clients with the buffers of all",
}

var paramRecv = harness.Param{
	Name: "recv", Kind: harness.ParamBytes, Default: harness.Auto,
	Help: "most bytes of one receive; auto: no limit",
}

// isShared reports whether all clients take buffers from one group.
func isShared(p harness.Values) bool { return p.Text("group") == "shared" }
