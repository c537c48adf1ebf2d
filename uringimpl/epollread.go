package uringimpl

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// epollRead waits with epoll and reads each ready socket once, into a private
// range of its client: what a server without io_uring does. Replies are written
// from a second range, at once or when the socket has room.
var epollRead = harness.Strategy{
	Name: "epoll-read", Family: "socket", Replies: true,
	Summary: "epoll and read(2) into a private range a client; no io_uring",
	Params: []harness.Param{
		{Name: "read", Kind: harness.ParamBytes, Default: "64KiB", Help: "bytes asked for by each read"},
		{Name: "reclaim", Kind: harness.ParamText, Default: "none", Values: paramReclaim.Values, Help: paramReclaim.Help},
	},
	Fits: func(w record.Workload, p harness.Values) error {
		if err := fitsPrivate(w, w.BudgetBytes); err != nil {
			return err
		}
		return fitsDatagrams(w, "read", p.Bytes("read", 64<<10))
	},
	Open: openEpollRead,
}

type epoller struct {
	*private
	out    outbox
	fds    []int
	ep     int
	read   int
	events []unix.EpollEvent
}

func openEpollRead(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	mem, err := openPrivate(b, p, int(b.Trial.Workload.BudgetBytes))
	if err != nil {
		return nil, err
	}
	e := &epoller{private: mem, out: newOutbox(b), fds: b.FDs, read: int(p.Bytes("read", 64<<10)), events: make([]unix.EpollEvent, len(b.FDs))}
	if e.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, errors.Join(fmt.Errorf("epoll_create: %w", err), mem.unmap())
	}
	e.out.room, e.out.done = mem.reply, mem.replied
	for c := range b.FDs {
		if err := e.watch(unix.EPOLL_CTL_ADD, c, unix.EPOLLIN); err != nil {
			return nil, errors.Join(err, e.Close())
		}
	}
	return e, nil
}

// watch asks epoll for events of a client's socket.
func (e *epoller) watch(op, c int, events uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(c)}
	if _, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(e.ep), uintptr(op), uintptr(e.fds[c]),
		uintptr(unsafe.Pointer(&ev)), 0, 0); errno != 0 {
		return fmt.Errorf("epoll_ctl of client %d: %w", c, errno)
	}
	return nil
}

func (e *epoller) Receive(target uint64) error {
	for e.sink.More(target) {
		if e.sink.Owing() == 0 {
			e.sink.Gate()
		}
		wait := max(1, int(e.sink.WaitNS()/1e6))
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_WAIT, uintptr(e.ep),
			uintptr(unsafe.Pointer(&e.events[0])), uintptr(len(e.events)), uintptr(wait), 0, 0)
		e.count.Syscalls++
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 {
			return fmt.Errorf("epoll_wait: %w", errno)
		}
		before := e.count.Receives
		for i := range e.events[:n] {
			if err := e.ready(int(e.events[i].Fd), e.events[i].Events); err != nil {
				return err
			}
		}
		if err := e.answer(); err != nil {
			return err
		}
		if n > 0 && e.out.idle() && e.count.Receives == before && e.sink.Holding() > 0 && e.sink.Err() == nil {
			// Every ready client waits for held messages: epoll would return at once.
			e.count.Syscalls++
			ts := unix.NsecToTimespec(min(e.sink.WaitNS(), 1e6))
			unix.Nanosleep(&ts, nil)
		}
		if e.sink.Holding() > 0 { // reading the clock is not free
			e.sink.ReleaseDue(e.sink.Now())
		}
	}
	return e.sink.Err()
}

// ready serves a client's socket.
func (e *epoller) ready(c int, events uint32) error {
	if events&unix.EPOLLOUT != 0 {
		if err := e.watch(unix.EPOLL_CTL_MOD, c, unix.EPOLLIN); err != nil {
			return err
		}
		e.count.Syscalls++
		e.out.due = append(e.out.due, int32(c))
	}
	if events&^unix.EPOLLOUT == 0 {
		return nil
	}
	return e.readable(c)
}

// answer writes what is due. A socket without room is watched for it.
func (e *epoller) answer() error {
	e.out.collect()
	for i := 0; i < len(e.out.due); i++ {
		if err := e.write(int(e.out.due[i])); err != nil {
			return err
		}
	}
	e.out.due = e.out.due[:0]
	return nil
}

// write sends a client all that is due to it, as far as its socket has room.
func (e *epoller) write(c int) error {
	for more := true; more; {
		p := e.out.next(c)
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(e.fds[c]), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		e.count.Syscalls++
		switch {
		case errno == unix.EAGAIN:
			e.count.Syscalls++
			return e.watch(unix.EPOLL_CTL_MOD, c, unix.EPOLLIN|unix.EPOLLOUT)
		case errno == unix.EINTR:
			continue
		case errno != 0:
			e.sink.Gone(c, errno)
			return nil
		}
		var err error
		if more, err = e.out.wrote(c, int(n)); err != nil {
			return err
		}
	}
	return nil
}

// readable reads a client's socket once; level triggering tells of the rest.
func (e *epoller) readable(c int) error {
	p, err := e.room(c)
	if err != nil || p == nil {
		return err
	}
	p = p[:min(len(p), e.read)]
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(e.fds[c]), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
	e.count.Syscalls++
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return nil
	case errno != 0:
		e.sink.Gone(c, errno)
	case n == 0:
		e.sink.Gone(c, nil)
	default:
		return e.took(c, int(n))
	}
	return nil
}

func (e *epoller) Counters() harness.Counters { return e.count }

func (e *epoller) Memory() harness.Memory { return e.memory() }

func (e *epoller) Close() error { return errors.Join(unix.Close(e.ep), e.unmap()) }
