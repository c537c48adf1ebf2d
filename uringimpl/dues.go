package uringimpl

import "github.com/zcbench/zcbench/harness"

// dues are the buffers that nobody holds any more, by group, until they are
// handed back. Which groups are to be looked at is kept as it changes, so that a
// wake-up costs what it brought and not what there is of clients.
type dues struct {
	groups    []dueGroup
	ready     []int32 // groups whose buffers go back at the next occasion
	least     int     // how many must be due
	lazyUnder int     // and fewer than this many be with the kernel; 0: never mind
}

type dueGroup struct {
	bids   []uint16
	queued bool // in ready
}

// newDues works out when buffers go back: once replenish of them are due, but of
// a small group at most half, or the kernel would run out each time.
func newDues(groups, per int, p harness.Values) dues {
	d := dues{
		groups: make([]dueGroup, groups), ready: make([]int32, 0, groups),
		least: min(p.Int("replenish", 1), max(1, per/2)),
	}
	if p.Text("reprovide") == "lazy" {
		d.lazyUnder = max(per/2, 1)
	}
	all := make([]uint16, groups*per)
	for g := range d.groups {
		d.groups[g].bids = all[g*per : g*per : (g+1)*per]
	}
	return d
}

// check queues a group whose buffers are to go back, given how many the kernel
// has: one without any gets what there is.
func (d *dues) check(g, available int) {
	due := &d.groups[g]
	n := len(due.bids)
	if n == 0 || due.queued {
		return
	}
	if available > 0 && (n < d.least || d.lazyUnder > 0 && available >= d.lazyUnder) {
		return
	}
	due.queued = true
	d.ready = append(d.ready, int32(g))
}

// recycle hands back what nobody holds any more.
func (r *provided) recycle() error {
	for _, id := range r.sink.TakeFreed() {
		g := 0
		if !r.shared {
			g = int(id) / r.per
		}
		r.groups[g].bids = append(r.groups[g].bids, uint16(int(id)-g*r.per))
		r.check(g, r.back.available(g))
	}
	kept := r.ready[:0]
	for _, g := range r.ready {
		due := &r.groups[g]
		n, err := r.give(int(g), due.bids)
		if err != nil {
			return err
		}
		r.count.Reprovides += uint64(n)
		due.queued = n < len(due.bids)
		due.bids = append(due.bids[:0], due.bids[n:]...)
		if due.queued {
			kept = append(kept, g) // the submission ring is full
		}
	}
	r.ready = kept
	return nil
}
