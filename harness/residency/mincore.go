package residency

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mincoreSource asks mincore(2). It takes the shared page of zeros for
// resident, and for a file it tells of the page cache, mapped here or not.
type mincoreSource struct {
	pageSize uintptr
	vec      [64 << 10]byte // one byte a page
}

func openMincore() (source, error) {
	return &mincoreSource{pageSize: uintptr(os.Getpagesize())}, nil
}

func (s *mincoreSource) name() string    { return "mincore" }
func (s *mincoreSource) hugeKnown() bool { return false }
func (s *mincoreSource) close() error    { return nil }

func (s *mincoreSource) scan(r span, t *tally) error {
	for at := r.start; at < r.end; {
		pages := min((r.end-at)/s.pageSize, uintptr(len(s.vec)))
		if err := s.call(at, pages); err != nil {
			return err
		}
		run := uintptr(0) // resident pages just before i
		for i, v := range s.vec[:pages] {
			if v&1 != 0 {
				run++
				continue
			}
			s.addRun(at+uintptr(i)*s.pageSize, run, t)
			run = 0
		}
		at += pages * s.pageSize
		s.addRun(at, run, t)
	}
	return nil
}

func (s *mincoreSource) addRun(end, pages uintptr, t *tally) {
	if pages > 0 {
		t.add(end-pages*s.pageSize, end, false)
	}
}

func (s *mincoreSource) call(addr, pages uintptr) error {
	for {
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, addr, pages*s.pageSize, uintptr(unsafe.Pointer(&s.vec)))
		switch errno {
		case 0:
			return nil
		case unix.EAGAIN, unix.EINTR:
		default:
			return errno // ENOMEM: part of the range is not mapped
		}
	}
}
