package load

import (
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Progress is memory shared between the generator and the receiver: how many
// messages were sent, and how many each client's receiver has consumed. An
// acknowledgement through it costs the receiver one store and no system call.
// Layout: u64 sent at byte 0, u64 done at 64, u64 phase at 128, then one u64 per
// client every 64 bytes from 192, in the machine's byte order.
type Progress struct {
	mem []byte
}

const progressStride = 64

// ProgressBytes returns the size of the shared memory for a number of clients.
func ProgressBytes(clients int) int64 { return int64(3+clients) * progressStride }

// NewProgressFile makes the shared memory, to be inherited as an open file.
func NewProgressFile(clients int) (*os.File, error) {
	fd, err := unix.MemfdCreate("zcbench-progress", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create for progress counters: %w", err)
	}
	f := os.NewFile(uintptr(fd), "progress")
	if err := f.Truncate(ProgressBytes(clients)); err != nil {
		f.Close()
		return nil, fmt.Errorf("size progress counters: %w", err)
	}
	// An adapter that cut it would take its generator's memory away (fcntl(2)).
	if _, err := unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL); err != nil {
		f.Close()
		return nil, fmt.Errorf("seal the size of progress counters: %w", err)
	}
	return f, nil
}

// MapProgress maps the shared memory behind fd.
func MapProgress(fd, clients int) (*Progress, error) {
	mem, err := unix.Mmap(fd, 0, int(ProgressBytes(clients)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map progress counters: %w", err)
	}
	return &Progress{mem: mem}, nil
}

// Close unmaps the memory.
func (p *Progress) Close() error { return unix.Munmap(p.mem) }

// Sent is the number of messages wholly handed to the kernel by the generator.
func (p *Progress) Sent() *atomic.Uint64 { return p.at(0) }

// Done is the number of messages the receiver has consumed.
func (p *Progress) Done() *atomic.Uint64 { return p.at(1) }

// Phase is set to 1 by the receiver when it is ready for the window: the
// warm-up is consumed and the counters are read.
func (p *Progress) Phase() *atomic.Uint64 { return p.at(2) }

// Client is the number of messages of one client consumed.
func (p *Progress) Client(c int) *atomic.Uint64 { return p.at(3 + c) }

func (p *Progress) at(i int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&p.mem[i*progressStride]))
}
