package load

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// generator sends one trial's schedule. It runs on one locked thread.
type generator struct {
	trial record.Trial
	sched Schedule
	clk   clock.Clock
	prog  *Progress
	out   []outbox
	next  []int32 // next message of the same client, -1 at the end
	buf   []byte  // the message being sent: header, then payload
	fill  bool    // payload bytes are checked by the receiver
	// replies takes in what the receiver sends back; nil: nothing.
	replies *replyReader
	stop    uint64 // tick at which to give up
	// lifeline is the connection that ends when the receiver goes.
	lifeline  int
	datagrams bool // a message is one datagram
	marker    marker

	late      []int64 // ns, per message, of the window
	idle      uint64  // ticks with nothing to send
	blocked   uint64  // ticks with a full socket and something due
	blockedAt uint64  // since when; 0: not
	blockers  int     // clients with a full socket
	full      []int32 // those clients, and some that are no more
	stuck     int64   // messages that met a full socket
}

// outbox is what waits for one client's socket.
type outbox struct {
	fd      int
	head    int32  // first message not wholly sent, -1: none
	tail    int32  // last message due
	off     uint32 // bytes of head sent
	base    uint64 // stream offset of head
	blocked bool
	retry   uint64 // tick of the next attempt while blocked
	sent    uint64 // messages, closed loop
	last    uint32 // of datagrams: sequence number of the last one sent, plus one
}

// Generate accepts the clients of a trial on ln, sends its schedule and reports
// how that went. It returns when everything is sent, the receiver has gone, or
// the trial's deadline has passed.
func Generate(t record.Trial, ln *Listener, p *Progress) (record.Generator, error) {
	clk, err := clock.New(t.Clock.Source, t.Clock.TicksHz)
	if err != nil {
		return record.Generator{}, err
	}
	sched := NewSchedule(t)
	if t.Workload.Load.Mode == "open" && sched.At == nil {
		return record.Generator{}, fmt.Errorf("trial %s: an open load needs a rate, not %g messages a second", t.ID, t.Workload.Load.RateHz)
	}
	conns, err := accept(ln, t)
	if err != nil {
		return record.Generator{}, err
	}
	defer conns.close()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if t.OtherCPU >= 0 {
		if err := Pin(t.OtherCPU); err != nil {
			return record.Generator{}, err
		}
	}
	g := newGenerator(t, sched, clk, p, conns)
	g.datagrams = ln.network == UDP
	if g.replies, err = newReplyReader(t, g.fds()); err != nil {
		return record.Generator{}, err
	}
	defer g.replies.close()
	return g.run()
}

func newGenerator(t record.Trial, sched Schedule, clk clock.Clock, p *Progress, conns *clients) *generator {
	g := &generator{
		trial: t, sched: sched, clk: clk, prog: p,
		out:  make([]outbox, len(conns.fds)),
		next: make([]int32, len(sched.Size)),
		buf:  make([]byte, Largest(t.Workload.Sizes)),
		fill: t.Purpose == record.Verify,
		late: make([]int64, 0, t.Messages),
		stop: clk.Now() + clk.FromNS(t.DeadlineMS*int64(time.Millisecond)),

		lifeline: conns.lifeline,
	}
	Fill(g.buf, StreamKey(t.Seed, 0), 0)
	for i, fd := range conns.fds {
		g.out[i] = outbox{fd: fd, head: -1}
	}
	return g
}

var (
	errStopped = errors.New("the generator gave up at the trial's deadline")
	errGone    = errors.New("the receiver has closed its connections")
)

// run sends the warm-up, waits for the receiver to be ready, then the window.
func (g *generator) run() (record.Generator, error) {
	send := g.open
	switch g.trial.Workload.Load.Mode {
	case "closed":
		send = g.closed
	case Lockstep:
		send = g.lockstep
	}
	n := len(g.sched.Size)
	err := send(0, g.sched.Warmup)
	if err == nil {
		err = g.awaitReplies()
	}
	if err != nil {
		return record.Generator{}, fmt.Errorf("warm-up: %w", err)
	}
	for spins := 0; g.prog.Phase().Load() == 0; spins++ {
		if err := g.pause(spins); err != nil {
			return record.Generator{}, fmt.Errorf("waiting for the receiver to finish the warm-up: %w", err)
		}
	}
	g.late, g.idle, g.blocked, g.stuck = g.late[:0], 0, 0, 0
	cpu, start := threadCPU(), g.clk.Now()
	if g.trial.Workload.Load.Mode == "open" {
		start += g.clk.FromNS(leadNS)
	}
	err = send(g.sched.Warmup, n)
	rep := g.report(g.clk.NS(g.clk.Now()-start), threadCPU()-cpu)
	if err == nil {
		err = g.awaitReplies()
	}
	if err == nil {
		err = g.linger()
	}
	return rep, err
}

// linger keeps the connections open until the receiver closes its end: an early
// end of stream would reach some clients before others have all their bytes.
func (g *generator) linger() error {
	for g.clk.Now() < g.stop {
		gone, err := g.gone(100)
		if err != nil {
			return fmt.Errorf("wait for the receiver to close: %w", err)
		}
		if gone {
			return nil
		}
		if g.datagrams {
			if err := g.mark(); err != nil {
				return nil // gone, too
			}
		}
	}
	return errStopped
}

// gone reports whether the receiver has closed its end, waiting for that at most
// some milliseconds.
func (g *generator) gone(waitMS int) (bool, error) {
	fds := [1]unix.PollFd{{Fd: int32(g.lifeline), Events: unix.POLLIN | unix.POLLRDHUP}}
	if g.replies != nil {
		fds[0].Events = unix.POLLRDHUP // what comes in is a reply
	}
	n, err := unix.Poll(fds[:], waitMS)
	if err != nil && err != unix.EINTR {
		return false, err
	}
	return n > 0, nil
}

// A waiting loop yields every so many turns, for machines with a single CPU, and
// looks less often whether anybody is there.
const (
	yieldTurns = 1 << 8
	lookTurns  = 1 << 14
)

// pause is one turn of a waiting loop. It watches the deadline and the receiver.
func (g *generator) pause(spins int) error {
	if spins%yieldTurns != yieldTurns-1 {
		return nil
	}
	unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
	if g.clk.Now() > g.stop {
		return errStopped
	}
	if spins%lookTurns != lookTurns-1 {
		return nil
	}
	gone, err := g.gone(0)
	if err == nil && gone {
		err = errGone
	}
	if err == nil && g.datagrams {
		err = g.mark()
	}
	return err
}

func threadCPU() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}

// push tries to send everything due to client c. It reports an error only when
// the connection is gone.
func (g *generator) push(c int, intended []uint64) error {
	o := &g.out[c]
	for o.head >= 0 {
		i := o.head
		size := g.sched.Size[i]
		g.compose(c, i, intended[i], o.base)
		n, err := g.hand(c, i, g.buf[o.off:size])
		if err != nil {
			return err
		}
		if n == 0 {
			g.block(c)
			return nil
		}
		if o.off += uint32(n); o.off < size {
			continue
		}
		o.base += uint64(size)
		o.off, o.head = 0, g.next[i]
		o.sent++
		g.replies.sent(c)
	}
	g.unblock(o)
	return nil
}

// hand gives the kernel bytes of message i for client c and returns how many it
// took: 0, if the socket is full.
func (g *generator) hand(c int, i int32, p []byte) (int, error) {
	if g.datagrams {
		return g.handDatagram(c, i, p)
	}
	n, errno := send(g.out[c].fd, p)
	switch errno {
	case 0:
		return n, nil
	case unix.EAGAIN:
		return 0, nil
	}
	return 0, fmt.Errorf("send message %d to client %d: %w", i, c, errno)
}

// compose writes message i into the buffer. Only verify trials fill the
// payload: elsewhere its bytes are not looked at.
func (g *generator) compose(c int, i int32, intended, base uint64) {
	size := g.sched.Size[i]
	Header{
		Length: size, Client: uint32(c), Intended: intended, Seq: uint32(i),
		Check: Check(g.trial.Seed, uint32(c), uint32(i), size),
	}.Put(g.buf)
	if g.fill {
		Fill(g.buf[HeaderBytes:size], StreamKey(g.trial.Seed, c), base+HeaderBytes)
	}
}

// retryNS is how long a full socket is left alone: retrying at once would spend
// the generator's time on refusals.
const retryNS = 20_000

func (g *generator) block(c int) {
	o, now := &g.out[c], g.clk.Now()
	o.retry = now + g.clk.FromNS(retryNS)
	if o.blocked {
		return
	}
	o.blocked = true
	g.full = append(g.full, int32(c))
	g.stuck++
	if g.blockers++; g.blockers == 1 {
		g.blockedAt = now
	}
}

func (g *generator) unblock(o *outbox) {
	if !o.blocked {
		return
	}
	o.blocked = false
	if g.blockers--; g.blockers == 0 {
		g.blocked += g.clk.Now() - g.blockedAt
	}
}

// enqueue makes message i the last one due to its client.
func (g *generator) enqueue(i int32) *outbox {
	o := &g.out[g.sched.Client[i]]
	g.next[i] = -1
	if o.head < 0 {
		o.head = i
	} else {
		g.next[o.tail] = i
	}
	o.tail = i
	return o
}

// retryBlocked tries the full sockets whose time has come.
func (g *generator) retryBlocked(now uint64, intended []uint64) error {
	if g.blockers == 0 {
		return nil
	}
	kept := g.full[:0]
	for n, c := range g.full {
		o := &g.out[c]
		if !o.blocked {
			continue
		}
		if now >= o.retry {
			if err := g.push(int(c), intended); err != nil {
				g.full = append(kept, g.full[n:]...)
				return err
			}
		}
		if o.blocked {
			kept = append(kept, c)
		}
	}
	g.full = kept
	return nil
}

func send(fd int, p []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), bytesPtr(p), uintptr(len(p)),
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	return int(n), errno
}
