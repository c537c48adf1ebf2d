package ring

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// provideOld hands buffers to a group by request and returns the result.
func provideOld(t *testing.T, r *Ring, bgid, bid uint16, n int, p []byte, size uint32) int32 {
	t.Helper()
	r.Next().Provide(bgid, bid, n, unsafe.Pointer(unsafe.SliceData(p)), size)
	return reap(t, r, 1)[0].Res
}

// TestProvideOnTheKernel: buffers handed back by request are taken in the order
// they were handed in, lie where the request says, and are gone once used.
func TestProvideOnTheKernel(t *testing.T) {
	for _, flags := range []uint16{0, RecvMultishot} {
		r := testRing(t, 8, 64)
		mem := anonymous(t, 8*64)
		a, b := unixPair(t)
		for _, run := range [][2]int{{4, 2}, {0, 3}} {
			if res := provideOld(t, r, 7, uint16(run[0]), run[1], mem[run[0]*64:], 64); res < 0 {
				t.Fatalf("provide %d from %d: %v", run[1], run[0], unix.Errno(-res))
			}
		}
		if flags != 0 {
			multishot(t, r, b, 7, 0, 0)
		}
		for i, bid := range []int{4, 5, 0, 1, 2} {
			send(t, a, fill(byte('a'+i), 10))
			if flags == 0 {
				recv(t, r, b, 7, 0, 0)
			}
			is(t, reap(t, r, 1)[0], 10, bid, flags != 0)
			if string(mem[bid*64:][:10]) != string(fill(byte('a'+i), 10)) {
				t.Errorf("buffer %d holds %q", bid, mem[bid*64:][:10])
			}
		}
		send(t, a, fill('z', 10))
		if flags == 0 {
			recv(t, r, b, 7, 0, 0)
		}
		is(t, reap(t, r, 1)[0], noBufs, -1, false)
	}
}

// TestMostLegacyBuffers: MaxLegacyBuffers is the kernel's limit. One more in the
// same request is left out without a word, and refused in a request of its own.
func TestMostLegacyBuffers(t *testing.T) {
	for _, n := range []int{MaxLegacyBuffers, MaxLegacyBuffers + 1} {
		r := testRing(t, 8, 64)
		mem := anonymous(t, 65536)
		if res := provideOld(t, r, 1, 0, n, mem, 1); res < 0 {
			t.Fatalf("%d buffers: %v", n, unix.Errno(-res))
		}
		if res := provideOld(t, r, 1, 65535, 1, mem, 1); res != -int32(unix.EOVERFLOW) {
			t.Errorf("one more after %d: %d, want EOVERFLOW", n, res)
		}
	}
}

// TestSkippedCompletions: a request that succeeds leaves none if so asked, one
// that fails does.
func TestSkippedCompletions(t *testing.T) {
	r := testRing(t, 8, 64)
	mem := anonymous(t, 4096)
	e := r.Next()
	e.Provide(1, 0, 4, unsafe.Pointer(&mem[0]), 64)
	e.Flags |= SQECQESkipSuccess
	quiet(t, r)
	e = r.Next()
	e.Provide(1, 65535, 4, unsafe.Pointer(&mem[0]), 64) // past the last number
	e.Flags |= SQECQESkipSuccess
	if c := reap(t, r, 1)[0]; c.Res >= 0 {
		t.Errorf("%v, want a failure", c)
	}
}

// TestFrontSeesCutEntries (6): a bundle that wants fewer bytes than the buffer at
// the head has cuts that entry, and nothing came: the next bundle goes by the cut
// length. Front reads it.
func TestFrontSeesCutEntries(t *testing.T) {
	r := testRing(t, 8, 64)
	needBundles(t, r)
	g := newGroup(t, r, 1, 4, 100, 0, 0)
	if _, _, ok := g.Front(); ok {
		t.Error("an empty ring has a front")
	}
	g.provide(t, 3, 1, 0, 2)
	front := func(bid uint16, n uint32) {
		t.Helper()
		if got, have, ok := g.Front(); got != bid || have != n || !ok {
			t.Fatalf("front is buffer %d of %d bytes, %v; want %d of %d", got, have, ok, bid, n)
		}
	}
	front(3, 100)
	a, b := unixPair(t)
	recv(t, r, b, 1, RecvBundle, 0)
	r.sqes[(r.tail-1)&r.sqMask].Len = 30
	quiet(t, r) // it met an empty socket
	_, cut, _ := g.Front()
	send(t, a, fill('x', 30))
	is(t, reap(t, r, 1)[0], 30, 3, false)
	g.Retire(3)
	front(1, 100)
	if cut != 30 {
		t.Skipf("this kernel leaves entries as they were: %d bytes", cut)
	}
}

// TestTakesMultishotLength agrees with what a real receive does.
func TestTakesMultishotLength(t *testing.T) {
	r := testRing(t, 8, 64)
	takes, err := r.TakesMultishotLength()
	if err != nil {
		t.Fatal(err)
	}
	quiet(t, r)
	g := newGroup(t, r, 1, 4, 64, 0, 0)
	g.provide(t, 0, 1, 2, 3)
	a, b := unixPair(t)
	send(t, a, fill('x', 25))
	recv(t, r, b, 1, RecvMultishot, 0)
	r.sqes[(r.tail-1)&r.sqMask].Len = 10
	if !takes {
		is(t, reap(t, r, 1)[0], -int32(unix.EINVAL), -1, false)
		return
	}
	for bid, c := range reap(t, r, 3) {
		is(t, c, []int32{10, 10, 5}[bid], bid, true)
	}
}
