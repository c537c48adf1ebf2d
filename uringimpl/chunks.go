package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/harness"
)

// chunks is what strategies share that name a chunk of one size for each receive:
// which of a client's chunks are free. Number c*per+i is the i-th of client c.
type chunks struct {
	*single
	chunk int
	per   int
	free  [][]int32 // per client: numbers not in use
	armed []int32   // per client: the number of the receive in flight
	count harness.Counters
	// memory is the memory of a chunk: take gives it to a receive, drop is told
	// that nobody holds it any more.
	memory func(id int32) []byte
	take   func(id int32) []byte
	drop   func(id int32)
}

func openChunks(b *harness.Bench, p harness.Values, chunk int) (*chunks, error) {
	per := p.Int("entries", int(b.Trial.Workload.BudgetBytes)/chunk)
	k := &chunks{chunk: chunk, per: per, free: make([][]int32, len(b.FDs)), armed: make([]int32, len(b.FDs))}
	b.Sink.Buffers(per * len(b.FDs))
	for c := range k.free {
		k.free[c] = make([]int32, 0, per)
		for i := per - 1; i >= 0; i-- {
			k.free[c] = append(k.free[c], int32(c*per+i))
		}
	}
	s, err := openSingle(b, &k.count)
	if err != nil {
		return nil, err
	}
	s.room, s.took, s.recycled = k.room, k.took, k.forget
	k.single = s
	return k, nil
}

func (k *chunks) room(c int) ([]byte, error) {
	for len(k.free[c]) == 0 {
		if k.sink.ForceRelease() {
			k.forget()
			continue
		}
		if k.sink.Holding() == 0 {
			return nil, fmt.Errorf("client %d: an open message fills all %d chunks of %d bytes; raise the budget", c, k.per, k.chunk)
		}
		return nil, nil
	}
	n := len(k.free[c]) - 1
	id := k.free[c][n]
	k.free[c] = k.free[c][:n]
	k.armed[c] = id
	k.sink.Lend(id)
	return k.take(id), nil
}

func (k *chunks) took(c, n int) error {
	id := k.armed[c]
	k.count.Receives++
	k.count.Wasted += uint64(k.chunk - n)
	k.sink.Deliver(c, k.memory(id)[:n], id, k.sink.Now())
	k.sink.Unref(id)
	return nil
}

// forget takes back the chunks nobody holds any more.
func (k *chunks) forget() {
	for _, id := range k.sink.TakeFreed() {
		k.drop(id)
		c := int(id) / k.per
		k.free[c] = append(k.free[c], id)
	}
}

// Kept is all of a chunk.
func (k *chunks) Kept(int32) int64 { return int64(k.chunk) }
