package ring

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"unsafe"
)

// seedTapes adds the tapes of seeded dice to a fuzz target's corpus.
func seedTapes(f *testing.F) {
	for seed := range uint64(8) {
		d := roll(seed, math.MaxInt)
		b := make([]byte, 400)
		for i := range b {
			v, _ := d.choose(256)
			b[i] = byte(v)
		}
		f.Add(b)
	}
}

// provided is a buffer in the kernel's hands: what of it is used.
type provided struct {
	bid        uint16
	size, used uint32
}

// bundles are histories of a group of incrementally consumed buffers that
// bundles fill: what the kernel does to a plain list of them.
type bundles struct {
	list []provided
	free []uint16
	keep uint32 // with fewer bytes left a buffer is retired
}

// bundle takes n bytes from the front of the list, at most what is there, and
// returns what of them lies where, and F_BUF_MORE.
func (b *bundles) bundle(n uint32) (parts []Consumed, sizes []uint32, more bool) {
	for n > 0 {
		p := &b.list[0]
		here := min(n, p.size-p.used)
		c := Consumed{Bid: p.bid, Offset: p.used}
		p.used, n = p.used+here, n-here
		left := p.size - p.used
		more = n == 0 && left >= b.keep
		if !more {
			c.Retired, c.Tail = true, left
			b.free = append(b.free, p.bid)
			b.list = b.list[1:]
		}
		parts, sizes = append(parts, c), append(sizes, here)
	}
	return parts, sizes, more
}

func (b *bundles) room() (n uint32) {
	for _, p := range b.list {
		n += p.size - p.used
	}
	return n
}

// checkBundles plays a history against the accounting.
func checkBundles(c chooser, f accounting, entries int, minLeft uint32) error {
	b := bundles{keep: max(1, minLeft)}
	for bid := range entries {
		b.free = append(b.free, uint16(bid))
	}
	for step := 0; ; step++ {
		what, ok := c.choose(4)
		if !ok {
			return nil
		}
		if len(b.list) == 0 || what < 2 && len(b.free) > 0 {
			i, _ := c.choose(len(b.free))
			n, _ := c.choose(200)
			p := provided{bid: b.free[i], size: b.keep + uint32(n)}
			b.free = slices.Delete(b.free, i, i+1)
			b.list = append(b.list, p)
			f.Push(p.bid, p.size)
		} else {
			n, _ := c.choose(int(b.room()))
			if err := b.compare(f, uint32(n)+1); err != nil {
				return fmt.Errorf("step %d (%d entries, min_left %d): %w", step, entries, minLeft, err)
			}
		}
		if f.Len() != len(b.list) {
			return fmt.Errorf("step %d: %d entries accounted, %d are there", step, f.Len(), len(b.list))
		}
	}
}

func (b *bundles) compare(f accounting, n uint32) error {
	first := b.list[0].bid
	want, sizes, more := b.bundle(n)
	left := n
	for i := range want {
		var got Consumed
		var rest uint32
		var err error
		if i == 0 {
			got, rest, err = f.TakeBundle(first, left, more)
		} else {
			got, rest, err = f.TakeRest(left, more)
		}
		if err != nil || got != want[i] || left-rest != sizes[i] {
			return fmt.Errorf("part %d of a bundle of %d: %+v, %d bytes, %v; want %+v, %d bytes", i, n, got, left-rest, err, want[i], sizes[i])
		}
		left = rest
	}
	if left != 0 {
		return fmt.Errorf("%d bytes of a bundle of %d are left over", left, n)
	}
	return nil
}

// FuzzIncBundles: whatever bundles a kernel makes, each of their bytes is found
// where it lies.
func FuzzIncBundles(f *testing.F) {
	seedTapes(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &tape{data}
		exponent, _ := c.choose(5)
		minLeft, _ := c.choose(40)
		if err := checkBundles(c, NewIncFIFO(1<<exponent, uint32(minLeft)), 1<<exponent, uint32(minLeft)); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBundleModelCatchesPlantedFaults: the fuzz target can fail.
func TestBundleModelCatchesPlantedFaults(t *testing.T) {
	ofTake := []string{"consumes one byte less", "consumes one byte more", "never retires"} // not seen through bundles
	for name, fresh := range plantedFaults() {
		caught := slices.Contains(ofTake, name)
		for seed := range uint64(20) {
			caught = caught || checkBundles(roll(seed, 2000), fresh(8, 5), 8, 5) != nil
		}
		if !caught {
			t.Errorf("%s: not caught by any of 20 histories", name)
		}
	}
	for seed := range uint64(50) {
		if err := checkBundles(roll(seed, 2000), NewIncFIFO(8, 5), 8, 5); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// FuzzBufRing: a ring knows which buffers are in it and which comes next,
// whatever is added and retired, and however often its indices wrap.
func FuzzBufRing(f *testing.F) {
	seedTapes(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &tape{data}
		exponent, _ := c.choose(5)
		entries := 1 << exponent
		start, _ := c.choose(1 << 16)
		mem := make([]byte, entries*int(unsafe.Sizeof(buf{})))
		b := &BufRing{
			mem: mem, bufs: unsafe.Slice((*buf)(unsafe.Pointer(&mem[0])), entries), in: make([]bool, entries),
			mask: uint16(entries - 1), head: uint16(start), tail: uint16(start),
		}
		var in []provided
		for {
			what, ok := c.choose(4)
			if !ok {
				return
			}
			bid, _ := c.choose(entries + 1) // one too many
			has := slices.ContainsFunc(in, func(p provided) bool { return p.bid == uint16(bid) })
			switch what {
			case 0, 1:
				n, _ := c.choose(100)
				err := b.Add(unsafe.Pointer(&mem[0]), uint32(n), uint16(bid))
				if bad := bid == entries || has || n == 0; bad != (err != nil) || has && !errors.Is(err, ErrInRing) {
					t.Fatalf("add buffer %d of %d bytes, in the ring %t: %v", bid, n, has, err)
				}
				if err == nil {
					in = append(in, provided{bid: uint16(bid), size: uint32(n)})
				}
				b.Publish()
			case 2: // in ring order, as kernels do
				if len(in) > 0 && b.Retire(in[0].bid) {
					in = in[1:]
				} else if len(in) > 0 {
					t.Fatalf("buffer %d, the next of the ring, is not in it", in[0].bid)
				}
			default:
				if !has && b.Retire(uint16(bid)) {
					t.Fatalf("buffer %d, which is not in the ring, is retired", bid)
				}
			}
			compareRing(t, b, in)
		}
	})
}

func compareRing(t *testing.T, b *BufRing, in []provided) {
	t.Helper()
	bid, n, ok := b.Front()
	if ok != (len(in) > 0) || ok && (bid != in[0].bid || n != in[0].size) {
		t.Fatalf("the front is buffer %d of %d bytes, %t; want the first of %+v", bid, n, ok, in)
	}
	if b.Available() != len(in) {
		t.Fatalf("%d available, want %d", b.Available(), len(in))
	}
	if len(b.mem) > 0 && b.bufs[0].resv != b.tail && b.tail != b.head {
		t.Fatalf("the kernel is told the tail %d, it is %d", b.bufs[0].resv, b.tail)
	}
}
