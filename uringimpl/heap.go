package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/harness"
)

// heap allocates a fresh Go buffer for each receive and leaves its end to the
// garbage collector, whose work is charged.
var heap = harness.Strategy{
	Name: "heap", Family: "uring", Needs: harness.NeedsUring, Allocates: true,
	Summary: "a fresh Go allocation for each receive, garbage collected",
	Params: []harness.Param{
		{Name: "chunk", Kind: harness.ParamBytes, Default: "16KiB", Help: "bytes of an allocation"},
		{Name: "entries", Kind: harness.ParamInt, Default: harness.Auto, Help: "allocations kept a client at most; auto: as many as the budget holds"},
	},
	Fits: fitsChunks,
	Open: openHeap,
}

// heaps keeps each client's live allocations; number c*per+i is the i-th.
type heaps struct {
	*single
	chunk int
	per   int
	live  [][]byte
	free  [][]int32 // per client: numbers not in use
	armed []int32   // per client: the number of the receive in flight
	count harness.Counters
}

func openHeap(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	chunk := int(p.Bytes("chunk", 16<<10))
	per := p.Int("entries", int(b.Trial.Workload.BudgetBytes)/chunk)
	h := &heaps{
		chunk: chunk, per: per, live: make([][]byte, per*len(b.FDs)),
		free: make([][]int32, len(b.FDs)), armed: make([]int32, len(b.FDs)),
	}
	b.Sink.Buffers(len(h.live))
	for c := range h.free {
		h.free[c] = make([]int32, 0, per)
		for i := per - 1; i >= 0; i-- {
			h.free[c] = append(h.free[c], int32(c*per+i))
		}
	}
	s, err := openSingle(b, &h.count)
	if err != nil {
		return nil, err
	}
	s.room, s.took, s.recycled, s.blocking = h.room, h.took, h.forget, true
	h.single = s
	return h, nil
}

func (h *heaps) room(c int) ([]byte, error) {
	for len(h.free[c]) == 0 {
		if h.sink.ForceRelease() {
			h.forget()
			continue
		}
		if h.sink.Holding() == 0 {
			return nil, fmt.Errorf("client %d: an open message fills all %d allocations of %d bytes; raise the budget", c, h.per, h.chunk)
		}
		return nil, nil
	}
	n := len(h.free[c]) - 1
	id := h.free[c][n]
	h.free[c] = h.free[c][:n]
	// The table keeps the buffer alive while the kernel writes to it; Go does
	// not move heap memory.
	h.live[id] = make([]byte, h.chunk)
	h.armed[c] = id
	h.sink.Lend(id)
	return h.live[id], nil
}

func (h *heaps) took(c, n int) error {
	id := h.armed[c]
	h.count.Receives++
	h.count.Wasted += uint64(h.chunk - n)
	h.sink.Deliver(c, h.live[id][:n], id, h.sink.Now())
	h.sink.Unref(id)
	return nil
}

// forget drops the allocations nobody holds any more.
func (h *heaps) forget() {
	for _, id := range h.sink.TakeFreed() {
		h.live[id] = nil
		c := int(id) / h.per
		h.free[c] = append(h.free[c], id)
	}
}

func (h *heaps) Memory() harness.Memory {
	m := harness.Memory{GoHeap: true, Ring: h.ring.Bytes()}
	m.Pinned = m.Ring
	return m
}

func (h *heaps) Close() error { return h.close(nil) }
