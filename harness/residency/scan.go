package residency

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The PAGEMAP_SCAN interface (include/uapi/linux/fs.h, since Linux 6.7;
// Documentation/admin-guide/mm/pagemap.rst). x/sys does not have it.
const (
	pagemapScan = 0xc0606610 // _IOWR('f', 16, struct pm_scan_arg)

	pageIsPresent = 1 << 3
	pageIsPFNZero = 1 << 5 // maps the kernel's page of zeros
	pageIsHuge    = 1 << 6
)

// pageRegion is struct page_region.
type pageRegion struct {
	start, end, categories uint64
}

// scanArg is struct pm_scan_arg.
type scanArg struct {
	size, flags, start, end, walkEnd, vec, vecLen, maxPages       uint64
	categoryInverted, categoryMask, categoryAnyofMask, returnMask uint64
}

// scanVecLen is how many ranges one ioctl may return.
const scanVecLen = 1024

// scanSource asks PAGEMAP_SCAN, which skips what was never touched.
type scanSource struct {
	f   *os.File
	fd  uintptr
	arg scanArg
	vec [scanVecLen]pageRegion
}

func openScan() (source, error) {
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		return nil, fmt.Errorf("pagemap-scan: %w", err)
	}
	return &scanSource{f: f, fd: f.Fd()}, nil
}

func (s *scanSource) name() string    { return "pagemap-scan" }
func (s *scanSource) hugeKnown() bool { return true }
func (s *scanSource) close() error    { return s.f.Close() }

func (s *scanSource) scan(r span, t *tally) error {
	for at := uint64(r.start); at < uint64(r.end); {
		n, err := s.call(at, uint64(r.end))
		if err != nil {
			return err
		}
		for _, p := range s.vec[:n] {
			t.add(uintptr(p.start), uintptr(p.end), p.categories&pageIsHuge != 0)
		}
		// Where the kernel ends a walk after more ranges than its own buffer of 512
		// takes, it leaves in walk_end where that buffer was full last, and a scan
		// that went on there would count pages twice (do_pagemap_scan in
		// fs/proc/task_mmu.c sets walk_end only if it is 0; seen on 6.18).
		next := s.arg.walkEnd
		if n > 0 {
			next = max(next, s.vec[n-1].end)
		}
		if next <= at {
			return errors.New("PAGEMAP_SCAN did not advance")
		}
		at = next
	}
	return nil
}

// call fills vec with present pages that are not the zero page.
func (s *scanSource) call(start, end uint64) (ranges uintptr, err error) {
	s.arg = scanArg{
		size: uint64(unsafe.Sizeof(s.arg)), start: start, end: end,
		vec: uint64(uintptr(unsafe.Pointer(&s.vec))), vecLen: scanVecLen,
		categoryInverted: pageIsPFNZero, categoryMask: pageIsPresent | pageIsPFNZero,
		returnMask: pageIsPresent | pageIsHuge,
	}
	for {
		n, _, errno := unix.Syscall(unix.SYS_IOCTL, s.fd, pagemapScan, uintptr(unsafe.Pointer(&s.arg)))
		switch errno {
		case 0:
			return n, nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}
