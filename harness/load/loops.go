package load

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

func bytesPtr(p []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(p))) }

// leadNS is how far ahead of the first message of an open load its clock starts.
const leadNS = 50_000

// open sends messages lo..hi at their due times, whatever the receiver does. A
// full socket holds back its own client only.
func (g *generator) open(lo, hi int) error {
	if lo == hi {
		return nil
	}
	origin := g.clk.Now() + g.clk.FromNS(leadNS) - g.sched.At[lo]
	intended := make([]uint64, hi)
	for i := lo; i < hi; i++ {
		intended[i] = origin + g.sched.At[i]
	}
	i := lo
	for spins := 0; i < hi || g.blockers > 0; spins++ {
		if err := g.replies.drain(); err != nil {
			return err
		}
		now := g.clk.Now()
		if i == hi || now < intended[i] {
			before := now
			if err := g.retryBlocked(now, intended); err != nil {
				return err
			}
			if err := g.pause(spins); err != nil {
				return err
			}
			if g.blockers == 0 {
				g.idle += g.clk.Now() - before
			}
			continue
		}
		o := g.enqueue(int32(i))
		if !o.blocked {
			g.late = append(g.late, g.clk.NS(now-intended[i]))
			if err := g.push(int(g.sched.Client[i]), intended); err != nil {
				return err
			}
		} else if err := g.retryBlocked(now, intended); err != nil {
			return err
		}
		i++
	}
	return nil
}

// closed keeps the load's depth of messages of each client outstanding. What a
// message is due is when its turn came. That of a quiet client's comes when as
// many messages are sent as there are before it in the schedule: it would
// otherwise be the first.
func (g *generator) closed(lo, hi int) error {
	depth := uint64(g.trial.Workload.Load.Depth)
	q := g.queues(lo, hi)
	intended := make([]uint64, hi)
	for left, spins := hi-lo, 0; left > 0 || g.blockers > 0; spins++ {
		before := left
		if err := g.replies.drain(); err != nil {
			return err
		}
		now := g.clk.Now()
		if err := g.retryBlocked(now, intended); err != nil {
			return err
		}
		q.release(hi - left)
		waiting := q.waiting[:0]
		for _, c := range q.waiting {
			o := &g.out[c]
			acked := g.prog.Client(int(c)).Load()
			for len(q.lists[c]) > 0 && !o.blocked && o.sent-acked < depth {
				i := q.lists[c][0]
				q.lists[c] = q.lists[c][1:]
				intended[i] = g.clk.Now()
				g.enqueue(i)
				if err := g.push(int(c), intended); err != nil {
					return err
				}
				left--
			}
			if len(q.lists[c]) > 0 {
				waiting = append(waiting, c)
			}
		}
		q.waiting = waiting
		if err := g.pause(spins); err != nil {
			return err
		}
		if left == before && g.blockers == 0 {
			g.idle += g.clk.Now() - now
		}
	}
	return nil
}

// queues are the messages of a closed loop that are not sent yet.
type queues struct {
	client  []uint32
	lists   [][]int32 // by client, those whose turn may come
	waiting []int32   // the clients whose list is not empty
	later   []int32   // messages of quiet clients whose turn has not come, in order
}

// queues splits messages lo..hi by client.
func (g *generator) queues(lo, hi int) *queues {
	q := &queues{client: g.sched.Client, lists: make([][]int32, len(g.out))}
	quiet := Quiet(g.trial.Workload)
	for i := lo; i < hi; i++ {
		if quiet != nil && quiet[q.client[i]] {
			q.later = append(q.later, int32(i))
			continue
		}
		q.add(int32(i))
	}
	slices.Sort(q.waiting)
	return q
}

func (q *queues) add(i int32) {
	c := q.client[i]
	if len(q.lists[c]) == 0 {
		q.waiting = append(q.waiting, int32(c))
	}
	q.lists[c] = append(q.lists[c], i)
}

// release adds the messages of quiet clients that come before message next.
func (q *queues) release(next int) {
	for len(q.later) > 0 && int(q.later[0]) <= next {
		q.add(q.later[0])
		q.later = q.later[1:]
	}
}

// lockstep sends one message, wholly, and waits until it is consumed before it
// sends the next.
func (g *generator) lockstep(lo, hi int) error {
	intended := make([]uint64, hi)
	for i := lo; i < hi; i++ {
		c := int(g.sched.Client[i])
		intended[i] = g.clk.Now()
		o := g.enqueue(int32(i))
		for {
			if err := g.push(c, intended); err != nil {
				return err
			}
			if o.head < 0 {
				break
			}
			// The message is larger than the sockets' buffers: let the receiver
			// start on what is there.
			g.prog.Sent().Store(uint64(i) + 1)
			fds := []unix.PollFd{{Fd: int32(o.fd), Events: unix.POLLOUT}}
			if _, err := unix.Poll(fds, 100); err != nil && err != unix.EINTR {
				return err
			}
			if g.clk.Now() > g.stop {
				return errStopped
			}
		}
		g.prog.Sent().Store(uint64(i) + 1)
		before := g.clk.Now()
		for spins := 0; g.prog.Done().Load() <= uint64(i); spins++ {
			if err := g.replies.drain(); err != nil {
				return err
			}
			// A receiver may go right after the last message.
			if err := g.pause(spins); err != nil && g.prog.Done().Load() <= uint64(i) {
				return err
			}
		}
		if err := g.awaitReplies(); err != nil {
			return err
		}
		g.idle += g.clk.Now() - before
	}
	return nil
}
