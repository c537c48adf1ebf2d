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
}

// holdQueue is the messages held, oldest first, in a ring that doubles when it
// is full.
type holdQueue struct {
	ring  []held
	head  int
	n     int
	limit int    // messages; 0: by time
	ticks uint64 // how long each is kept
}

func newHoldQueue(messages int, ticks uint64) holdQueue {
	size := 1
	for size < messages+1 {
		size *= 2
	}
	return holdQueue{ring: make([]held, size), limit: messages, ticks: ticks}
}

// push returns the place of a new youngest message.
func (q *holdQueue) push() *held {
	if q.n == len(q.ring) {
		bigger := make([]held, 2*len(q.ring))
		for i := range q.n {
			bigger[i] = q.ring[(q.head+i)&(len(q.ring)-1)]
		}
		q.ring, q.head = bigger, 0
	}
	h := &q.ring[(q.head+q.n)&(len(q.ring)-1)]
	q.n++
	return h
}

func (q *holdQueue) pop() *held {
	h := &q.ring[q.head]
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return h
}

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
	h := s.hold.push()
	h.pieces, c.pend = c.pend, h.pieces[:0]
	h.asm, c.asm = c.asm, -1
	h.client, h.off = int32(client), c.off
	h.deadline = now + s.hold.ticks
	if s.hold.limit > 0 {
		for s.hold.n > s.hold.limit {
			s.release()
		}
	} else {
		s.ReleaseDue(now)
	}
	s.finish(client, c, now)
}

// release lets the oldest held message go.
func (s *Sink) release() {
	h := s.hold.pop()
	if s.verify {
		s.verifyPieces(int(h.client), h.pieces, h.off)
	}
	s.drop(h.pieces, h.asm)
	h.pieces, h.asm = h.pieces[:0], -1
}

// ReleaseDue lets go the messages whose time is over.
func (s *Sink) ReleaseDue(now uint64) {
	if s.hold.limit > 0 {
		return
	}
	for s.hold.n > 0 && int64(now-s.hold.ring[s.hold.head].deadline) >= 0 {
		s.release()
	}
}

// ForceRelease lets the oldest held message go early, for a strategy that has
// no memory left, and reports whether there was one. Under a hold by time
// nothing is released before its time: the strategy waits.
func (s *Sink) ForceRelease() bool {
	if s.hold.n == 0 || s.hold.limit == 0 {
		return false
	}
	s.forced++
	s.release()
	return true
}

// WaitNS returns how long a strategy may sleep before a held message is due, at
// most a second; a strategy with messages on time wakes for them.
func (s *Sink) WaitNS() int64 {
	const most = 1e9
	if s.hold.n == 0 || s.hold.limit > 0 {
		return most
	}
	left := s.clk.NS(s.hold.ring[s.hold.head].deadline - s.clk.Now())
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
