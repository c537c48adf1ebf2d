package ring

import (
	"fmt"
	"testing"
)

// oneBuffer is accounting that takes a completion for one buffer's, as that of
// liburing's example proxy does: without F_BUF_MORE one buffer is used up, and the
// next completion is of the next.
type oneBuffer struct {
	order []uint16
	next  int
}

func (o *oneBuffer) take(c CQE) error {
	want := o.order[o.next%len(o.order)]
	if c.BufferID() != want {
		return fmt.Errorf("receive of buffer %d, wanted %d", c.BufferID(), want)
	}
	if c.Flags&CQEBufMore == 0 {
		o.next++
	}
	return nil
}

// TestIncBundleNeedsItsOwnAccounting (23): an incrementally consumed bundle names
// its first buffer, may use up several and leave the last in use. Accounting by one
// buffer a completion loses its place; IncFIFO follows the kernel to the byte.
func TestIncBundleNeedsItsOwnAccounting(t *testing.T) {
	const size = 100
	r := testRing(t, 8, 64)
	needBundles(t, r)
	g := newGroup(t, r, 1, 8, size, PbufInc, 0)
	naive, ours := &oneBuffer{order: []uint16{5, 2, 7, 0, 3, 6, 1, 4}}, NewIncFIFO(8, 0)
	g.provide(t, naive.order...)
	for _, bid := range naive.order {
		ours.Push(bid, size)
	}
	a, b := unixPair(t)
	var lost error
	sent, retired := 0, 0
	for _, n := range []int{50, 230, 20, 190, 110} {
		p := make([]byte, n)
		for i := range p {
			p[i] = letter(0, uint64(sent+i))
		}
		send(t, a, p)
		recv(t, r, b, 1, RecvBundle, 0)
		r.sqes[(r.tail-1)&r.sqMask].Len = 8 * size
		c := reap(t, r, 1)[0]
		if int(c.Res) != n {
			t.Fatalf("%v, want %d bytes", c, n)
		}
		if err := naive.take(c); lost == nil {
			lost = err
		}
		more := c.Flags&CQEBufMore != 0
		got, rest, err := ours.TakeBundle(c.BufferID(), uint32(n), more)
		for left := uint32(n); ; got, rest, err = ours.TakeRest(left, more) {
			if err != nil {
				t.Fatalf("after %d bytes: %v: %v", sent, c, err)
			}
			for i := range left - rest {
				if g.buffer(got.Bid)[got.Offset+i] != letter(0, uint64(sent)) {
					t.Fatalf("byte %d is not at %d of buffer %d", sent, got.Offset+i, got.Bid)
				}
				sent++
			}
			if got.Retired {
				retired++
			}
			if left = rest; left == 0 {
				break
			}
		}
		if h, err := g.KernelHead(); err != nil || int(h) != retired {
			t.Fatalf("the kernel's head is %d, %v; %d buffers accounted as used up", h, err, retired)
		}
	}
	if sent != 600 || retired != 6 {
		t.Errorf("%d bytes, %d buffers used up: want 600 and 6", sent, retired)
	}
	if lost == nil {
		t.Error("accounting by one buffer a completion kept its place: the trap is not there")
	}
	t.Log(lost)
}
