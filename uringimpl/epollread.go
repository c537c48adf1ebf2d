package uringimpl

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"golang.org/x/sys/unix"
)

// epollRead waits with epoll and reads each ready socket once, into a private
// range of its client: what a server without io_uring does.
var epollRead = harness.Strategy{
	Name: "epoll-read", Family: "socket",
	Summary: "epoll and read(2) into a private range a client; no io_uring",
	Params: []harness.Param{
		{Name: "read", Kind: harness.ParamBytes, Default: "64KiB", Help: "bytes asked for by each read"},
		{Name: "reclaim", Kind: harness.ParamText, Default: "none", Values: paramReclaim.Values, Help: paramReclaim.Help},
	},
	Fits: fitsBudget,
	Open: openEpollRead,
}

type epoller struct {
	*private
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
	e := &epoller{private: mem, fds: b.FDs, read: int(p.Bytes("read", 64<<10)), events: make([]unix.EpollEvent, len(b.FDs))}
	if e.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, errors.Join(fmt.Errorf("epoll_create: %w", err), unix.Munmap(mem.mem))
	}
	for c, fd := range b.FDs {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c)}
		if err := unix.EpollCtl(e.ep, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return nil, errors.Join(fmt.Errorf("epoll_ctl: %w", err), e.Close())
		}
	}
	return e, nil
}

func (e *epoller) Receive(target uint64) error {
	for e.sink.More(target) {
		e.sink.Gate()
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
			if err := e.readable(int(e.events[i].Fd)); err != nil {
				return err
			}
		}
		if n > 0 && e.count.Receives == before && e.sink.Holding() > 0 && e.sink.Err() == nil {
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

func (e *epoller) Close() error { return errors.Join(unix.Close(e.ep), unix.Munmap(e.mem)) }
