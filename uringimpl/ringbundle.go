package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// ringBundle is ring-fixed with receive bundles (6.10): one completion spans as
// many chunks as the bytes at hand fill.
var ringBundle = harness.Strategy{
	Name: "ring-bundle", Family: "uring", Needs: harness.NeedsUring,
	Summary: "provided chunks of one size; a receive fills as many in a row as it needs",
	Params:  []harness.Param{paramChunk, paramEntries, paramGroup, paramMultishot, paramRecv, paramReprovide},
	Fits:    fitsBundledChunks,
	Open:    openRingBundle,
}

type bundled struct {
	*provided
	rings []*ring.BufRing
}

func openRingBundle(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	chunk := int(p.Bytes("chunk", 4096))
	per := p.Int("entries", int(b.Trial.Workload.BudgetBytes)/chunk)
	r, err := openProvided(b, p, setup{size: chunk, per: per, bundle: true, completions: len(b.FDs) * (per + 1)})
	if err != nil {
		return nil, err
	}
	v := bundled{r, r.back.(*mapped).rings}
	r.take = v.take
	return v, r.provideAll()
}

// take delivers what a run of completions brought.
func (r bundled) take(cqes []ring.CQE) error {
	r.count.CQEs += uint64(len(cqes))
	for i := range cqes {
		if err := r.receive(cqes[i]); err != nil {
			return err
		}
	}
	return nil
}

// receive delivers what one completion brought. It names the first chunk; the
// others lie in the slots that follow in the ring, whatever their numbers.
func (r bundled) receive(c ring.CQE) error {
	client, ok := r.begin(c)
	if !ok {
		return nil
	}
	group, now := r.group(client), r.sink.Now()
	front := r.rings[group]
	for left := uint32(c.Res); left > 0; {
		bid, room, ok := front.Front()
		if left == uint32(c.Res) && (!ok || bid != c.BufferID()) {
			return fmt.Errorf("client %d: a completion names buffer %d, but %d is the next in the ring: bundles come out of order (Linux 6.13.11 to 6.14.11 do that, liburing issue 1409)",
				client, c.BufferID(), bid)
		}
		if !ok || room > uint32(r.size) || room == 0 {
			return fmt.Errorf("client %d: a bundle of %d bytes has %d more than the buffers of its group", client, c.Res, left)
		}
		here := min(left, room)
		id := r.number(group, bid)
		at := int(id) * r.size
		r.sink.Deliver(client, r.mem[at:at+int(here)], id, now)
		if err := r.retire(client, group, bid, uint32(r.size)-here); err != nil {
			return err
		}
		left -= here
	}
	if r.eager {
		return r.recycle()
	}
	return nil
}
