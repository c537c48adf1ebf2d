package probes

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// patience is how long a reproduction waits for a completion that should be there
// at once, before it goes on without it.
const patience = 300 * time.Millisecond

// rig is a ring, a group of provided buffers and the descriptors of one
// reproduction. Errors stick: after the first the methods do nothing, and close
// returns it.
type rig struct {
	ring  *ring.Ring
	group *ring.BufRing
	mem   []byte
	size  int
	count int
	fds   []int
	err   error
}

const rigGroup = 1

// newRig makes a ring and a group of zeroed buffers, not yet provided.
func newRig(buffers, size int, flags uint16, minLeft uint32) *rig {
	return newRigOf(16, 64, buffers, size, flags, minLeft)
}

func newRigOf(sq, cq, buffers, size int, flags uint16, minLeft uint32) *rig {
	g := &rig{size: size, count: buffers}
	r, err := ring.New(sq, cq)
	if err != nil {
		g.err = refusal{"io_uring", err}
		return g
	}
	g.ring = r
	if g.mem, err = unix.Mmap(-1, 0, buffers*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS); err != nil {
		g.err = fmt.Errorf("map %d buffers of %d bytes: %w", buffers, size, err)
		return g
	}
	if g.group, err = r.NewBufRing(rigGroup, buffers, flags, minLeft); err != nil {
		g.err = refusal{"rings of provided buffers", err}
		switch {
		case minLeft > 0:
			g.err = refusal{"incremental consumption with min_left", err}
		case flags&ring.PbufInc != 0:
			g.err = refusal{"incremental consumption", err}
		}
	}
	return g
}

func (g *rig) fail(what string, err error) {
	if g.err == nil && err != nil {
		g.err = fmt.Errorf("%s: %w", what, err)
	}
}

// close ends what is in flight and returns the error that stuck. The buffers stay
// mapped until the ring is gone.
func (g *rig) close() error {
	errs := []error{g.err}
	if g.group != nil {
		errs = append(errs, g.group.Close())
	}
	if g.ring != nil {
		errs = append(errs, g.ring.Close())
	}
	for _, fd := range g.fds {
		errs = append(errs, unix.Close(fd))
	}
	if g.mem != nil {
		errs = append(errs, unix.Munmap(g.mem))
	}
	return errors.Join(errs...)
}

func (g *rig) buffer(bid uint16) []byte { return g.mem[int(bid)*g.size : (int(bid)+1)*g.size] }

// provide adds buffers at their full size.
func (g *rig) provide(bids ...uint16) {
	for _, bid := range bids {
		if g.err == nil {
			g.fail("provide", g.group.Add(unsafe.Pointer(&g.buffer(bid)[0]), uint32(g.size), bid))
		}
	}
	if g.err == nil {
		g.group.Publish()
	}
}

// provideAll adds every buffer, in the order of their numbers.
func (g *rig) provideAll() {
	for bid := range g.count {
		g.provide(uint16(bid))
	}
}

// submit hands one request to the kernel.
func (g *rig) submit(fill func(*ring.SQE)) {
	if g.err != nil {
		return
	}
	e := g.ring.Next()
	if e == nil {
		g.err = errors.New("the submission ring is full")
		return
	}
	fill(e)
	g.fail("submit", g.ring.Enter(0, 0, true))
}

// read asks for a read or receive into a provided buffer.
func (g *rig) read(op uint8, fd int, length uint32, flags uint16, data uint64) {
	g.submit(func(e *ring.SQE) {
		e.Opcode, e.Flags, e.Fd, e.Len, e.Ioprio, e.UserData = op, ring.SQEBufferSelect, int32(fd), length, flags, data
		e.BufGroup = rigGroup
	})
}

// reap waits until n completions are there or none has come for a while, and
// returns those that came.
func (g *rig) reap(n int, wait time.Duration) []cqe {
	var out []cqe
	for stop := time.Now().Add(wait); g.err == nil; {
		// What is there is taken before the clock is looked at: a late wake-up
		// must not lose a completion.
		a, b := g.ring.Completions()
		for _, run := range [...][]ring.CQE{a, b} {
			for _, c := range run {
				out = append(out, cqe{c.UserData, c.Res, c.Flags})
			}
		}
		g.ring.Seen(len(a) + len(b))
		left := time.Until(stop)
		if len(out) >= n || left <= 0 {
			break
		}
		g.fail("wait", g.ring.Enter(1, left.Nanoseconds(), true))
	}
	return out
}

// lacking turns a completion with EINVAL or EBADFD of a request that has nothing
// wrong about it into a refusal.
func (g *rig) lacking(what string, cqes []cqe) {
	for _, c := range cqes {
		if e := unix.Errno(-c.Res); c.Res < 0 && (e == unix.EINVAL || e == unix.EOPNOTSUPP) && g.err == nil {
			g.err = refusal{what, e}
		}
	}
}

func (g *rig) head() int {
	if g.err != nil {
		return -1
	}
	h, err := g.group.KernelHead()
	if err != nil {
		return -1 // before 6.8
	}
	return int(h)
}

func (g *rig) slots() []slot {
	if g.group == nil {
		return nil
	}
	var out []slot
	for i := range g.count {
		addr, n, bid := g.group.Slot(i)
		at := -1
		if int(bid) < g.count {
			at = int(addr - uint64(uintptr(unsafe.Pointer(&g.buffer(bid)[0]))))
		}
		out = append(out, slot{bid, at, int(n)})
	}
	return out
}

// letter is the byte that message i consists of; buffers start as zeroes.
func letter(i int) byte { return 'A' + byte(i%26) }

func letters(i, n int) []byte {
	p := make([]byte, n)
	for k := range p {
		p[k] = letter(i)
	}
	return p
}

// runsOfLetters finds the messages sent as letters.
func (g *rig) runsOfLetters() []run {
	return g.scan(func(prev, b byte) bool { return prev == b }, func(b byte) (run, bool) {
		return run{Message: int(b - 'A')}, b >= 'A' && b <= 'Z'
	})
}

// counting is a message of up to 255 bytes whose byte i is i+1.
func counting(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i + 1)
	}
	return p
}

// runsOfCounting finds the pieces of one counting message.
func (g *rig) runsOfCounting() []run {
	return g.scan(func(prev, b byte) bool { return b == prev+1 }, func(b byte) (run, bool) {
		return run{From: int(b) - 1}, b != 0
	})
}

// scan cuts the buffers into runs: starts tells whether a byte is of a message,
// joined whether it goes on from the one before it.
func (g *rig) scan(joined func(prev, b byte) bool, starts func(byte) (run, bool)) []run {
	if g.err != nil {
		return nil
	}
	var out []run
	for bid := range g.count {
		p, open := g.buffer(uint16(bid)), false
		for at, b := range p {
			x, ok := starts(b)
			if ok && open && joined(p[at-1], b) {
				out[len(out)-1].N++
				continue
			}
			if open = ok; ok {
				x.Bid, x.At, x.N = uint16(bid), at, 1
				out = append(out, x)
			}
		}
	}
	return out
}
