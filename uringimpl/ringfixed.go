package uringimpl

import (
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// ringFixed provides chunks of one size through a mapped ring. Each receive
// takes a whole chunk, however few bytes it brings.
var ringFixed = harness.Strategy{
	Name: "ring-fixed", Family: "uring", Needs: harness.NeedsUring,
	Summary: "provided chunks of one size; a receive uses up a whole chunk",
	Params: []harness.Param{
		paramChunk, paramEntries, paramGroup, paramMultishot, paramReprovide,
		{Name: "replenish", Kind: harness.ParamInt, Default: harness.Auto,
			Help: "chunks handed back at a time, by one move of the ring's tail, once so many are due; auto: all that are due"},
	},
	Fits: fitsRingChunks,
	Open: openRingFixed,
}

type fixed struct{ *provided }

func openRingFixed(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	chunk := int(p.Bytes("chunk", 4096))
	per := p.Int("entries", int(b.Trial.Workload.BudgetBytes)/chunk)
	// Each completion takes a chunk, which comes back after it is seen, or ends a
	// request: there are never more.
	return newFixed(b, p, setup{size: chunk, per: per, atOnce: p.Int("replenish", 0), completions: len(b.FDs) * (per + 1)})
}

func newFixed(b *harness.Bench, p harness.Values, s setup) (harness.Receiver, error) {
	r, err := openProvided(b, p, s)
	if err != nil {
		return nil, err
	}
	r.take = fixed{r}.take
	return fixed{r}, r.provideAll()
}

// take delivers what a run of completions brought.
func (r fixed) take(cqes []ring.CQE) error {
	r.count.CQEs += uint64(len(cqes))
	for i := range cqes {
		if err := r.receive(cqes[i]); err != nil {
			return err
		}
	}
	return nil
}

// receive delivers what one completion brought: one chunk.
func (r fixed) receive(c ring.CQE) error {
	client, ok := r.begin(c)
	if !ok {
		return nil
	}
	group, bid := r.group(client), c.BufferID()
	id := r.number(group, bid)
	at := int(id) * r.size
	if int(bid) >= r.per || int(c.Res) > r.size {
		return notOurs(client, bid)
	}
	r.sink.Deliver(client, r.mem[at:at+int(c.Res)], id, r.sink.Now())
	if err := r.retire(client, group, bid, uint32(r.size)-uint32(c.Res)); err != nil {
		return err
	}
	if r.eager {
		return r.recycle()
	}
	return nil
}
