package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// ringInc provides a few large buffers that the kernel consumes incrementally
// (6.12): each receive takes just its bytes from the head buffer.
var ringInc = harness.Strategy{
	Name: "ring-inc", Family: "uring", Needs: harness.NeedsUring,
	Summary: "large provided buffers, consumed incrementally",
	Params:  incParams,
	Fits:    fitsInc,
	Open: func(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
		return openInc(b, p, false)
	},
}

var incParams = []harness.Param{
	{Name: "entries", Kind: harness.ParamInt, Default: "2", Help: "buffers a client, at least 2; each has its share of the budget"},
	{Name: "zap", Kind: harness.ParamText, Default: "none", Values: []string{"none", "prefix"},
		Help: "give back the pages of what is consumed in a buffer still in use"},
	paramGroup, paramMultishot, paramRecv, paramReprovide,
}

type incremental struct {
	*provided
	fifos []*ring.IncFIFO // per group
	zap   bool
	zaps  []zapState // per group
	timer stopwatch  // of giving back
	// account is how a completion is accounted: at most one buffer, or the first
	// of a bundle. rest bytes lie in the buffers that follow.
	account func(f *ring.IncFIFO, bid uint16, n uint32, more bool) (got ring.Consumed, rest uint32, err error)
}

// incCompletions is the room for completions of each client. A receive takes all
// that is in the socket, so even a backlog makes few; a multishot makes up to 32
// in a row (MULTISHOT_MAX_RETRY in io_uring/net.c).
const incCompletions = 64

// incSize is the size of each of a client's buffers: its share of the budget, in
// whole pages.
func incSize(budget, entries int64) int64 {
	page := int64(unix.Getpagesize())
	return budget / entries / page * page
}

func openInc(b *harness.Bench, p harness.Values, bundle bool) (harness.Receiver, error) {
	w := b.Trial.Workload
	entries := p.Int("entries", 2)
	s := setup{
		size: int(incSize(w.BudgetBytes, int64(entries))), per: entries,
		flags: ring.PbufInc, bundle: bundle, completions: incCompletions * len(b.FDs),
	}
	if w.Transport == "udp" {
		// What is left of a buffer must take a datagram whole, or it is cut.
		s.minLeft = uint32(load.Largest(w.Sizes))
	}
	r, err := openProvided(b, p, s)
	if err != nil {
		return nil, err
	}
	inc := &incremental{
		provided: r, fifos: r.back.(*mapped).fifos, account: accountOne,
		zap: p.Text("zap") == "prefix", timer: newStopwatch(b.Sink, &r.count),
	}
	if bundle {
		inc.account = (*ring.IncFIFO).TakeBundle
	}
	inc.zaps = make([]zapState, len(inc.fifos))
	for g := range inc.zaps {
		inc.zaps[g].id = -1
	}
	r.take = inc.take
	return inc, r.provideAll()
}

// accountOne accounts a completion that must lie in one buffer.
func accountOne(f *ring.IncFIFO, bid uint16, n uint32, more bool) (ring.Consumed, uint32, error) {
	got, err := f.Take(bid, n, more)
	return got, 0, err
}

// take delivers what a run of completions brought.
func (r *incremental) take(cqes []ring.CQE) error {
	r.count.CQEs += uint64(len(cqes))
	for i := range cqes {
		if err := r.receive(cqes[i]); err != nil {
			return err
		}
	}
	return nil
}

// receive delivers what one completion brought.
func (r *incremental) receive(c ring.CQE) error {
	client, ok := r.begin(c)
	if !ok {
		return nil
	}
	f, n, more := r.fifos[r.group(client)], uint32(c.Res), c.Flags&ring.CQEBufMore != 0
	got, rest, err := r.account(f, c.BufferID(), n, more)
	for {
		if err != nil {
			return fmt.Errorf("client %d: %w", client, err)
		}
		if err := r.piece(client, got, n-rest); err != nil {
			return err
		}
		if n = rest; n == 0 {
			break
		}
		got, rest, err = f.TakeRest(n, more)
	}
	if r.eager {
		return r.recycle()
	}
	return nil
}

// piece delivers the n bytes that lie in one buffer.
func (r *incremental) piece(client int, got ring.Consumed, n uint32) error {
	group := r.group(client)
	if got.Left {
		if err := r.retire(client, group, got.LeftBid, got.LeftTail); err != nil {
			return err
		}
	}
	id := r.number(group, got.Bid)
	at := int(id)*r.size + int(got.Offset)
	r.sink.Deliver(client, r.mem[at:at+int(n)], id, r.sink.Now())
	if r.zap {
		r.zapPrefix(group, id, int(got.Offset+n))
	}
	if got.Retired {
		return r.retire(client, group, got.Bid, got.Tail)
	}
	return nil
}

// Kept is what is consumed of a buffer that the kernel still fills, all of one
// that it has left.
func (r *incremental) Kept(id int32) int64 {
	if used, head := r.fifos[int(id)/r.per].Filled(uint16(int(id) % r.per)); head {
		return int64(used)
	}
	return int64(r.size)
}
