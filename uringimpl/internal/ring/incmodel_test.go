package ring

import (
	"fmt"
	"math/rand/v2"
)

// accounting is what IncFIFO does; tests put faulty copies in its place.
type accounting interface {
	Push(bid uint16, size uint32)
	Take(bid uint16, n uint32, more bool) (Consumed, error)
	TakeBundle(bid uint16, n uint32, more bool) (c Consumed, rest uint32, err error)
	TakeRest(n uint32, more bool) (c Consumed, rest uint32, err error)
	Len() int
}

// chooser makes a test's random choices: a number in [0, n). ok is false when
// there are no more.
type chooser interface {
	choose(n int) (v int, ok bool)
}

// dice chooses by a seeded generator, a given number of times.
type dice struct {
	rng  *rand.Rand
	left int
}

func roll(seed uint64, times int) *dice { return &dice{rand.New(rand.NewPCG(seed, 0x1c)), times} }

func (d *dice) choose(n int) (int, bool) {
	d.left--
	return d.rng.IntN(n), d.left >= 0
}

// tape chooses by the bytes of a fuzzer.
type tape struct{ data []byte }

func (t *tape) choose(n int) (int, bool) {
	var v int
	for range 2 {
		if len(t.data) == 0 {
			return 0, false
		}
		v, t.data = v<<8|int(t.data[0]), t.data[1:]
		if n <= 256 {
			break
		}
	}
	return v % n, true
}

// kernelModel is the kernel's side of a group of incrementally consumed
// buffers, after io_kbuf_inc_commit in io_uring/kbuf.c: entries lie in a ring
// under two free-running 16-bit indices, and the one at the head has its address
// advanced and its length cut in place. It knows nothing of offsets.
type kernelModel struct {
	slots      []buf
	head, tail uint16
	keep       uint32 // an entry with fewer bytes left is retired
}

func (k *kernelModel) add(addr uint64, n uint32, bid uint16) {
	k.slots[int(k.tail)%len(k.slots)] = buf{addr: addr, len: n, bid: bid}
	k.tail++
}

func (k *kernelModel) first() *buf { return &k.slots[int(k.head)%len(k.slots)] }

// receive puts n bytes, at most what is left, into the head entry and returns
// the completion and where the bytes went.
func (k *kernelModel) receive(n uint32) (bid uint16, addr uint64, more bool) {
	e := k.first()
	bid, addr = e.bid, e.addr
	e.addr += uint64(n)
	e.len -= n
	if e.len >= k.keep {
		return bid, addr, true
	}
	e.len = 0
	k.head++
	return bid, addr, false
}

// leave drops the head entry although bytes are left, which the kernel may.
func (k *kernelModel) leave() { k.head++ }

// incWorld is an application above the model: buffers that are provided, being
// filled, or held, and what the accounting under test should say of each.
type incWorld struct {
	k       kernelModel
	f       accounting
	size    []uint32 // of each buffer, as provided last
	held    []uint16 // retired, not handed back yet
	retired int
	// A buffer lies at 2^32 times its number plus one: no two can be mixed up.
	leftBid  int // left early without a word; -1: none
	leftTail uint32
}

func base(bid uint16) uint64 { return (uint64(bid) + 1) << 32 }

// checkInc plays a random history of provides, receives, holds and early leaves
// against the accounting and returns the first disagreement.
func checkInc(c chooser, fresh func(entries int, minLeft uint32) accounting, laps bool) error {
	exponent, _ := c.choose(5)
	minLeft, ok := c.choose(40)
	if !ok {
		return nil
	}
	entries := 1 << exponent
	w := &incWorld{f: fresh(entries, uint32(minLeft)), size: make([]uint32, entries), leftBid: -1}
	w.k = kernelModel{slots: make([]buf, entries), keep: max(1, uint32(minLeft))}
	for bid := range entries {
		w.held = append(w.held, uint16(bid))
	}
	biggest := 300
	if laps {
		biggest = 3 // retire with nearly every receive, so that 16 bits wrap
	}
	for step := 0; ; step++ {
		what, ok := c.choose(8)
		if !ok {
			return nil
		}
		if err := w.step(c, what, biggest); err != nil {
			return fmt.Errorf("step %d (%d entries, min_left %d, %d retired): %w", step, entries, minLeft, w.retired, err)
		}
	}
}

// step hands back a held buffer, leaves one early, or receives.
func (w *incWorld) step(c chooser, what, biggest int) error {
	provided := int(w.k.tail - w.k.head)
	switch {
	case provided == 0 || what < 3 && len(w.held) > 0:
		if len(w.held) == 0 {
			return fmt.Errorf("no buffer is provided and none is held")
		}
		i, _ := c.choose(len(w.held))
		n, _ := c.choose(biggest)
		bid := w.held[i]
		w.held = append(w.held[:i], w.held[i+1:]...)
		w.size[bid] = uint32(n) + w.k.keep
		w.k.add(base(bid), w.size[bid], bid)
		w.f.Push(bid, w.size[bid])
		return nil
	case what == 3 && provided > 1 && w.leftBid < 0 && w.k.first().addr != base(w.k.first().bid):
		e := w.k.first()
		w.leftBid, w.leftTail = int(e.bid), e.len
		w.k.leave()
		return nil
	default:
		n, _ := c.choose(int(w.k.first().len))
		return w.receive(uint32(n) + 1)
	}
}

// receive compares one completion of n bytes.
func (w *incWorld) receive(n uint32) error {
	bid, addr, more := w.k.receive(n)
	want := Consumed{Bid: bid, Offset: uint32(addr - base(bid)), Retired: !more}
	if !more {
		want.Tail = w.size[bid] - want.Offset - n
		w.held = append(w.held, bid)
		w.retired++
	}
	if w.leftBid >= 0 {
		want.Left, want.LeftBid, want.LeftTail = true, uint16(w.leftBid), w.leftTail
		w.held = append(w.held, want.LeftBid)
		w.retired++
		w.leftBid = -1
	}
	got, err := w.f.Take(bid, n, more)
	if err != nil {
		return fmt.Errorf("%d bytes into buffer %d at %d: %w", n, bid, want.Offset, err)
	}
	if got != want {
		return fmt.Errorf("%d bytes into buffer %d: accounted %+v, the kernel did %+v", n, bid, got, want)
	}
	if have := int(w.k.tail - w.k.head); w.f.Len() != have {
		return fmt.Errorf("%d entries accounted, the kernel has %d", w.f.Len(), have)
	}
	return nil
}
