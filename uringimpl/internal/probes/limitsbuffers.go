package probes

import (
	"fmt"
	"math"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// bufferLimits are how large and how many buffers may be.
func bufferLimits() []limit {
	return []limit{
		{name: "pbuf-entry-bytes", family: "uring", unit: "B", source: "struct io_uring_buf: len has 32 bits", memory: 9 << 30,
			help: "Bytes one provided buffer has.", try: func() (int64, string, error) { return tryEntryBytes(0) }},
		{name: "inc-entry-bytes", family: "uring", unit: "B", source: "struct io_uring_buf: len has 32 bits", memory: 9 << 30,
			help: "Bytes one incrementally consumed buffer has.", try: func() (int64, string, error) { return tryEntryBytes(ring.PbufInc) }},
		{name: "registered-buffers", family: "uring", unit: "1", source: "io_uring_register(2), IORING_REGISTER_BUFFERS",
			help: "Buffers that may be registered for fixed reads and writes.", try: tryRegisteredCount},
		{name: "registered-buffer-bytes", family: "uring", unit: "B", source: "io_uring_register(2), IORING_REGISTER_BUFFERS",
			help: "Bytes one registered buffer has.", seconds: 20, try: tryRegisteredBytes},
	}
}

// entryLengths are tried in rising order; the last is all that the entry can say.
var entryLengths = []uint32{1 << 30, math.MaxInt32, 1 << 31, math.MaxUint32}

// tryEntryBytes receives two messages into a single entry that says it has so many
// bytes, which are mapped and never all touched.
func tryEntryBytes(flags uint16) (int64, string, error) {
	mem, err := scratch(1 << 32)
	if err != nil {
		return 0, "", refusal{"a mapping of 4 GiB", err}
	}
	best := int64(0)
	var seen []string
	for _, n := range entryLengths {
		got, err := receivesInto(mem, n, flags)
		if err != nil {
			seen = append(seen, fmt.Sprintf("%d B: %v", n, err))
			if best == 0 {
				return 0, "", err
			}
			continue
		}
		best = max(best, int64(n))
		seen = append(seen, fmt.Sprintf("%d B: %s", n, got))
	}
	return best, strings.Join(seen, "; "), nil
}

// receivesInto says what became of an entry of n bytes that got 100 B twice.
func receivesInto(mem []byte, n uint32, flags uint16) (string, error) {
	r, err := newRing(8, 16)
	if err != nil {
		return "", refusal{"io_uring", err}
	}
	g := &rig{ring: r, size: 4096, count: 1}
	if g.group, err = r.NewBufRing(rigGroup, 2, flags, 0); err != nil {
		g.err = refusal{"such a ring of buffers", err}
	} else {
		g.fail("provide", g.group.Add(unsafe.Pointer(&mem[0]), n, 0))
		g.group.Publish()
	}
	a, b := g.unixPair()
	clear(mem[:300])
	g.mem = mem
	g.send(a, letters(0, 100))
	c := g.took("receive", b, 0, letters(0, 100), 0, 0)
	got := "received"
	if flags&ring.PbufInc != 0 {
		g.expect(c.Flags&ring.CQEBufMore != 0, "retired after 100 B")
		g.send(a, letters(1, 100))
		g.took("second receive", b, 0, letters(1, 100), 0, 100)
		left := uint32(0)
		if g.err == nil {
			_, left, _ = g.group.Slot(0)
		}
		g.expect(left == n-200, "%d B left of it after 200 B", left)
		got = "received at 0 and 100"
	}
	g.mem = nil // it is used again
	return got, g.close()
}

// tryRegisteredCount registers the same page again and again.
func tryRegisteredCount() (int64, string, error) {
	mem, err := scratch(pages(1))
	if err != nil {
		return 0, "", err
	}
	r, err := newRing(4, 8)
	if err != nil {
		return 0, "", refusal{"io_uring", err}
	}
	defer r.Close()
	one := unix.Iovec{Base: &mem[0]}
	one.SetLen(len(mem))
	const bound = 1 << 18
	all := make([]unix.Iovec, bound)
	for i := range all {
		all[i] = one
	}
	n, beyond := largest(bound, func(n int64) error {
		if err := r.RegisterBuffers(all[:n]); err != nil {
			return err
		}
		return r.UnregisterBuffers()
	})
	return entriesFound("registering buffers", n, beyond)
}

const (
	registerBound = 4 << 30 // bytes tried at most
	windowBytes   = 2 << 20 // of the memory that stands in for all of it
)

// tryRegisteredBytes registers one buffer of ever more bytes. The pages of a
// buffer are pinned, so a large one would take as much memory: here they are the
// same 2 MiB over and over.
func tryRegisteredBytes() (int64, string, error) {
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, "", refusedAs("memfd_create", err)
	}
	defer unix.Close(fd)
	if err := unix.Ftruncate(fd, windowBytes); err != nil {
		return 0, "", fmt.Errorf("size a file in memory: %w", err)
	}
	base, err := repeated(fd, registerBound)
	if err != nil {
		return 0, "", err
	}
	r, err := newRing(4, 8)
	if err != nil {
		return 0, "", refusal{"io_uring", err}
	}
	defer r.Close()
	// In pages: less than one is not told apart by the kernel.
	page := int64(pages(1))
	n, beyond := largest(registerBound/page, func(n int64) error {
		v := unix.Iovec{Base: (*byte)(base)}
		v.SetLen(int(n * page))
		if err := r.RegisterBuffers([]unix.Iovec{v}); err != nil {
			return err
		}
		return r.UnregisterBuffers()
	})
	if err := starved(beyond, n*page); err != nil {
		return 0, "", err
	}
	switch {
	case n == 0:
		return 0, "", refusedAs("registering a buffer", beyond)
	case beyond == nil:
		return n * page, fmt.Sprintf("%d worked; more was not tried", n*page), nil
	}
	return n * page, fmt.Sprintf("a page more: %s", errnoOf(beyond)), nil
}

// repeated maps a file of windowBytes as often as it takes to fill n bytes.
func repeated(fd int, n uintptr) (unsafe.Pointer, error) {
	base, err := unix.MmapPtr(-1, 0, nil, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	for at := uintptr(0); at < n; at += windowBytes {
		_, err := unix.MmapPtr(fd, 0, unsafe.Add(base, at), windowBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED)
		if err != nil {
			return nil, fmt.Errorf("map a file in memory over %d bytes: %w", n, err)
		}
	}
	return base, nil
}
