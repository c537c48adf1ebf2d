package ring

import (
	"testing"
	"unsafe"
)

// TestSharedGroupInterleaves (11): sockets that share an incrementally consumed
// group lie in one buffer by order of arrival, so offsets belong to the buffer.
func TestSharedGroupInterleaves(t *testing.T) {
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 1, 1000, PbufInc, 0)
	g.provide(t, 0)
	f := NewIncFIFO(1, 0)
	f.Push(0, 1000)
	var fds [2][2]int
	for i := range fds {
		fds[i][0], fds[i][1] = unixPair(t)
		multishot(t, r, fds[i][1], 1, 0, uint64(i))
	}
	for i := range 4 {
		send(t, fds[i%2][0], fill("AB"[i%2], 100))
		c := reap(t, r, 1)[0]
		is(t, c, 100, 0, true)
		if c.UserData != uint64(i%2) || c.Flags&CQEBufMore == 0 {
			t.Fatalf("receive %d: %v", i, c)
		}
		got, err := f.Take(c.BufferID(), uint32(c.Res), true)
		if err != nil || got.Offset != uint32(i)*100 {
			t.Fatalf("receive %d: %+v, %v", i, got, err)
		}
	}
	want := string(fill('A', 100)) + string(fill('B', 100)) + string(fill('A', 100)) + string(fill('B', 100))
	if string(g.buffer(0)[:400]) != want {
		t.Errorf("the buffer holds %q", g.buffer(0)[:400])
	}
}

// TestBundleTakesRingSlots (12): a bundle goes over consecutive ring slots, not
// consecutive buffers; its completion names the first.
func TestBundleTakesRingSlots(t *testing.T) {
	r := testRing(t, 8, 64)
	needBundles(t, r)
	g := newGroup(t, r, 1, 4, 100, 0, 0)
	order := []uint16{2, 0, 3, 1}
	g.provide(t, order...)
	a, b := unixPair(t)
	for _, letter := range []byte("abcd") {
		send(t, a, fill(letter, 100))
	}
	recv(t, r, b, 1, RecvBundle, 0)
	is(t, reap(t, r, 1)[0], 400, 2, false)
	for i, bid := range order {
		if c := g.buffer(bid)[0]; c != "abcd"[i] {
			t.Errorf("buffer %d, slot %d, holds %q", bid, i, c)
		}
	}
	if h, err := g.KernelHead(); err != nil || h != 4 {
		t.Errorf("head %d, %v: want 4", h, err)
	}
}

// TestIncBundle (12): with incremental consumption the completion names the
// first buffer and its F_BUF_MORE speaks of the last.
func TestIncBundle(t *testing.T) {
	for _, c := range []struct {
		bytes int
		more  bool // F_BUF_MORE
		head  uint16
		left  []uint32 // in slots
	}{
		{50, true, 0, []uint32{50, 100, 100, 100}},
		{100, false, 1, []uint32{0, 100, 100, 100}},
		{150, true, 1, []uint32{0, 50, 100, 100}},
		{200, false, 2, []uint32{0, 0, 100, 100}},
		{350, true, 3, []uint32{0, 0, 0, 50}},
		{400, false, 4, []uint32{0, 0, 0, 0}},
	} {
		r := testRing(t, 8, 64)
		needBundles(t, r)
		g := newGroup(t, r, 1, 4, 100, PbufInc, 0)
		g.provide(t, 2, 0, 3, 1)
		a, b := unixPair(t)
		send(t, a, fill('x', c.bytes))
		recv(t, r, b, 1, RecvBundle, 0)
		got := reap(t, r, 1)[0]
		is(t, got, int32(c.bytes), 2, false)
		if more := got.Flags&CQEBufMore != 0; more != c.more {
			t.Errorf("%d bytes: F_BUF_MORE %v, want %v", c.bytes, more, c.more)
		}
		for i, left := range c.left {
			if g.bufs[i].len != left {
				t.Errorf("%d bytes: %d left in slot %d, want %d", c.bytes, g.bufs[i].len, i, left)
			}
		}
		if h, err := g.KernelHead(); err != nil || h != c.head {
			t.Errorf("%d bytes: head %d, %v, want %d", c.bytes, h, err, c.head)
		}
	}
}

// TestConsumedEntryLooksLikeTheEnd (16): a used-up entry keeps a length of 0. If
// the tail moves over it without a rewrite, a receive brings 0 bytes, as at the
// end of a stream. BufRing writes every entry and refuses a length of 0.
func TestConsumedEntryLooksLikeTheEnd(t *testing.T) {
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, 1, 100, PbufInc, 0)
	g.provide(t, 0)
	a, b := unixPair(t)
	send(t, a, fill('x', 100))
	recv(t, r, b, 1, 0, 0)
	is(t, reap(t, r, 1)[0], 100, 0, false)
	if g.bufs[0].len != 0 {
		t.Fatalf("a used-up entry has %d bytes left", g.bufs[0].len)
	}
	g.tail++ // and nothing else
	g.Publish()
	send(t, a, fill('y', 100))
	recv(t, r, b, 1, 0, 0)
	c := reap(t, r, 1)[0]
	if c.Res != 0 {
		t.Fatalf("%v, want a receive of 0 bytes", c)
	}
	if err := g.Add(unsafe.Pointer(&g.buffer(0)[0]), 0, 0); err == nil {
		t.Error("BufRing took an entry of 0 bytes")
	}
}
