package harness

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// How consumed messages are acknowledged to the generator.
const (
	ackNone   = iota // open loop: nobody waits
	ackClient        // closed loop: a count per client
	ackAll           // lockstep: one count over all
)

// Sink is the application above a receive strategy: it finds the messages in
// the streams, holds them as long as the workload says, and counts which
// buffers they lie in. Strategies call Deliver for each piece received and read
// Freed for the buffers nobody holds any more. It does not allocate once the
// warm-up has grown its tables.
type Sink struct {
	clk   clock.Clock
	seed  uint64
	conns []stream
	quiet []bool  // by client; nil: traffic is even
	refs  []int32 // per buffer: 1 for the strategy, 1 for each message in it
	freed []int32 // buffers whose count fell to zero, for the strategy

	contiguous bool
	touch      bool
	verify     bool
	holding    bool
	hold       holdQueue
	assembly   *assemblyPool

	got     uint64 // messages
	bytes   uint64
	sum     uint64
	touched uint64 // keeps payload reads from being optimised away
	copied  uint64
	forced  uint64
	err     error

	timed   bool
	ticks   []uint64 // latency of each message of the window
	sizes   []uint32
	clients []uint32
	sampled uint64 // message count at which the next sample is due; 0: none
	sample  func(messages uint64) (next uint64)

	ack       int
	prog      *load.Progress
	reply     replies
	datagrams datagrams

	// tamper, set by tests only, changes what a strategy delivers.
	tamper Tamper
}

// stream is one client's side of the traffic. What a message that comes whole
// touches is the first cache line: with thousands of clients each is cold.
type stream struct {
	off    uint64 // stream offset of the open message
	length uint32 // of the open message; 0: not known
	have   uint32 // bytes of it so far
	asm    int32  // assembly buffer of the open message; -1: none
	seq    uint32
	any    bool // a message has been seen, seq is the last one's
	count  uint64
	header load.Header
	raw    [load.HeaderBytes]byte
	pend   []piece
	// refused counts receives refused for want of a buffer.
	refused uint64
	_       [8]byte // to two lines
}

// piece is a run of message bytes inside one buffer.
type piece struct {
	data *byte
	n    uint32
	buf  int32
}

func (p piece) bytes() []byte { return unsafe.Slice(p.data, p.n) }

// NewSink returns the sink of a trial. prog may be nil in tests.
func NewSink(t record.Trial, clk clock.Clock, prog *load.Progress) (*Sink, error) {
	w := t.Workload
	s := &Sink{
		clk: clk, seed: t.Seed, conns: make([]stream, w.Clients), prog: prog,
		contiguous: w.Assembly == "contiguous",
		touch:      w.Touch == "payload",
		verify:     t.Purpose == record.Verify,
		timed:      t.Purpose == record.Timing || t.Purpose == record.Capacity || t.Purpose == record.Floor,
		holding:    w.Held() > 0 || w.HoldNS > 0,
	}
	switch w.Load.Mode {
	case "closed":
		s.ack = ackClient
	case load.Lockstep:
		s.ack = ackAll
	}
	if prog == nil {
		s.ack = ackNone
	}
	s.datagrams = newDatagrams(t)
	s.quiet = load.Quiet(w)
	s.reply = newReplies(w.ReplyBytes, w.Clients)
	s.hold = newHoldQueue(w.HoldMessages, w.HoldEach, w.Clients, clk.FromNS(w.HoldNS))
	s.makePieces(load.Largest(w.Sizes))
	if s.timed {
		s.ticks = resident[uint64](t.Messages + 1)
		s.sizes = resident[uint32](t.Messages + 1)
		s.clients = resident[uint32](t.Messages + 1)
	}
	var err error
	s.assembly, err = newAssemblyPool(load.Largest(w.Sizes), w.Clients+len(s.hold.places))
	return s, err
}

// How many pieces a message is taken to have at most, so that no list of pieces
// grows in a window: one for each KiB of the largest, in no more memory than this.
const (
	pieceSpan       = 1 << 10
	pieceTableBytes = 64 << 20
)

// makePieces gives each open and each held message its list of pieces.
func (s *Sink) makePieces(largest int64) {
	n := 1
	if !s.contiguous {
		lists := len(s.conns) + len(s.hold.places)
		n = min(int(largest/pieceSpan)+2, max(8, pieceTableBytes/int(unsafe.Sizeof(piece{}))/lists))
	}
	for i := range s.conns {
		s.conns[i].asm = -1
		s.conns[i].pend = resident[piece](n)
	}
	if s.holding {
		for i := range s.hold.places {
			s.hold.places[i].pieces = resident[piece](n)
		}
	}
}

// resident makes an empty slice whose memory is resident: its first use must not
// fault in a window.
func resident[T any](capacity int) []T {
	v := make([]T, capacity)
	clear(v)
	return v[:0]
}

// Buffers sizes the table of holders; buffers are numbered from 0.
func (s *Sink) Buffers(n int) {
	s.refs = make([]int32, n)
	s.freed = resident[int32](n)
}

// Lend notes that the strategy has handed buffer id to the kernel: it holds the
// buffer once until it calls Unref.
func (s *Sink) Lend(id int32) { s.refs[id] = 1 }

// Unref drops one holder of a buffer.
func (s *Sink) Unref(id int32) {
	s.refs[id]--
	if s.refs[id] == 0 {
		s.freed = append(s.freed, id)
	}
}

// Held reports whether any message lies in buffer id.
func (s *Sink) Held(id int32) bool { return s.refs[id] > 1 }

// TakeFreed returns the buffers nobody holds any more and forgets them. The
// slice is good until the next call of the sink.
func (s *Sink) TakeFreed() []int32 {
	f := s.freed
	s.freed = s.freed[:0]
	return f
}

// Now reads the clock messages are stamped with.
func (s *Sink) Now() uint64 { return s.clk.Now() }

// Got is the number of messages consumed.
func (s *Sink) Got() uint64 { return s.got }

// More reports whether a strategy should go on: the target is not reached, or
// not every message answered, and nothing has failed.
func (s *Sink) More(target uint64) bool {
	return (s.got < target || s.reply.owing > 0) && s.err == nil
}

// Err is the first failure.
func (s *Sink) Err() error { return s.err }

// Fail notes the first failure and stops the trial.
func (s *Sink) Fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// errGone is what strategies report when a peer closes before its time.
var errGone = errors.New("the generator closed the connection before the trial's messages were all received")

// Refused notes that a receive of a client was refused for want of a buffer.
func (s *Sink) Refused(client int) { s.conns[client].refused++ }

// Gone notes that a client's stream ended early; cause may be nil for a plain end.
func (s *Sink) Gone(client int, cause error) {
	if cause == nil {
		cause = errGone
	}
	s.Fail(fmt.Errorf("client %d after %d messages: %w", client, s.conns[client].count, cause))
}

// Deliver takes the bytes p of a client's stream, received at clock tick now
// into buffer id. Over udp p is one whole datagram: a message is one.
func (s *Sink) Deliver(client int, p []byte, id int32, now uint64) {
	if s.tamper != nil {
		client, p = s.tamper(client, p)
	}
	if s.datagrams.on {
		s.datagram(client, p, id, now)
		return
	}
	c := &s.conns[client]
	for len(p) > 0 && s.err == nil {
		if c.have == 0 && len(p) >= load.HeaderBytes {
			h := load.ParseHeader(p)
			if uint64(h.Length) <= uint64(len(p)) && h.Length >= load.HeaderBytes {
				c.header, c.length = h, h.Length
				s.whole(client, c, piece{&p[0], h.Length, id}, now)
				p = p[h.Length:]
				continue
			}
		}
		p = p[s.partial(client, c, p, id, now):]
	}
}

// whole consumes a message that lies in one piece.
func (s *Sink) whole(client int, c *stream, m piece, now uint64) {
	if !s.check(client, c) {
		return
	}
	if !s.holding {
		if s.verify {
			s.verifyPiece(client, m, 0, c.off)
			poison(m.bytes())
		} else if s.touch {
			s.touched += load.Sum(m.bytes())
		}
		s.finish(client, c, now)
		return
	}
	s.refs[m.buf]++
	c.pend = append(c.pend[:0], m)
	s.keep(client, c, now)
}

// partial adds the next bytes of an open message and returns how many it took.
func (s *Sink) partial(client int, c *stream, p []byte, id int32, now uint64) int {
	want := c.length
	if want == 0 {
		want = load.HeaderBytes
	}
	n := min(int(want-c.have), len(p))
	if c.have < load.HeaderBytes {
		copy(c.raw[c.have:], p[:n])
	}
	s.add(c, piece{&p[0], uint32(n), id})
	c.have += uint32(n)
	if c.length == 0 && c.have >= load.HeaderBytes {
		c.header = load.ParseHeader(c.raw[:])
		c.length = c.header.Length
		if !s.check(client, c) {
			return n
		}
	}
	if c.have == c.length && c.length > 0 {
		s.assembled(client, c, now)
	}
	return n
}

// assembled consumes a message that came in several pieces.
func (s *Sink) assembled(client int, c *stream, now uint64) {
	if s.holding {
		s.keep(client, c, now)
		return
	}
	if s.verify {
		s.verifyPieces(client, c.pend, c.off)
	} else if s.touch {
		for _, m := range c.pend {
			s.touched += load.Sum(m.bytes())
		}
	}
	s.drop(c.pend, c.asm)
	c.pend, c.asm = c.pend[:0], -1
	s.finish(client, c, now)
}

// check refuses a header that is not the one due on this stream.
func (s *Sink) check(client int, c *stream) bool {
	h := c.header
	switch {
	case h.Check != load.Check(s.seed, h.Client, h.Seq, h.Length) || h.Length < load.HeaderBytes:
		s.Fail(fmt.Errorf("client %d, message %d, stream offset %d: not a message header (length %d, client %d, sequence %d)",
			client, c.count, c.off, h.Length, h.Client, h.Seq))
	case int(h.Client) != client:
		s.Fail(fmt.Errorf("client %d received message %d of client %d: buffers are swapped", client, h.Seq, h.Client))
	case c.any && h.Seq <= c.seq:
		s.Fail(fmt.Errorf("client %d received message %d after message %d: stale or reordered", client, h.Seq, c.seq))
	case s.datagrams.on && h.Seq != s.datagrams.due[client]:
		s.Fail(s.datagrams.lost(client, fmt.Sprintf("message %d came where message %d is due", h.Seq, s.datagrams.due[client])))
	default:
		return true
	}
	return false
}

// finish counts a consumed message and acknowledges it.
func (s *Sink) finish(client int, c *stream, now uint64) {
	h := &c.header
	s.got++
	s.bytes += uint64(h.Length)
	s.sum += load.Work(h.Check, h.Length)
	c.seq, c.any = h.Seq, true
	c.count++
	c.off += uint64(h.Length)
	c.length, c.have = 0, 0
	if s.timed && len(s.ticks) < cap(s.ticks) {
		s.ticks = append(s.ticks, now-h.Intended)
		s.sizes = append(s.sizes, h.Length)
		s.clients = append(s.clients, h.Client)
	}
	if s.datagrams.on {
		s.datagrams.consumed(client, h.Seq)
		if s.prog != nil {
			s.prog.Done().Store(s.got) // whatever the load: see load.EndSeq
		}
	}
	if s.got == s.sampled {
		s.sampled = s.sample(s.got)
	}
	if s.reply.bytes > 0 {
		s.reply.owe(client)
		return
	}
	s.acknowledge(client, c.count, s.got)
}

// Gate returns when a message is at the receiver. In lockstep it waits until
// the generator has handed over the next message whole, so that how often a
// strategy wakes does not depend on who runs first; otherwise it does nothing.
func (s *Sink) Gate() {
	if s.ack != ackAll {
		return
	}
	for spins := 0; s.prog.Sent().Load() <= s.got; spins++ {
		yieldSometimes(spins)
	}
}

// StartWindow forgets the latencies of the warm-up.
func (s *Sink) StartWindow() {
	s.ticks, s.sizes, s.clients = s.ticks[:0], s.sizes[:0], s.clients[:0]
}

// Fingerprint is the work done so far.
func (s *Sink) Fingerprint() record.Fingerprint {
	return record.Fingerprint{Ops: int64(s.got), Bytes: int64(s.bytes), Sum: s.sum}
}

// OpenBytes is how many bytes of a client's open message lie in buffers.
func (s *Sink) OpenBytes(client int) int {
	if s.conns[client].asm >= 0 {
		return 0
	}
	return int(s.conns[client].have)
}

// HeldBy is the number of messages that lie in buffer id.
func (s *Sink) HeldBy(id int32) int { return int(s.refs[id]) - 1 }
