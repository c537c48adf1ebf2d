package uringimpl

import (
	"fmt"
	"slices"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// legacy hands buffers back by IORING_OP_PROVIDE_BUFFERS. A request takes buffers
// that are neighbours in memory, so what goes back together is sorted first and
// each run of neighbours becomes a request. The kernel hands buffers out in the
// order it got them.
type legacy struct {
	*pool
	ring   *ring.Ring
	have   []int  // per group: buffers the kernel has
	in     []bool // per buffer: the kernel has it
	atOnce int    // most buffers of a request
	skip   bool   // ask for no completion
	coming uint32 // completions of requests to come
}

// provideTag, added to a group's number, marks the completions of requests that
// hand back.
const provideTag = 1 << 32

func newLegacy(r *ring.Ring, p *pool, groups int, skip bool) *legacy {
	return &legacy{
		pool: p, ring: r, have: make([]int, groups), in: make([]bool, groups*p.per),
		atOnce: ring.MaxLegacyBuffers, skip: skip,
	}
}

func (l *legacy) give(group int, bids []uint16) (int, error) {
	slices.Sort(bids)
	for at := 0; at < len(bids); {
		n := 1
		for at+n < len(bids) && n < l.atOnce && bids[at+n] == bids[at]+uint16(n) {
			n++
		}
		ok, err := l.provide(group, bids[at], n)
		if !ok || err != nil {
			return at, err
		}
		at += n
	}
	return len(bids), nil
}

// provide asks the kernel to take n neighbours; false: the submission ring has no
// room, even after a call.
func (l *legacy) provide(group int, bid uint16, n int) (bool, error) {
	e := l.ring.Next()
	if e == nil {
		if err := l.ring.Enter(0, 0, false); err != nil {
			return false, err
		}
		if e = l.ring.Next(); e == nil {
			return false, nil
		}
	}
	e.Provide(uint16(group), bid, n, l.at(group, bid), uint32(l.size))
	e.UserData = provideTag + uint64(group)
	if l.skip {
		e.Flags |= ring.SQECQESkipSuccess
	} else {
		l.coming++
	}
	first := group*l.per + int(bid)
	for i := range l.in[first : first+n] {
		if l.in[first+i] {
			return false, fmt.Errorf("buffer group %d: buffer %d %w", group, int(bid)+i, ring.ErrInRing)
		}
		l.in[first+i] = true
	}
	l.have[group] += n
	return true, nil
}

// done handles the completion of a request.
func (l *legacy) done(c ring.CQE) error {
	if c.Res < 0 {
		return fmt.Errorf("provide buffers to group %d: %w", c.UserData-provideTag, unix.Errno(-c.Res))
	}
	l.coming--
	return nil
}

func (l *legacy) retire(group int, bid uint16) bool {
	id := group*l.per + int(bid)
	if int(bid) >= l.per || !l.in[id] {
		return false
	}
	l.in[id] = false
	l.have[group]--
	return true
}

func (l *legacy) available(group int) int { return l.have[group] }
func (l *legacy) waitFor() uint32         { return l.coming }

// bytes is 0: the kernel keeps its list in memory of its own.
func (l *legacy) bytes() int64 { return 0 }

// close has nothing to do: groups go with the ring.
func (l *legacy) close() error { return nil }
