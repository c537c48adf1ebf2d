package ring

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestBufRingSizes(t *testing.T) {
	r := testRing(t, 8, 8)
	newGroup(t, r, 9, 1, 64, 0, 0) // skips where there are none
	for _, n := range []int{-1, 0, 3, 1000, 32767, 65536, 1 << 20} {
		if b, err := r.NewBufRing(1, n, 0, 0); err == nil || !strings.Contains(err.Error(), "power of two") {
			t.Errorf("%d entries: %v, %v", n, b, err)
		}
	}
	for _, n := range []int{1, 2, 256, MaxBufRing} {
		b, err := r.NewBufRing(1, n, 0, 0)
		if err != nil {
			t.Fatalf("%d entries: %v", n, err)
		}
		if b.Entries() != n || b.Available() != 0 || b.Bytes() < int64(n)*16 || b.Bytes()%int64(unix.Getpagesize()) != 0 {
			t.Errorf("%d entries: ring of %d, %d available, %d bytes", n, b.Entries(), b.Available(), b.Bytes())
		}
		if err := b.Close(); err != nil {
			t.Errorf("%d entries: %v", n, err)
		}
	}
}

// TestKernelRefusesTheseSizes: the limits NewBufRing states are the kernel's.
func TestKernelRefusesTheseSizes(t *testing.T) {
	r := testRing(t, 8, 8)
	newGroup(t, r, 9, 1, 64, 0, 0)
	mem := anonymous(t, 65536*16+4096)
	register := func(entries uint32, shift int, bgid uint16) error {
		reg := bufReg{ringAddr: addressOf(mem[shift:]), ringEntries: entries, bgid: bgid}
		return r.register(registerPbufRing, unsafe.Pointer(&reg), 1)
	}
	for _, n := range []uint32{0, 3, 1000, 65536} {
		if err := register(n, 0, 1); err != unix.EINVAL {
			t.Errorf("%d entries: %v, want EINVAL", n, err)
		}
	}
	if err := register(8, 16, 1); err != unix.EINVAL {
		t.Errorf("a ring that does not start at a page: %v, want EINVAL", err)
	}
	if err := register(32768, 0, 1); err != nil {
		t.Errorf("32768 entries: %v", err)
	}
	if err := register(8, 0, 9); err != unix.EEXIST {
		t.Errorf("a group that exists: %v, want EEXIST", err)
	}
	if _, err := r.NewBufRing(9, 8, 0, 0); !errors.Is(err, unix.EEXIST) || !strings.Contains(err.Error(), "buffer ring 9") {
		t.Errorf("a group that exists: %v", err)
	}
}

func TestAddRefuses(t *testing.T) {
	r := testRing(t, 8, 8)
	g := newGroup(t, r, 1, 4, 64, 0, 0)
	add := func(n uint32, bid uint16) error { return g.Add(unsafe.Pointer(&g.mem[0]), n, bid) }
	if err := add(0, 0); err == nil || !strings.Contains(err.Error(), "no bytes") {
		t.Errorf("a buffer of no bytes: %v", err)
	}
	if err := add(64, 4); err == nil || !strings.Contains(err.Error(), "no buffer 4") {
		t.Errorf("buffer 4 of 4: %v", err)
	}
	if g.Available() != 0 {
		t.Errorf("%d available after refusals", g.Available())
	}
	g.provide(t, 2, 0)
	if err := add(64, 2); !errors.Is(err, ErrInRing) {
		t.Errorf("a buffer in the ring, with room left: %v", err)
	}
	g.provide(t, 1, 3)
	for bid := range uint16(4) {
		if err := add(64, bid); !errors.Is(err, ErrInRing) {
			t.Errorf("buffer %d into a full ring: %v", bid, err)
		}
	}
	if g.Available() != 4 {
		t.Errorf("%d available, want 4", g.Available())
	}
}

func TestRetireKnowsItsBuffers(t *testing.T) {
	r := testRing(t, 8, 8)
	g := newGroup(t, r, 1, 4, 64, 0, 0)
	g.provide(t, 1)
	for _, bid := range []uint16{0, 2, 4, 65535} {
		if g.Retire(bid) {
			t.Errorf("buffer %d was never provided, yet retired", bid)
		}
	}
	if !g.Retire(1) || g.Retire(1) || g.Available() != 0 {
		t.Errorf("buffer 1 retires once; %d available", g.Available())
	}
}

// TestPublishKeepsTheFirstEntry: the tail lies over the first entry's last
// member, and is stored together with its buffer's number.
func TestPublishKeepsTheFirstEntry(t *testing.T) {
	r := testRing(t, 8, 8)
	g := newGroup(t, r, 1, 4, 64, 0, 0)
	const addr, bid = 0x1234567890abcdef, 0x2bcd
	g.bufs[0] = buf{addr: addr, len: 0x01020304, bid: bid}
	for _, tail := range []uint16{0, 1, 255, 256, 32767, 32768, 65535} {
		g.tail = tail
		g.Publish()
		if e := g.bufs[0]; e.addr != addr || e.len != 0x01020304 || e.bid != bid || e.resv != tail {
			t.Errorf("tail %#x: first entry is %#v", tail, e)
		}
		word := atomic.LoadUint32((*uint32)(unsafe.Pointer(&g.mem0()[12])))
		if word != uint32(bid)|uint32(tail)<<16 {
			t.Errorf("tail %#x: word %#x", tail, word)
		}
	}
	g.tail = 0
	g.Publish() // no receive ran: the kernel never looked
}

func (g *testGroup) mem0() []byte { return g.BufRing.mem }

// TestKernelHeadAgrees: the kernel's head is where our count of retired buffers
// says, whole buffers and incrementally consumed ones.
func TestKernelHeadAgrees(t *testing.T) {
	for _, inc := range []bool{false, true} {
		r := testRing(t, 8, 64)
		var flags uint16
		if inc {
			flags = PbufInc
		}
		g := newGroup(t, r, 1, 4, 64, flags, 0)
		g.provide(t, 0, 1, 2, 3)
		a, b := unixPair(t)
		check := func(step string) {
			t.Helper()
			h, err := g.KernelHead()
			if err != nil {
				lacks(t, "the status of buffer rings", 6, 8, err)
			}
			if h != g.head {
				t.Fatalf("inc %v, %s: the kernel's head is %d, ours %d", inc, step, h, g.head)
			}
		}
		check("at the start")
		for i := range 300 {
			send(t, a, fill('x', 40))
			recv(t, r, b, 1, 0, 0)
			c := reap(t, r, 1)[0]
			if c.Res <= 0 {
				t.Fatalf("receive %d: %v", i, c)
			}
			if c.Flags&CQEBufMore == 0 {
				if !g.Retire(c.BufferID()) {
					t.Fatalf("receive %d: %v of a buffer not in the ring", i, c)
				}
				check("after a receive")
				g.provide(t, c.BufferID())
			}
			check("after handing back")
		}
		if g.head < 50 {
			t.Errorf("inc %v: only %d buffers retired", inc, g.head)
		}
	}
	r := testRing(t, 8, 8)
	g := newGroup(t, r, 1, 4, 64, 0, 0)
	gone := *g.BufRing
	gone.bgid = 77
	if _, err := gone.KernelHead(); err == nil || !strings.Contains(err.Error(), "buffer ring 77") {
		t.Errorf("status of a group that is not there: %v", err)
	}
}

// TestHotFieldsAreOneLine: what a receive touches of a group lies in one cache
// line, and groups do not share lines.
func TestHotFieldsAreOneLine(t *testing.T) {
	var b BufRing
	if hot := unsafe.Offsetof(b.ring); hot > 64 {
		t.Errorf("%d bytes are touched", hot)
	}
	if n := unsafe.Sizeof(b); n != 128 {
		t.Errorf("a group is %d bytes, want 128", n)
	}
}
