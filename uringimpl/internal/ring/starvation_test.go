package ring

import "testing"

// TestBusySocketStarvesQuiet (19): buffers of a shared group go to who asks first.
// A busy socket takes all of them; a quiet one whose bytes arrive then is refused,
// and gets nothing of them, until some are handed back.
func TestBusySocketStarvesQuiet(t *testing.T) {
	const buffers, busy, quietOne = 4, 1, 2
	r := testRing(t, 8, 64)
	g := newGroup(t, r, 1, buffers, 64, 0, 0)
	g.provide(t, 0, 1, 2, 3)
	busyPeer, busyEnd := unixPair(t)
	quietPeer, quietEnd := unixPair(t)
	multishot(t, r, busyEnd, 1, 0, busy)
	multishot(t, r, quietEnd, 1, 0, quietOne)
	for bid := range buffers {
		send(t, busyPeer, fill('B', 64))
		c := reap(t, r, 1)[0]
		is(t, c, 64, bid, true)
		if c.UserData != busy {
			t.Fatalf("completion %v is not the busy socket's", c)
		}
		g.Retire(uint16(bid))
	}
	send(t, quietPeer, fill('Q', 10))
	c := reap(t, r, 1)[0]
	is(t, c, noBufs, -1, false)
	if c.UserData != quietOne {
		t.Fatalf("completion %v is not the quiet socket's", c)
	}
	for bid := range uint16(buffers) {
		if string(g.buffer(bid)) != string(fill('B', 64)) {
			t.Errorf("buffer %d holds %q: not the busy socket's alone", bid, g.buffer(bid))
		}
	}
	// The bytes were not lost, and one buffer handed back is enough.
	g.provide(t, 2)
	multishot(t, r, quietEnd, 1, 0, quietOne)
	c = reap(t, r, 1)[0]
	if is(t, c, 10, 2, true); c.UserData != quietOne || string(g.buffer(2)[:10]) != string(fill('Q', 10)) {
		t.Errorf("%v, buffer 2 holds %q", c, g.buffer(2)[:10])
	}
}
