package ring

import (
	"errors"
	"net"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The tests of this file and its neighbours show what the kernel does to those
// who use provided buffers wrongly or are surprised by them. Each holds a fact
// that the strategies rely on; the kernel's own words are in io_uring/kbuf.c and
// io_uring/net.c.

const noBufs = -int32(unix.ENOBUFS)

// multishot asks for a multishot receive, and ends the test where there is none.
func multishot(t *testing.T, r *Ring, fd int, bgid, flags uint16, data uint64) {
	t.Helper()
	recv(t, r, fd, bgid, RecvMultishot|flags, data)
	if err := r.Enter(0, 0, false); err != nil {
		t.Fatal(err)
	}
	if a, _ := r.Completions(); len(a) > 0 && a[0].Res == -int32(unix.EINVAL) {
		if flags&RecvBundle != 0 {
			lacks(t, "receive bundles", 6, 10, unix.EINVAL)
		}
		lacks(t, "multishot receives", 6, 0, unix.EINVAL)
	}
}

// TestNotHandingBackIsENOBUFS (10): a buffer is used once. Handed back, the same
// request asked for again goes on.
func TestNotHandingBackIsENOBUFS(t *testing.T) {
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 2, 64, 0, 0)
	g.provide(t, 0, 1)
	a, b := unixPair(t)
	multishot(t, r, b, 1, 0, 0)
	for bid := range 2 {
		send(t, a, fill('x', 10))
		is(t, reap(t, r, 1)[0], 10, bid, true)
		g.Retire(uint16(bid))
	}
	send(t, a, fill('y', 10))
	is(t, reap(t, r, 1)[0], noBufs, -1, false)
	g.provide(t, 1)
	multishot(t, r, b, 1, 0, 0)
	is(t, reap(t, r, 1)[0], 10, 1, true)
	if string(g.buffer(1)[:10]) != string(fill('y', 10)) {
		t.Errorf("buffer 1 holds %q", g.buffer(1)[:10])
	}
}

// TestHandingBackWhatNeverCameAliases (10): buffer 1 is in the ring when it is
// added again, so two clients get the same memory. BufRing refuses that.
func TestHandingBackWhatNeverCameAliases(t *testing.T) {
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 4, 64, 0, 0)
	g.provide(t, 0, 1)
	a1, b1 := unixPair(t)
	a2, b2 := unixPair(t)
	send(t, a1, fill('A', 10))
	recv(t, r, b1, 1, 0, 1)
	is(t, reap(t, r, 1)[0], 10, 0, false)
	g.Retire(0)
	if err := g.Add(unsafe.Pointer(&g.buffer(1)[0]), 64, 1); !errors.Is(err, ErrInRing) {
		t.Errorf("BufRing took a buffer that is in the ring: %v", err)
	}
	// The careless user hands back 1, which was never received, for 0.
	g.force(g.buffer(1), 64, 1)
	send(t, a1, fill('A', 10))
	recv(t, r, b1, 1, 0, 1)
	is(t, reap(t, r, 1)[0], 10, 1, false)
	if string(g.buffer(1)[:10]) != string(fill('A', 10)) {
		t.Fatalf("client 1 received %q", g.buffer(1)[:10])
	}
	send(t, a2, fill('B', 10))
	recv(t, r, b2, 1, 0, 2)
	is(t, reap(t, r, 1)[0], 10, 1, false)
	if string(g.buffer(1)[:10]) != string(fill('B', 10)) {
		t.Errorf("the bytes of client 1 were not overwritten by client 2: %q", g.buffer(1)[:10])
	}
}

// TestEndsCarryNoBuffer (10): neither the end of a stream nor a reset uses a
// buffer, on local and TCP sockets, single and multishot.
func TestEndsCarryNoBuffer(t *testing.T) {
	for _, flags := range []uint16{0, RecvMultishot} {
		r := testRing(t, 8, 64)
		g := newGroup(t, r, 1, 2, 64, 0, 0)
		g.provide(t, 0, 1)
		ends := func(fd int, want int32) {
			t.Helper()
			recv(t, r, fd, 1, flags, 0)
			is(t, reap(t, r, 1)[0], want, -1, false)
			if h, err := g.KernelHead(); err == nil && h != 0 {
				t.Errorf("flags %d: an end used up a buffer: head %d", flags, h)
			}
		}
		a, b := unixPair(t)
		if err := unix.Shutdown(a, unix.SHUT_WR); err != nil {
			t.Fatal(err)
		}
		ends(b, 0)
		x, y := tcpPair(t)
		if err := x.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		ends(rawFD(t, y), 0)
		x, y = tcpPair(t)
		reset(t, x)
		ends(rawFD(t, y), -int32(unix.ECONNRESET))
	}
}

// reset closes a connection so that its peer gets RST.
func reset(t *testing.T, c *net.TCPConn) {
	t.Helper()
	if err := errors.Join(c.SetLinger(0), c.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestBundleMultishotEndsWithoutENOBUFS (13): a multishot of bundles that fills
// the last buffer while more bytes wait ends with an ordinary completion. Nothing
// comes after it: re-arm on a missing F_MORE, never only on ENOBUFS.
func TestBundleMultishotEndsWithoutENOBUFS(t *testing.T) {
	r := testRing(t, 8, 64)
	needBundles(t, r)
	g := newGroup(t, r, 1, 4, 16, 0, 0)
	g.provide(t, 0, 1, 2, 3)
	a, b := unixPair(t)
	multishot(t, r, b, 1, RecvBundle, 0)
	send(t, a, fill('x', 80))
	is(t, reap(t, r, 1)[0], 64, 0, false)
	for bid := range uint16(4) {
		g.Retire(bid)
	}
	g.provide(t, 0, 1, 2, 3)
	send(t, a, fill('y', 5))
	quiet(t, r)
	multishot(t, r, b, 1, RecvBundle, 0)
	is(t, reap(t, r, 1)[0], 21, 0, true)
}

// needBundles ends a test where the kernel has no receive bundles.
func needBundles(t *testing.T, r *Ring) {
	t.Helper()
	if r.Features()&FeatBundle == 0 {
		lacks(t, "receive bundles", 6, 10, errors.New("no IORING_FEAT_RECVSEND_BUNDLE"))
	}
}

// TestEmptyRingRefusesAtOnce (14): a receive armed on an empty ring is refused
// although nothing has been sent, and does not tell the end of a stream.
func TestEmptyRingRefusesAtOnce(t *testing.T) {
	for _, flags := range []uint16{0, RecvMultishot} {
		r := testRing(t, 8, 64)
		newGroup(t, r, 1, 2, 64, 0, 0)
		a, b := unixPair(t)
		recv(t, r, b, 1, flags, 0)
		is(t, reap(t, r, 1)[0], noBufs, -1, false)
		if err := unix.Shutdown(a, unix.SHUT_WR); err != nil {
			t.Fatal(err)
		}
		recv(t, r, b, 1, flags, 0)
		is(t, reap(t, r, 1)[0], noBufs, -1, false)
	}
}

// TestUnknownGroupIsENOBUFS (21).
func TestUnknownGroupIsENOBUFS(t *testing.T) {
	r := testRing(t, 8, 64)
	newGroup(t, r, 1, 2, 64, 0, 0)
	a, b := unixPair(t)
	send(t, a, fill('x', 10))
	recv(t, r, b, 77, 0, 0)
	is(t, reap(t, r, 1)[0], noBufs, -1, false)
}

// TestNonEmptyWithOnlyTheEnd (15): F_SOCK_NONEMPTY promises something to read,
// not bytes.
func TestNonEmptyWithOnlyTheEnd(t *testing.T) {
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 4, 64, 0, 0)
	g.provide(t, 0, 1, 2, 3)
	x, y := tcpPair(t)
	fd := rawFD(t, y)
	if _, err := x.Write(fill('x', 10)); err != nil {
		t.Fatal(err)
	}
	recv(t, r, fd, 1, 0, 0)
	c := reap(t, r, 1)[0]
	is(t, c, 10, 0, false)
	if c.Flags&CQESockNonEmpty != 0 {
		t.Errorf("nothing is left, yet %v", c)
	}
	if _, err := x.Write(fill('x', 10)); err != nil {
		t.Fatal(err)
	}
	if err := x.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	recv(t, r, fd, 1, 0, 0)
	c = reap(t, r, 1)[0]
	is(t, c, 10, 1, false)
	if c.Flags&CQESockNonEmpty == 0 {
		t.Errorf("only a FIN is left: %v lacks F_SOCK_NONEMPTY", c)
	}
	recv(t, r, fd, 1, 0, 0)
	is(t, reap(t, r, 1)[0], 0, -1, false)
}

// TestMoreThanTheRingIsAccepted (17): the kernel does not compare tail and head
// with the ring's size. Buffers then come twice and overwrite each other.
func TestMoreThanTheRingIsAccepted(t *testing.T) {
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 2, 64, 0, 0)
	for i := range uint16(4) {
		g.force(g.buffer(i%2), 64, i%2)
	}
	a, b := unixPair(t)
	for i, letter := range []byte("ABCD") {
		send(t, a, fill(letter, 10))
		recv(t, r, b, 1, 0, 0)
		is(t, reap(t, r, 1)[0], 10, i%2, false)
	}
	if g.buffer(0)[0] != 'C' || g.buffer(1)[0] != 'D' {
		t.Errorf("buffers hold %c and %c: A and B were not overwritten", g.buffer(0)[0], g.buffer(1)[0])
	}
	g.force(g.buffer(0), 64, 0)
	if g.tail != 5 || g.Available() != 5 {
		t.Errorf("tail %d", g.tail)
	}
}

// TestSeventyThousandBuffers (18) goes round a ring of four until the 16-bit
// tail has wrapped: each buffer takes one numbered message.
func TestSeventyThousandBuffers(t *testing.T) {
	const buffers = 70_000
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 4, 8, 0, 0)
	g.provide(t, 0, 1, 2, 3)
	a, b := unixPair(t)
	multishot(t, r, b, 1, 0, 0)
	var burst [4]uint64
	for n := uint64(0); n < buffers; {
		k := int(n%4) + 1
		for i := range k {
			burst[i] = n + uint64(i)
		}
		send(t, a, unsafe.Slice((*byte)(unsafe.Pointer(&burst)), 8*k))
		for _, c := range reap(t, r, k) {
			if c.Res != 8 || c.Flags&(CQEBuffer|CQEMore) != CQEBuffer|CQEMore {
				t.Fatalf("message %d: %v", n, c)
			}
			bid := c.BufferID()
			if v := *(*uint64)(unsafe.Pointer(&g.buffer(bid)[0])); v != n {
				t.Fatalf("message %d: buffer %d holds message %d", n, bid, v)
			}
			if !g.Retire(bid) {
				t.Fatalf("message %d: buffer %d was not in the ring", n, bid)
			}
			g.provide(t, bid)
			n++
		}
	}
	h, err := g.KernelHead()
	if err != nil || h != g.head || h >= buffers-65536+4 {
		t.Errorf("the kernel's head is %d (%v), ours %d: it should have wrapped", h, err, g.head)
	}
}

// TestProtectedBufferIsStuck (21): a buffer the kernel cannot write to fails the
// receive and stays at the head.
func TestProtectedBufferIsStuck(t *testing.T) {
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 2, unix.Getpagesize(), 0, 0)
	if err := unix.Mprotect(g.buffer(0), unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	g.provide(t, 0, 1)
	a, b := unixPair(t)
	send(t, a, fill('x', 10))
	for range 3 {
		recv(t, r, b, 1, 0, 0)
		c := reap(t, r, 1)[0]
		if c.Res != -int32(unix.EFAULT) {
			t.Fatalf("%v, want EFAULT", c)
		}
		if h, err := g.KernelHead(); err != nil || h != 0 {
			t.Fatalf("head %d, %v: the buffer is gone", h, err)
		}
	}
	if err := unix.Mprotect(g.buffer(0), unix.PROT_READ|unix.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	recv(t, r, b, 1, 0, 0)
	is(t, reap(t, r, 1)[0], 10, 0, false)
}

// TestOverflowEndsMultishot (20): completions that do not fit end a multishot
// receive: the last one lacks F_MORE, comes late, and is not counted as lost.
func TestOverflowEndsMultishot(t *testing.T) {
	r := testRing(t, 4, 4)
	g := newGroup(t, r, 1, 16, 64, 0, 0)
	for bid := range uint16(16) {
		g.provide(t, bid)
	}
	a, b := unixPair(t)
	multishot(t, r, b, 1, 0, 0)
	for range 8 {
		send(t, a, fill('x', 10))
		if err := r.Enter(0, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	if !r.Overflowed() || r.Lost() != 0 {
		t.Errorf("overflowed %v, %d lost", r.Overflowed(), r.Lost())
	}
	for bid, c := range drain(r) {
		is(t, c, 10, bid, true)
	}
	is(t, reap(t, r, 1)[0], 10, 4, false)
	if r.Overflowed() {
		t.Error("still overflowed once all is fetched")
	}
	quiet(t, r)
	multishot(t, r, b, 1, 0, 0)
	is(t, reap(t, r, 1)[0], 30, 5, true)
}
