package uringimpl

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"golang.org/x/sys/unix"
)

// ranged is memory of which each client has a range of its own.
type ranged struct {
	mapped []byte // as mmap gave it
	mem    []byte // the ranges
	size   int    // bytes of a range, whole pages
	stride int    // from the start of one range to the next
}

// hugeBytes is the size of a huge page where pages have 4 KiB; where it is
// another, ranges only lie further apart than they need to.
const hugeBytes = 2 << 20

// mapRanges reserves address space for the ranges of so many clients: nothing is
// resident until it is touched. Under huge pages each range begins with a huge
// page of its own, as one that is mapped by itself does.
func mapRanges(clients, size int, huge bool) (ranged, error) {
	page := unix.Getpagesize()
	r := ranged{size: (size + page - 1) / page * page}
	r.stride = r.size
	slack := 0
	if huge {
		r.stride = (size + hugeBytes - 1) / hugeBytes * hugeBytes
		slack = hugeBytes - page
	}
	var err error
	if r.mapped, err = harness.MapBuffers(clients*r.stride + slack); err != nil {
		return r, err
	}
	r.mem = r.mapped
	if !huge {
		return r, nil
	}
	skip := -int(uintptr(unsafe.Pointer(&r.mapped[0]))) & (hugeBytes - 1)
	r.mem = r.mapped[skip:][:clients*r.stride]
	if err := unix.Madvise(r.mem, unix.MADV_HUGEPAGE); err != nil {
		return r, errors.Join(fmt.Errorf("advise huge pages (is the kernel without them?): %w", err), r.close())
	}
	return r, nil
}

// of is a client's range.
func (r *ranged) of(c int) []byte { return r.mem[c*r.stride:][:r.size] }

// pages is a client's range with the rest of its last huge page.
func (r *ranged) pages(c int) []byte { return r.mem[c*r.stride:][:r.stride] }

func (r *ranged) close() error {
	if r.mapped == nil {
		return nil
	}
	return unix.Munmap(r.mapped)
}
