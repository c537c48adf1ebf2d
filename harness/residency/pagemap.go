package residency

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bits of a pagemap entry (Documentation/admin-guide/mm/pagemap.rst).
const (
	pmPresent   = 1 << 63
	pmFile      = 1 << 61 // page of a file, or shared anonymous memory
	pmExclusive = 1 << 56 // mapped by nobody else
	pmFrame     = 1<<55 - 1
)

const pagemapEntry = 8 // bytes

// pagemapSource reads /proc/self/pagemap, eight bytes a page whether it was
// touched or not.
type pagemapSource struct {
	f        *os.File
	fd       int
	pageSize uintptr
	// zeroFrame is the frame of the kernel's page of zeros, or 0 where frames
	// are hidden (all but CAP_SYS_ADMIN). Then that page is known by what it
	// lacks: it is neither ours alone nor a file's.
	zeroFrame uint64
	buf       [64 << 10]byte
}

func openPagemap() (source, error) {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil, fmt.Errorf("pagemap: %w", err)
	}
	s := &pagemapSource{f: f, fd: int(f.Fd()), pageSize: uintptr(os.Getpagesize())}
	if err := s.findZeroFrame(); err != nil {
		f.Close()
		return nil, fmt.Errorf("pagemap: %w", err)
	}
	return s, nil
}

func (s *pagemapSource) name() string    { return "pagemap" }
func (s *pagemapSource) hugeKnown() bool { return false }
func (s *pagemapSource) close() error    { return s.f.Close() }

// findZeroFrame reads a fresh page and looks where it points.
func (s *pagemapSource) findZeroFrame() error {
	mem, err := unix.Mmap(-1, 0, int(s.pageSize), unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("map a page to find the page of zeros: %w", err)
	}
	defer unix.Munmap(mem)
	readByte(mem, 0)
	entries, err := s.read(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))/s.pageSize, 1)
	if err != nil {
		return err
	}
	s.zeroFrame = binary.NativeEndian.Uint64(entries) & pmFrame
	return nil
}

func (s *pagemapSource) scan(r span, t *tally) error {
	for page, end := r.start/s.pageSize, r.end/s.pageSize; page < end; {
		entries, err := s.read(page, end-page)
		if err != nil {
			return err
		}
		n := uintptr(len(entries) / pagemapEntry)
		run := uintptr(0) // resident pages just before i
		for i := range n {
			if s.resident(binary.NativeEndian.Uint64(entries[i*pagemapEntry:])) {
				run++
				continue
			}
			s.addRun(page+i, run, t)
			run = 0
		}
		s.addRun(page+n, run, t)
		page += n
	}
	return nil
}

func (s *pagemapSource) resident(entry uint64) bool {
	switch {
	case entry&pmPresent == 0:
		return false
	case s.zeroFrame != 0:
		return entry&pmFrame != s.zeroFrame
	}
	return entry&(pmExclusive|pmFile) != 0
}

// addRun counts the pages [end-pages, end), given as page numbers.
func (s *pagemapSource) addRun(end, pages uintptr, t *tally) {
	if pages > 0 {
		t.add((end-pages)*s.pageSize, end*s.pageSize, false)
	}
}

// read returns the entries of up to pages pages from page on.
func (s *pagemapSource) read(page, pages uintptr) ([]byte, error) {
	want := min(int(pages)*pagemapEntry, len(s.buf))
	for {
		n, err := unix.Pread(s.fd, s.buf[:want], int64(page)*pagemapEntry)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case n < pagemapEntry:
			return nil, io.ErrUnexpectedEOF
		default:
			return s.buf[:n-n%pagemapEntry], nil
		}
	}
}
