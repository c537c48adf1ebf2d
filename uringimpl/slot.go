package uringimpl

import (
	"errors"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
)

// slot receives into a private range of each client, from its start: pages the
// traffic never reaches are never resident. Replies are sent from a second such
// range.
var slot = harness.Strategy{
	Name: "slot", Family: "uring", Needs: harness.NeedsUring, Replies: true,
	Summary: "a private range a client; only its touched pages are resident",
	Params: []harness.Param{
		{Name: "range", Kind: harness.ParamBytes, Default: harness.Auto, Help: "bytes of address space a client; auto: the budget"},
		paramReclaim, paramTHP,
	},
	Fits: func(w record.Workload, p harness.Values) error {
		return fitsPrivate(w, p.Bytes("range", w.BudgetBytes))
	},
	Reserves: func(w record.Workload, p harness.Values) int64 {
		halves := int64(1)
		if w.ReplyBytes > 0 {
			halves = 2
		}
		return halves * int64(w.Clients) * (p.Bytes("range", w.BudgetBytes) + hugeBytes)
	},
	Open: openSlot,
}

type slots struct {
	*single
	*private
}

func openSlot(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	mem, err := openPrivate(b, p, int(p.Bytes("range", b.Trial.Workload.BudgetBytes)))
	if err != nil {
		return nil, err
	}
	s, err := openSingle(b, &mem.count)
	if err != nil {
		return nil, errors.Join(err, mem.unmap())
	}
	s.room, s.took = mem.room, mem.took
	s.out.room, s.out.done = mem.reply, mem.replied
	return slots{s, mem}, nil
}

func (s slots) Memory() harness.Memory {
	m := s.memory()
	m.Ring = s.ring.Bytes()
	m.Pinned = m.Ring
	return m
}

func (s slots) Close() error { return errors.Join(s.single.close(), s.unmap()) }
