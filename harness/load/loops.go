package load

import (
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
// message is due is when its turn came.
func (g *generator) closed(lo, hi int) error {
	depth := uint64(g.trial.Workload.Load.Depth)
	lists, acked := g.byClient(lo, hi)
	intended := make([]uint64, hi)
	for left, spins := hi-lo, 0; left > 0 || g.blockers > 0; spins++ {
		moved := false
		now := g.clk.Now()
		if err := g.retryBlocked(now, intended); err != nil {
			return err
		}
		for c := range g.out {
			o := &g.out[c]
			for len(lists[c]) > 0 && !o.blocked && o.sent-acked[c] < depth {
				i := lists[c][0]
				lists[c] = lists[c][1:]
				intended[i] = g.clk.Now()
				g.enqueue(i)
				if err := g.push(c, intended); err != nil {
					return err
				}
				left--
				moved = true
			}
			acked[c] = g.prog.Client(c).Load()
		}
		if err := g.pause(spins); err != nil {
			return err
		}
		if !moved && g.blockers == 0 {
			g.idle += g.clk.Now() - now
		}
	}
	return nil
}

// byClient splits messages lo..hi by client.
func (g *generator) byClient(lo, hi int) (lists [][]int32, acked []uint64) {
	lists = make([][]int32, len(g.out))
	acked = make([]uint64, len(g.out))
	for i := lo; i < hi; i++ {
		c := g.sched.Client[i]
		lists[c] = append(lists[c], int32(i))
	}
	for c := range acked {
		acked[c] = g.prog.Client(c).Load()
	}
	return lists, acked
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
			// A receiver may go right after the last message.
			if err := g.pause(spins); err != nil && g.prog.Done().Load() <= uint64(i) {
				return err
			}
		}
		g.idle += g.clk.Now() - before
	}
	return nil
}
