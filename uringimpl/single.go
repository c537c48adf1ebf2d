package uringimpl

import (
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// single is the loop of io_uring strategies that name the memory of each
// receive themselves: one request a client, asked for again after each.
type single struct {
	sink     *harness.Sink
	ring     *ring.Ring
	fds      []int
	unarmed  []int32
	nonEmpty []bool
	blocking bool
	count    *harness.Counters
	out      outbox
	// prepare, if set, changes a receive request before it is submitted.
	prepare func(client int, e *ring.SQE)
	// room returns where the next bytes of a client go, or nil to wait; took
	// delivers the first n bytes of what room returned last.
	room func(client int) ([]byte, error)
	took func(client, n int) error
	// recycled, if set, runs once a wake-up to take back what nobody holds.
	recycled func()
}

func openSingle(b *harness.Bench, count *harness.Counters) (*single, error) {
	requests := len(b.FDs)
	if b.Sink.ReplyBytes() > 0 {
		requests *= 2 // a receive and a send of each client
	}
	r, err := openRing(requests, requests)
	if err != nil {
		return nil, err
	}
	s := &single{
		sink: b.Sink, ring: r, fds: b.FDs, count: count, out: newOutbox(b),
		unarmed: make([]int32, len(b.FDs)), nonEmpty: make([]bool, len(b.FDs)),
	}
	for c := range s.unarmed {
		s.unarmed[c] = int32(c)
	}
	return s, nil
}

func (s *single) Receive(target uint64) error {
	for s.sink.More(target) {
		if s.recycled != nil {
			s.recycled()
		}
		if err := s.arm(); err != nil {
			return err
		}
		s.out.collect()
		s.out.submit(s.ring, s.fds)
		if a, _ := s.ring.Completions(); len(a) == 0 || s.ring.Pending() > 0 {
			if s.sink.Owing() == 0 {
				s.sink.Gate()
			}
			if err := s.ring.Enter(1, s.sink.WaitNS(), s.blocking); err != nil {
				return err
			}
		}
		if err := s.ring.Reap(s.take); err != nil {
			return err
		}
		if s.sink.Holding() > 0 { // reading the clock is not free
			s.sink.ReleaseDue(s.sink.Now())
		}
	}
	return s.sink.Err()
}

func (s *single) arm() error {
	kept := s.unarmed[:0]
	for _, c := range s.unarmed {
		if s.ring.Full() {
			// Room once given must be used: it is not asked for in vain.
			kept = append(kept, c)
			continue
		}
		p, err := s.room(int(c))
		if err != nil {
			return err
		}
		if p == nil {
			kept = append(kept, c)
			continue
		}
		e := s.ring.Next()
		e.Opcode, e.Fd, e.UserData = ring.OpRecv, int32(s.fds[c]), uint64(c)
		e.Addr, e.Len = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))), uint32(len(p))
		if !s.nonEmpty[c] {
			e.Ioprio = ring.RecvPollFirst
		}
		if s.prepare != nil {
			s.prepare(int(c), e)
		}
	}
	s.unarmed = kept
	return nil
}

func (s *single) take(cqes []ring.CQE) error {
	s.count.CQEs += uint64(len(cqes))
	for i := range cqes {
		c := cqes[i]
		client := int(uint32(c.UserData))
		if c.UserData&sendRequest != 0 {
			if err := s.out.sent(client, c.Res); err != nil {
				return err
			}
			continue
		}
		s.unarmed = append(s.unarmed, int32(client))
		s.nonEmpty[client] = c.Flags&ring.CQESockNonEmpty != 0
		switch {
		case c.Res > 0:
			if err := s.took(client, int(c.Res)); err != nil {
				return err
			}
		case c.Res == 0:
			s.sink.Gone(client, nil)
		default:
			s.sink.Gone(client, unix.Errno(-c.Res))
		}
	}
	return nil
}

func (s *single) Counters() harness.Counters {
	c := *s.count
	c.Enters, c.SQEs = s.ring.Enters, s.ring.Submitted
	c.Syscalls += s.ring.Enters
	return c
}

func (s *single) Notes() []string { return []string{"io_uring " + s.ring.Mode()} }

func (s *single) close() error { return s.ring.Close() }
