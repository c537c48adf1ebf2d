package uringimpl

import (
	"errors"
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
)

// private is the memory of strategies that give each client a range of its own:
// bytes go to the range's cursor, which returns to the start as soon as no
// message lies in the range. Range c has buffer number c. Where messages are
// answered there is a second range a client, of the same size, for its replies.
type private struct {
	sink *harness.Sink
	ranged
	least   int // bytes of room a receive must have
	ranges  []span
	send    ranged // the ranges of replies; none without
	reclaim reclaimer
	count   harness.Counters
}

// span is where one client's next bytes go: mem[cursor:limit] of its range.
type span struct {
	cursor int
	limit  int
	high   int // bytes from the start that may be touched
}

func openPrivate(b *harness.Bench, p harness.Values, size int) (*private, error) {
	w := b.Trial.Workload
	r := &private{sink: b.Sink, ranges: make([]span, len(b.FDs)), least: leastRoom(w)}
	huge := p.Text("thp") == "always"
	r.reclaim = newReclaimer(b.Sink, p.Text("reclaim"), huge, &r.count)
	var err error
	if r.ranged, err = mapRanges(len(b.FDs), size, huge); err != nil {
		return nil, err
	}
	if w.ReplyBytes > 0 {
		if r.send, err = mapRanges(len(b.FDs), size, huge); err != nil {
			return nil, errors.Join(err, r.ranged.close())
		}
	}
	b.Sink.Buffers(len(b.FDs))
	for c := range r.ranges {
		r.ranges[c].limit = r.size
		b.Sink.Lend(int32(c))
	}
	return r, nil
}

// leastRoom is how much room each receive must have: any will do for a stream,
// but what does not fit of a datagram is lost.
func leastRoom(w record.Workload) int {
	if w.Transport == "udp" {
		return int(load.Largest(w.Sizes))
	}
	return 1
}

// fitsPrivate refuses messages and replies that a client's range cannot hold.
func fitsPrivate(w record.Workload, size int64) error {
	if w.ReplyBytes > size {
		return fmt.Errorf("replies of %d bytes do not fit the send half of %d bytes a client", w.ReplyBytes, size)
	}
	w.BudgetBytes = size
	return fitsBudget(w, nil)
}

// room returns where a client's next bytes go. When its range is full it waits
// (nil) for held messages, letting them go early if it may, and goes on at the
// start once only an open message is left at the end.
func (r *private) room(c int) ([]byte, error) {
	s := &r.ranges[c]
	for s.limit-s.cursor < r.least {
		open := r.sink.OpenBytes(c)
		switch {
		case !r.sink.Held(int32(c)):
			if err := r.rewind(c); err != nil {
				return nil, err
			}
		case r.sink.HeldBy(int32(c)) == 1 && open > 0 && open < r.size:
			// Only the open message is there, in one piece that ends at the
			// cursor: all the rest of the range is free.
			if s.cursor < r.size {
				s.limit = r.size
			} else {
				s.cursor, s.limit = 0, r.size-open
			}
		case r.sink.ForceRelease():
		case r.sink.Holding() > 0:
			return nil, nil
		default:
			return nil, fmt.Errorf("client %d: an open message fills its range of %d bytes; raise the budget", c, r.size)
		}
	}
	return r.of(c)[s.cursor:s.limit], nil
}

// took delivers n bytes that came to a client's cursor.
func (r *private) took(c, n int) error {
	s := &r.ranges[c]
	p := r.of(c)[s.cursor:][:n]
	s.cursor += n
	s.high = max(s.high, s.cursor)
	r.count.Receives++
	r.sink.Deliver(c, p, int32(c), r.sink.Now())
	if !r.sink.Held(int32(c)) {
		return r.rewind(c)
	}
	return nil
}

// rewind starts a client's range again, and gives back what it touched.
func (r *private) rewind(c int) error {
	s := &r.ranges[c]
	touched := s.high
	*s = span{limit: r.size}
	return r.reclaim.giveBack(r.pages(c), touched)
}

// reply returns where a client's replies are composed.
func (r *private) reply(c int) []byte { return r.send.of(c) }

// replied gives back what replies touched, all of which are sent.
func (r *private) replied(c, touched int) error { return r.reclaim.giveBack(r.send.pages(c), touched) }

func (r *private) memory() harness.Memory {
	m := harness.Memory{Buffers: []residency.Region{region("buffers", r.mem)}}
	if r.send.mem != nil {
		m.Buffers = append(m.Buffers, region("send", r.send.mem))
	}
	return m
}

func (r *private) unmap() error { return errors.Join(r.ranged.close(), r.send.close()) }

// Kept is what is filled of a range: it starts again only as a whole.
func (r *private) Kept(c int32) int64 { return int64(r.ranges[c].high) }
