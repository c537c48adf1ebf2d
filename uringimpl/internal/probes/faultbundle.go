package probes

import (
	"fmt"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// The sizes of the report on entries that stay shrunk.
const (
	shrunkBuffers = 4
	shrunkSize    = 64
	shrunkAsk     = 10
	shrunkSent    = 100
)

// collectShrunk has a bundle of a stated length find its socket empty, and then
// another socket of the group receive a bundle of any length.
func collectShrunk(t *trace) error {
	g := newRig(shrunkBuffers, shrunkSize, 0, 0)
	g.needBundles()
	g.provideAll()
	_, waits := g.unixPair()
	tx, rx := g.unixPair()
	r := round{Name: "bundle after one that found nothing", Buffers: shrunkBuffers, Size: shrunkSize, Asked: shrunkAsk, Sent: []int{shrunkSent}}
	g.read(ring.OpRecv, waits, shrunkAsk, ring.RecvBundle, 1)
	g.lacking("receive bundles", g.reap(1, 0))
	r.Before = g.slots()
	g.send(tx, counting(shrunkSent))
	g.read(ring.OpRecv, rx, shrunkBuffers*shrunkSize, ring.RecvBundle, 2)
	r.CQEs = g.reap(1, patience)
	r.Runs, r.Slots, r.Head = g.runsOfCounting(), g.slots(), g.head()
	t.Rounds = append(t.Rounds, r)
	return g.close()
}

func (g *rig) needBundles() {
	if g.err == nil && g.ring.Features()&ring.FeatBundle == 0 {
		g.err = refusal{"receive bundles", errNoBundles}
	}
}

func judgeShrunk(t trace) judgment {
	if len(t.Rounds) != 1 || len(t.Rounds[0].CQEs) != 1 || len(t.Rounds[0].Before) == 0 {
		return unclear("the bundle did not complete")
	}
	r := t.Rounds[0]
	c := r.CQEs[0]
	if c.Res != int32(r.Sent[0]) || !c.buffer() {
		return unclear("%d bytes were sent, but the bundle completed with %v", r.Sent[0], c)
	}
	// A bundle fills each buffer, the last apart.
	right := true
	for _, x := range r.Runs {
		right = right && x.Bid == c.bid()+uint16(x.From/r.Size) && x.At == x.From%r.Size
	}
	figures := fmt.Sprintf("a bundle of at most %d bytes that found its socket empty left the entry of buffer %d with a length of %d of %d; %d bytes received after it from another socket lie %s, %v",
		r.Asked, r.Before[0].Bid, r.Before[0].Len, r.Size, r.Sent[0], pieces(r.Runs), c)
	switch {
	case right && r.Before[0].Len == r.Size:
		return absent("%s", figures)
	case !right:
		return present("%s", figures)
	}
	return unclear("the entry shrank, yet the next bundle lies as it should: %s", figures)
}

func pieces(runs []run) string {
	text := ""
	for i, x := range runs {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d in buffer %d at %d", x.N, x.Bid, x.At)
	}
	return text
}
