package probes

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// ringLimits are how large rings and groups may be.
func ringLimits() []limit {
	return []limit{
		{name: "sq-entries", family: "uring", unit: "1", source: "io_uring_setup(2)", help: "Requests that may wait to be submitted.", try: trySQEntries},
		{name: "cq-entries", family: "uring", unit: "1", source: "io_uring_setup(2), IORING_SETUP_CQSIZE", help: "Completions that may wait to be seen.", try: tryCQEntries},
		{name: "pbuf-ring-entries", family: "uring", unit: "1", source: "io_uring_register(2), IORING_REGISTER_PBUF_RING",
			help: "Buffers one group holds in a ring.", try: tryPbufEntries},
		{name: "legacy-group-buffers", family: "uring", unit: "1", source: "IORING_OP_PROVIDE_BUFFERS",
			help: "Buffers one group holds when they are provided by requests.", memory: 1 << 30, try: tryLegacyGroup},
		{name: "buffer-groups", family: "uring", unit: "1", source: "io_uring_register(2): bgid has 16 bits", help: "Groups one ring has.", seconds: 20, try: tryGroups},
	}
}

// openFor says whether a ring of so many entries can be made and used.
func openFor(sq, cq int) error {
	r, err := ring.Open(sq, cq, 0)
	if err != nil {
		return err
	}
	g := &rig{ring: r}
	g.submit(func(e *ring.SQE) { e.Opcode = ring.OpNop })
	g.one("a NOP")
	return g.close()
}

// maxEntries bounds the search for the sizes of rings.
const maxEntries = 1 << 20

func trySQEntries() (int64, string, error) {
	n, beyond := largest(maxEntries, func(n int64) error { return openFor(int(n), 0) })
	return entriesFound("a ring for submissions", n, beyond)
}

func tryCQEntries() (int64, string, error) {
	n, beyond := largest(maxEntries, func(n int64) error { return openFor(1, int(n)) })
	return entriesFound("a ring for completions", n, beyond)
}

func entriesFound(what string, n int64, beyond error) (int64, string, error) {
	if err := starved(beyond, n); err != nil {
		return 0, "", err
	}
	switch {
	case n == 0:
		return 0, "", refusedAs(what, beyond)
	case beyond == nil:
		return n, fmt.Sprintf("%d worked; more was not tried", n), nil
	}
	return n, fmt.Sprintf("%d refused with %s", n+1, errnoOf(beyond)), nil
}

// tryPbufEntries goes through the powers of two: the kernel takes no others. A ring
// counts if its last entry can be received into.
func tryPbufEntries() (int64, string, error) {
	var best int64
	var beyond error
	for n := 1; n <= maxEntries && beyond == nil; n *= 2 {
		if beyond = fillsRing(n); beyond == nil {
			best = int64(n)
		}
	}
	if err := starved(beyond, best); err != nil {
		return 0, "", err
	}
	if best == 0 {
		return 0, "", refusedAs("a ring of provided buffers", beyond)
	}
	return best, fmt.Sprintf("%d: %s; 3, no power of two: %s", best*2, errnoOf(beyond), errnoOf(tryBufRing(3))), nil
}

func errnoOf(err error) string {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return unix.ErrnoName(errno)
	}
	if err == nil {
		return "taken"
	}
	return err.Error()
}

// tryBufRing registers a ring of n entries and lets it go.
func tryBufRing(n int) error {
	r, err := newRing(4, 8)
	if err != nil {
		return err
	}
	defer r.Close()
	mem, err := scratch((ring.BufRingBytes(n) + pages(1) - 1) / pages(1) * pages(1))
	if err != nil {
		return err
	}
	defer func() { _ = unix.Munmap(mem) }()
	if err := r.TryBufRing(unsafe.Pointer(&mem[0]), uint32(n), rigGroup, 0, 0); err != nil {
		return err
	}
	return r.DropBufRing(rigGroup)
}

// fillsRing registers a ring of n entries, fills it with buffers of one byte, and
// takes all of them by one receive after another where they are few, else the
// first.
func fillsRing(n int) error {
	if n > ring.MaxBufRing {
		return tryBufRing(n)
	}
	g := newRigOf(4, 8, n, 1, 0, 0)
	if g.group != nil {
		g.provideAllOnce()
	}
	a, b := g.unixPair()
	g.send(a, []byte{7})
	g.took("receive", b, 0, []byte{7}, 0, 0)
	return g.close()
}

// provideAllOnce adds every buffer and shows them to the kernel at once.
func (g *rig) provideAllOnce() {
	for bid := range g.count {
		if g.err == nil {
			g.fail("provide", g.group.Add(unsafe.Pointer(&g.buffer(uint16(bid))[0]), uint32(g.size), uint16(bid)))
		}
	}
	if g.err == nil {
		g.group.Publish()
	}
}

// maxLegacy is one more than the buffer ids there are.
const maxLegacy = 1 << 16

// tryLegacyGroup provides n buffers by one request and counts them by removing
// them.
func tryLegacyGroup() (int64, string, error) {
	n, beyond := largest(maxLegacy, func(n int64) error {
		removed, _, err := provideAndRemove(int(n))
		switch {
		case err != nil:
			return err
		case removed != n:
			return fmt.Errorf("%d were held", removed)
		}
		return nil
	})
	if err := starved(beyond, n); err != nil {
		return 0, "", err
	}
	if n == 0 {
		return 0, "", refusedAs("PROVIDE_BUFFERS", beyond)
	}
	removed, answer, err := provideAndRemove(maxLegacy)
	seen := fmt.Sprintf("providing %d by one request: result %d, %d held", maxLegacy, answer, removed)
	if err != nil {
		seen = fmt.Sprintf("providing %d by one request: %v", maxLegacy, err)
	}
	return n, fmt.Sprintf("%d provided by one request and all removed again; %s", n, seen), nil
}

// provideAndRemove returns what the kernel answered to providing n buffers, and
// how many it then had.
func provideAndRemove(n int) (removed, answer int64, err error) {
	g := plainRig()
	g.size, g.count = 1, n
	g.memory(n)
	g.provideLegacy(n, 1, rigGroup, 0)
	c := g.one("PROVIDE_BUFFERS")
	answer = int64(c.Res)
	// In two requests: one may not be asked for all.
	for range 2 {
		g.submit(func(e *ring.SQE) { e.Opcode, e.Fd, e.BufGroup = ring.OpRemoveBuffers, maxLegacy-1, rigGroup })
		for _, c := range g.reap(1, patience*4) {
			removed += int64(max(c.Res, 0)) // ENOENT: nothing is left
		}
	}
	return removed, answer, g.close()
}

// tryGroups registers rings of one entry under every id there is; all of them lie
// in the same page, which nothing forbids.
func tryGroups() (int64, string, error) {
	const ids = 1 << 16
	g := plainRig()
	page := g.memory(pages(1))
	n := int64(0)
	var beyond error
	for id := 0; id < ids && g.err == nil && beyond == nil; id++ {
		if beyond = g.ring.TryBufRing(unsafe.Pointer(&page[0]), 1, uint16(id), 0, 0); beyond == nil {
			n++
		}
	}
	if err := g.close(); err != nil {
		return 0, "", err
	}
	if err := starved(beyond, n); err != nil {
		return 0, "", err
	}
	switch {
	case n == 0:
		return 0, "", refusedAs("a ring of provided buffers", beyond)
	case beyond != nil:
		return n, fmt.Sprintf("group %d: %s", n, errnoOf(beyond)), nil
	}
	return n, "every id of 0 to 65535 taken; an id has no more bits", nil
}
