package residency

import (
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// probe lets src count a scratch mapping whose truth is known: two pages
// written, one only read, one untouched. It reports whether the page that was
// only read is rightly left out.
func probe(src source) (exact bool, err error) {
	ps := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 4*ps, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false, fmt.Errorf("map scratch memory to try %s: %w", src.name(), err)
	}
	defer unix.Munmap(mem)
	// A kernel without huge pages refuses the advice and does not need it.
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE)
	mem[0], mem[3*ps] = 1, 1
	readByte(mem, ps)
	n, err := countScratch(src, mem)
	switch {
	case err != nil:
		return false, fmt.Errorf("try %s: %w", src.name(), err)
	case n == 2:
		return true, nil
	case n == 3:
		return false, nil
	}
	return false, fmt.Errorf("try %s: it counts %d pages where 2 are resident", src.name(), n)
}

// countScratch counts the resident pages of one page-aligned mapping.
func countScratch(src source, mem []byte) (int64, error) {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(mem)))
	s := span{start, start + uintptr(len(mem))}
	t := tally{spans: []pageSpan{{s, 0}}, pages: make([]int64, 1), pageSize: uintptr(os.Getpagesize())}
	err := src.scan(s, &t)
	return t.total, err
}

// countsHugeZero tries whether src takes a huge page that was only read for
// resident. It is false where the kernel gives no huge page.
func countsHugeZero(src source) bool {
	const huge = 2 << 20
	mem, err := unix.Mmap(-1, 0, 2*huge, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return false
	}
	defer unix.Munmap(mem)
	if unix.Madvise(mem, unix.MADV_HUGEPAGE) != nil {
		return false
	}
	off := -int(uintptr(unsafe.Pointer(unsafe.SliceData(mem)))) & (huge - 1)
	readByte(mem, off)
	n, err := countScratch(src, mem)
	return err == nil && n > 1
}

// readByte touches a page by reading it; the result keeps the load alive.
//
//go:noinline
func readByte(mem []byte, off int) byte { return mem[off] }
