package harness

import (
	"fmt"
	"math"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
	"golang.org/x/sys/unix"
)

// datagrams is what the sink of a udp trial keeps to know that none was lost or
// cut short. Such a trial has failed: the cases of a point must do the same work.
type datagrams struct {
	on       bool
	open     bool     // the load waits for nobody
	due      []uint32 // per client: sequence number of its next message
	after    []uint32 // per message: that of the next one of the same client
	fds      []int
	lifeline int
	idle     uint64 // messages consumed when a strategy last waited
	looked   uint64 // tick at which the lifeline was looked at
}

// noMore is the sequence number due on a client that has had all of its messages.
const noMore = math.MaxUint32

func newDatagrams(t record.Trial) datagrams {
	if t.Workload.Transport != load.UDP {
		return datagrams{}
	}
	sched := load.NewSchedule(t)
	d := datagrams{
		on: true, open: t.Workload.Load.Mode == "open", lifeline: -1,
		due: make([]uint32, t.Workload.Clients), after: make([]uint32, len(sched.Client)),
	}
	for c := range d.due {
		d.due[c] = noMore
	}
	for i := len(sched.Client) - 1; i >= 0; i-- {
		c := sched.Client[i]
		d.after[i], d.due[c] = d.due[c], uint32(i)
	}
	return d
}

// watch tells which sockets the datagrams come from.
func (d *datagrams) watch(c *connections) {
	if c != nil && d.on {
		d.fds, d.lifeline = c.fds, c.lifeline
	}
}

// datagram takes one datagram, which must be a whole message, or a marker.
func (s *Sink) datagram(client int, p []byte, id int32, now uint64) {
	if len(p) < load.HeaderBytes {
		s.Fail(fmt.Errorf("client %d after %d messages: a datagram of %d bytes, too short for a header: it was truncated", client, s.conns[client].count, len(p)))
		return
	}
	h := load.ParseHeader(p)
	if h.Seq == load.EndSeq {
		s.marked(client, h)
		return
	}
	c := &s.conns[client]
	c.header, c.length = h, h.Length
	if int(h.Length) != len(p) {
		if s.check(client, c) {
			s.Fail(fmt.Errorf("client %d, message %d of %d bytes: %d bytes were delivered: it was truncated, or is not in one piece", client, h.Seq, h.Length, len(p)))
		}
		return
	}
	s.whole(client, c, piece{&p[0], h.Length, id}, now)
}

// marked takes a marker, which comes behind all that was sent to the client.
func (s *Sink) marked(client int, h load.Header) {
	if h.Check != load.Check(s.seed, uint32(client), load.EndSeq, load.HeaderBytes) || h.Length != load.HeaderBytes {
		s.Fail(fmt.Errorf("client %d after %d messages: not a message header, nor a marker of this client", client, s.conns[client].count))
		return
	}
	if due := s.datagrams.due[client]; uint64(due) < h.Intended {
		s.Fail(s.datagrams.lost(client, fmt.Sprintf("message %d was sent and never came", due)))
	}
}

// lost is the error of datagrams that did not come.
func (d *datagrams) lost(client int, what string) error {
	const sockets = "the kernel drops what a socket has no room for"
	todo := "this load waits for its messages, and their socket was made to take them in: see udp_mem in ip(7), or take fewer clients, a smaller depth or smaller messages"
	if d.open {
		todo = "take a lower or a closed load, or let sockets take in more: run as root, or raise net.core.rmem_max"
	}
	dropped := ""
	if client < len(d.fds) {
		if n, err := residency.SocketDrops(d.fds[client]); err == nil {
			dropped = fmt.Sprintf(", %d by this one", n)
		}
	}
	return fmt.Errorf("client %d: datagrams were lost: %s; %s%s: %s", client, what, sockets, dropped, todo)
}

// consumed notes that message seq of a client is done with.
func (d *datagrams) consumed(client int, seq uint32) { d.due[client] = d.after[seq] }

// lookEveryNS is how often a strategy that waits in vain looks after the generator.
const lookEveryNS = 200_000_000

// lookAround fails the trial when its generator is gone, which over udp does not
// show on the sockets. It looks only where nothing has come since the last wait.
func (s *Sink) lookAround() {
	d := &s.datagrams
	if d.lifeline < 0 {
		return
	}
	if d.idle != s.got {
		d.idle = s.got
		return
	}
	now := s.clk.Now()
	if s.clk.NS(now-d.looked) < lookEveryNS {
		return
	}
	d.looked = now
	fds := [1]unix.PollFd{{Fd: int32(d.lifeline), Events: unix.POLLIN | unix.POLLRDHUP}}
	if n, err := unix.Poll(fds[:], 0); err == nil && n > 0 {
		s.Fail(fmt.Errorf("after %d messages: %w", s.got, errGone))
	}
}
