package harness

import (
	"fmt"
	"math"

	"github.com/zcbench/zcbench/harness/load"
	"golang.org/x/sys/unix"
)

// held is a message in the application's hands.
type held struct {
	pieces   []piece
	asm      int32
	client   int32
	off      uint64 // stream offset
	deadline uint64 // clock tick of its release; 0 when the hold is a count
	older    int32  // places in the queue; -1: none
	younger  int32
	later    int32 // the next one of the same client, where each holds its own
}

// noPlace ends the lists of a hold queue.
const noPlace = -1

// holdQueue is the messages held, in the order they came; where each client
// holds so many of its own, also by client. Its places double when all are
// taken. A place that is free is in a list of its own by younger.
type holdQueue struct {
	places   []held
	free     int32
	oldest   int32
	youngest int32
	n        int
	limit    int    // messages of all clients; 0: by time, or by client
	each     int    // messages of each client; 0: all together
	ticks    uint64 // how long each is kept
	clients  []clientHold
}

// clientHold is what one client holds, where each holds its own.
type clientHold struct {
	first, last int32
	n           int32
}

// newHoldQueue makes a queue for so many messages of all clients, or so many of
// each, or a time; its places are to be made.
func newHoldQueue(messages, each, clients int, ticks uint64) holdQueue {
	q := holdQueue{free: noPlace, oldest: noPlace, youngest: noPlace, limit: messages, each: each, ticks: ticks}
	if each > 0 {
		q.clients = make([]clientHold, clients)
		for i := range q.clients {
			q.clients[i] = clientHold{first: noPlace, last: noPlace}
		}
		messages = each * clients
	}
	q.grow(messages + 1)
	return q
}

// grow adds places.
func (q *holdQueue) grow(by int) {
	from := len(q.places)
	q.places = append(q.places, make([]held, by)...)
	for i := len(q.places) - 1; i >= from; i-- {
		q.places[i].younger, q.free = q.free, int32(i)
	}
}

// push returns the place of a new youngest message of a client.
func (q *holdQueue) push(client int32) *held {
	if q.free == noPlace {
		q.grow(len(q.places))
	}
	at := q.free
	h := &q.places[at]
	q.free = h.younger
	h.client, h.older, h.younger, h.later = client, q.youngest, noPlace, noPlace
	if q.youngest == noPlace {
		q.oldest = at
	} else {
		q.places[q.youngest].younger = at
	}
	q.youngest = at
	q.n++
	if q.each > 0 {
		c := &q.clients[client]
		if c.first == noPlace {
			c.first = at
		} else {
			q.places[c.last].later = at
		}
		c.last = at
		c.n++
	}
	return h
}

// remove takes a message out, which is the oldest of its client, and returns its
// place, good until the next push.
func (q *holdQueue) remove(at int32) *held {
	h := &q.places[at]
	if h.older == noPlace {
		q.oldest = h.younger
	} else {
		q.places[h.older].younger = h.younger
	}
	if h.younger == noPlace {
		q.youngest = h.older
	} else {
		q.places[h.younger].older = h.older
	}
	if q.each > 0 {
		c := &q.clients[h.client]
		if c.first = h.later; c.first == noPlace {
			c.last = noPlace
		}
		c.n--
	}
	h.younger, q.free = q.free, at
	q.n--
	return h
}

// byTime reports whether messages are held for a time.
func (q *holdQueue) byTime() bool { return q.limit == 0 && q.each == 0 }

// keep moves the open message of a client, whose pieces are in c.pend, into the
// application's hands.
func (s *Sink) keep(client int, c *stream, now uint64) {
	if s.verify {
		s.verifyPieces(client, c.pend, c.off)
	} else if s.touch {
		for _, m := range c.pend {
			s.touched += load.Sum(m.bytes())
		}
	}
	h := s.hold.push(int32(client))
	h.pieces, c.pend = c.pend, h.pieces[:0]
	h.asm, c.asm = c.asm, -1
	h.off = c.off
	h.deadline = now + s.hold.ticks
	switch {
	case s.hold.byTime():
		s.ReleaseDue(now)
	case s.hold.each > 0:
		if mine := &s.hold.clients[client]; int(mine.n) > s.hold.each {
			s.release(mine.first)
		}
	case s.hold.n > s.hold.limit:
		s.release(s.hold.oldest)
	}
	s.finish(client, c, now)
}

// release lets a held message go, the oldest of its client.
func (s *Sink) release(at int32) {
	h := s.hold.remove(at)
	if s.verify {
		s.verifyPieces(int(h.client), h.pieces, h.off)
	}
	s.drop(h.pieces, h.asm)
	h.pieces, h.asm = h.pieces[:0], -1
}

// ReleaseDue lets go the messages whose time is over.
func (s *Sink) ReleaseDue(now uint64) {
	if !s.hold.byTime() {
		return
	}
	for s.hold.n > 0 && int64(now-s.hold.places[s.hold.oldest].deadline) >= 0 {
		s.release(s.hold.oldest)
	}
}

// ForceRelease lets the oldest held message go early, for a strategy that has
// no memory left, and reports whether there was one. Under a hold by time
// nothing is released before its time: the strategy waits.
func (s *Sink) ForceRelease() bool {
	if s.hold.n == 0 || s.hold.byTime() {
		return false
	}
	s.forced++
	s.release(s.hold.oldest)
	return true
}

// WaitNS returns how long a strategy may sleep before a held message is due, at
// most a second; a strategy with messages on time wakes for them.
func (s *Sink) WaitNS() int64 {
	const most = 1e9
	if s.datagrams.on {
		s.lookAround()
	}
	if s.hold.n == 0 || !s.hold.byTime() {
		return most
	}
	left := s.clk.NS(s.hold.places[s.hold.oldest].deadline - s.clk.Now())
	return int64(math.Max(1, math.Min(most, float64(left))))
}

// drop lets the pieces of a message go. The list of them is cleared: it must not
// keep alive what a strategy leaves to the garbage collector.
func (s *Sink) drop(pieces []piece, asm int32) {
	for i, m := range pieces {
		if s.verify {
			poison(m.bytes())
		}
		if m.buf >= 0 {
			s.Unref(m.buf)
		}
		pieces[i] = piece{}
	}
	if asm >= 0 {
		s.assembly.put(asm)
	}
}

// poison overwrites released memory in verify trials, so that a message read
// after its release cannot pass.
func poison(b []byte) {
	for i := range b {
		b[i] = 0xdb
	}
}

func (s *Sink) verifyPieces(client int, pieces []piece, off uint64) {
	var at uint32
	for _, m := range pieces {
		s.verifyPiece(client, m, at, off)
		at += m.n
	}
}

// verifyPiece checks the payload bytes of a piece that begins at byte at of the
// message at stream offset off.
func (s *Sink) verifyPiece(client int, m piece, at uint32, off uint64) {
	b := m.bytes()
	if at < load.HeaderBytes {
		skip := min(load.HeaderBytes-at, m.n)
		b, at = b[skip:], at+skip
	}
	if i := load.Mismatch(b, load.StreamKey(s.seed, client), off+uint64(at)); i >= 0 {
		s.Fail(fmt.Errorf("client %d, message at stream offset %d: payload byte %d of the stream is wrong (buffer %d holds %#x)",
			client, off, off+uint64(at)+uint64(i), m.buf, b[i]))
	}
}

func yieldSometimes(spins int) {
	if spins%256 == 255 {
		unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	}
}

// Holding is the number of messages in the application's hands.
func (s *Sink) Holding() int { return s.hold.n }
