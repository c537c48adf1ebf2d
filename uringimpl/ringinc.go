package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// ringInc provides a few large buffers that the kernel consumes incrementally
// (6.12): each receive takes just its bytes from the head buffer.
var ringInc = harness.Strategy{
	Name: "ring-inc", Family: "uring", Needs: harness.NeedsUring,
	Summary: "large provided buffers, consumed incrementally",
	Params: []harness.Param{
		{Name: "entries", Kind: harness.ParamInt, Default: "2", Help: "buffers a client, at least 2; each has its share of the budget"},
		{Name: "zap", Kind: harness.ParamText, Default: "none", Values: []string{"none", "prefix"},
			Help: "give back the pages of what is consumed in a buffer still in use"},
		paramMultishot, paramReprovide,
	},
	Fits: func(w record.Workload, p harness.Values) error {
		n := int64(p.Int("entries", 2))
		if n < 2 {
			return fmt.Errorf("%d entries: incremental consumption needs at least 2, or each retirement starves the client", n)
		}
		page := int64(unix.Getpagesize())
		size := w.BudgetBytes / n / page * page
		if size == 0 {
			return fmt.Errorf("%d entries leave less than a page each of the budget of %d bytes", n, w.BudgetBytes)
		}
		// A message may begin with the last byte of a buffer.
		if largest := load.Largest(w.Sizes); w.Assembly != "contiguous" && largest > 1+(n-1)*size {
			return fmt.Errorf("%d entries of %d bytes are too few for a message of %d bytes left where it was received; raise the budget", n, size, largest)
		}
		return fitsBudget(w, p)
	},
	Open: openRingInc,
}

type incremental struct {
	*provided
	fifos []*ring.IncFIFO
	zap   bool
	zaps  []zapState // per client
}

// zapState is how far the buffer in use is consumed and given back, in bytes.
type zapState struct {
	id     int32
	used   int
	zapped int
}

// zapStep is how many bytes are given back at a time: the cost of MADV_DONTNEED
// falls steeply from 1 to 16 pages.
const zapStep = 64 << 10

// incCompletions is the room for completions of each client. A receive takes all
// that is in the socket, so even a backlog makes few; a multishot makes up to 32
// in a row (MULTISHOT_MAX_RETRY in io_uring/net.c).
const incCompletions = 64

func openRingInc(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	entries := p.Int("entries", 2)
	page := unix.Getpagesize()
	size := int(b.Trial.Workload.BudgetBytes) / entries / page * page
	r, err := openProvided(b, p, size, entries, ring.PbufInc, incCompletions*len(b.FDs))
	if err != nil {
		return nil, err
	}
	inc := &incremental{provided: r, zap: p.Text("zap") == "prefix", zaps: make([]zapState, len(b.FDs))}
	for _, g := range r.groups {
		inc.fifos = append(inc.fifos, ring.NewIncFIFO(g.Entries(), 0))
	}
	for c := range inc.zaps {
		inc.zaps[c].id = -1
	}
	r.add, r.take = inc.push, inc.take
	return inc, r.provideAll()
}

func (r *incremental) push(client int, bid uint16) error {
	r.fifos[client].Push(bid, uint32(r.size))
	return r.put(client, bid)
}

// take delivers what a run of completions brought.
func (r *incremental) take(cqes []ring.CQE) error {
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
		got, err := r.fifos[client].Take(c.BufferID(), uint32(c.Res), c.Flags&ring.CQEBufMore != 0)
		if err != nil {
			return fmt.Errorf("client %d: %w", client, err)
		}
		if got.Left {
			if err := r.retire(client, got.LeftBid, got.LeftTail); err != nil {
				return err
			}
		}
		id := int32(client*r.per + int(got.Bid))
		at := int(id)*r.size + int(got.Offset)
		r.count.Receives++
		r.sink.Deliver(client, r.mem[at:at+int(c.Res)], id, r.sink.Now())
		if r.zap {
			r.zapPrefix(client, id, int(got.Offset)+int(c.Res))
		}
		if got.Retired {
			if err := r.retire(client, got.Bid, got.Tail); err != nil {
				return err
			}
		}
		if r.eager {
			if err := r.recycle(); err != nil {
				return err
			}
		}
	}
	return nil
}

// retire notes that the kernel has left a buffer; tail bytes of it went unused.
func (r *incremental) retire(client int, bid uint16, tail uint32) error {
	if !r.groups[client].Retire(bid) {
		return notOurs(client, bid)
	}
	r.count.Wasted += uint64(tail)
	r.sink.Unref(int32(client*r.per + int(bid)))
	return nil
}

// zapPrefix gives back the whole pages of what is consumed in a buffer while no
// message lies in it. The kernel goes on behind them.
func (r *incremental) zapPrefix(client int, id int32, used int) {
	z := &r.zaps[client]
	if z.id != id || used < z.used {
		*z = zapState{id: id}
	}
	z.used = used
	page := unix.Getpagesize()
	end := used / page * page
	if end-z.zapped < zapStep || r.sink.Held(id) {
		return
	}
	base := int(id) * r.size
	r.count.Syscalls++
	r.count.Reclaims++
	if err := unix.Madvise(r.mem[base+z.zapped:base+end], unix.MADV_DONTNEED); err != nil {
		r.sink.Fail(fmt.Errorf("give back %d bytes of a buffer: %w", end-z.zapped, err))
	}
	z.zapped = end
}
