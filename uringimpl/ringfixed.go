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
		{Name: "chunk", Kind: harness.ParamBytes, Default: "4KiB", Help: "bytes of a chunk"},
		{Name: "entries", Kind: harness.ParamInt, Default: harness.Auto, Help: "chunks a client; auto: as many as the budget holds"},
		paramMultishot, paramReprovide,
	},
	Fits: fitsChunks,
	Open: openRingFixed,
}

type fixed struct{ *provided }

func openRingFixed(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	chunk := int(p.Bytes("chunk", 4096))
	per := min(p.Int("entries", int(b.Trial.Workload.BudgetBytes)/chunk), ring.MaxBufRing)
	// Each completion takes a chunk, which comes back after it is seen, or ends a
	// request: there are never more.
	return newFixed(b, p, chunk, per, len(b.FDs)*(per+1))
}

func newFixed(b *harness.Bench, p harness.Values, chunk, per, completions int) (harness.Receiver, error) {
	r, err := openProvided(b, p, chunk, per, 0, completions)
	if err != nil {
		return nil, err
	}
	r.add = r.put
	r.take = fixed{r}.take
	return fixed{r}, r.provideAll()
}

// take delivers what a run of completions brought.
func (r fixed) take(cqes []ring.CQE) error {
	r.count.CQEs += uint64(len(cqes))
	for i := range cqes {
		c := cqes[i]
		client := int(c.UserData)
		if c.Flags&ring.CQEMore == 0 {
			r.unarmed = append(r.unarmed, int32(client))
		}
		r.nonEmpty[client] = c.Flags&ring.CQESockNonEmpty != 0
		if c.Res <= 0 {
			r.failed(client, c.Res)
			continue
		}
		bid := c.BufferID()
		if !r.groups[client].Retire(bid) {
			return notOurs(client, bid)
		}
		id := client*r.per + int(bid)
		at := id * r.size
		r.count.Receives++
		r.count.Wasted += uint64(r.size - int(c.Res))
		r.sink.Deliver(client, r.mem[at:at+int(c.Res)], int32(id), r.sink.Now())
		r.sink.Unref(int32(id))
		if r.eager {
			if err := r.recycle(); err != nil {
				return err
			}
		}
	}
	return nil
}
