package uringimpl

import (
	"github.com/zcbench/zcbench/harness"
)

// heap allocates a fresh Go buffer for each receive, and for each reply, and
// leaves its end to the garbage collector, whose work is charged.
var heap = harness.Strategy{
	Name: "heap", Family: "uring", Needs: harness.NeedsUring, Allocates: true, Replies: true,
	Summary: "a fresh Go allocation for each receive, garbage collected",
	Params: []harness.Param{
		{Name: "chunk", Kind: harness.ParamBytes, Default: "16KiB", Help: "bytes of an allocation"},
		{Name: "entries", Kind: harness.ParamInt, Default: harness.Auto, Help: "allocations kept a client at most; auto: as many as the budget holds"},
	},
	Fits: fitsOwnChunks("chunk"),
	Open: openHeap,
}

// heaps keeps the live allocations by number.
type heaps struct {
	*chunks
	live [][]byte
}

func openHeap(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	k, err := openChunks(b, p, int(p.Bytes("chunk", 16<<10)))
	if err != nil {
		return nil, err
	}
	h := &heaps{k, make([][]byte, k.per*len(b.FDs))}
	k.memory = func(id int32) []byte { return h.live[id] }
	k.take = func(id int32) []byte {
		// The table keeps the buffer alive while the kernel writes to it; Go does
		// not move heap memory.
		h.live[id] = make([]byte, k.chunk)
		return h.live[id]
	}
	k.drop = func(id int32) { h.live[id] = nil }
	k.blocking = true
	k.out.room = func(int) []byte { return make([]byte, k.out.reply) }
	k.out.done = func(int, int) error { return nil }
	return h, nil
}

func (h *heaps) Memory() harness.Memory {
	m := harness.Memory{GoHeap: true, Ring: h.ring.Bytes()}
	m.Pinned = m.Ring
	return m
}

func (h *heaps) Close() error { return h.close() }
