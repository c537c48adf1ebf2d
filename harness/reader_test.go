package harness

import (
	"unsafe"

	"github.com/zcbench/zcbench/harness/residency"
	"golang.org/x/sys/unix"
)

// reader is a strategy for tests: read(2) into chunks of a shared pool, of each
// of which a read uses only the beginning.
var reader = Strategy{
	Name: "reader", Family: "socket",
	Params: []Param{{Name: "chunk", Kind: ParamBytes, Default: "1KiB"}},
	Open: func(b *Bench, p Values) (Receiver, error) {
		r := &readChunks{sink: b.Sink, size: int(p.Bytes("chunk", 0)), polls: make([]unix.PollFd, len(b.FDs))}
		n := int(b.Trial.Workload.BudgetBytes) / r.size * len(b.FDs)
		var err error
		if r.mem, err = MapBuffers(n * r.size); err != nil {
			return nil, err
		}
		b.Sink.Buffers(n)
		for i := range n {
			r.free = append(r.free, int32(i))
		}
		for c, fd := range b.FDs {
			r.polls[c] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		}
		return r, nil
	},
}

type readChunks struct {
	sink  *Sink
	mem   []byte
	size  int
	free  []int32
	polls []unix.PollFd
	count Counters
	lose  int // the receive whose bytes are thrown away, counted from 1; 0: none
}

func (r *readChunks) Receive(target uint64) error {
	for r.sink.More(target) {
		r.sink.Gate()
		r.count.Syscalls++
		_, _, errno := unix.RawSyscall(unix.SYS_POLL, uintptr(unsafe.Pointer(&r.polls[0])), uintptr(len(r.polls)), uintptr(min(r.sink.WaitNS()/1e6+1, 100)))
		if errno != 0 && errno != unix.EINTR {
			return errno
		}
		for c := range r.polls {
			if r.polls[c].Revents != 0 && r.sink.More(target) {
				r.read(c)
			}
		}
		r.sink.ReleaseDue(r.sink.Now())
		r.free = append(r.free, r.sink.TakeFreed()...)
	}
	return r.sink.Err()
}

func (r *readChunks) read(client int) {
	for len(r.free) == 0 && r.sink.ForceRelease() {
		r.free = append(r.free, r.sink.TakeFreed()...)
	}
	if len(r.free) == 0 {
		return
	}
	id := r.free[len(r.free)-1]
	p := r.mem[int(id)*r.size:][:r.size]
	r.count.Syscalls++
	n, _, errno := unix.RawSyscall(unix.SYS_READ, uintptr(r.polls[client].Fd), uintptr(unsafe.Pointer(&p[0])), uintptr(r.size))
	if errno == unix.EAGAIN {
		return
	}
	if errno != 0 || n == 0 {
		r.sink.Gone(client, nil)
		return
	}
	if r.lose--; r.lose == 0 {
		return
	}
	r.free = r.free[:len(r.free)-1]
	r.count.Receives++
	r.count.Wasted += uint64(r.size) - uint64(n)
	r.sink.Lend(id)
	r.sink.Deliver(client, p[:n], id, r.sink.Now())
	r.sink.Unref(id)
}

func (r *readChunks) Counters() Counters { return r.count }

func (r *readChunks) Memory() Memory {
	return Memory{Buffers: []residency.Region{{Name: "chunks", Addr: uintptr(unsafe.Pointer(&r.mem[0])), Len: uintptr(len(r.mem))}}}
}

func (r *readChunks) Close() error { return unix.Munmap(r.mem) }
