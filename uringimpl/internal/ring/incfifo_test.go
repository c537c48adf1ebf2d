package ring

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func honest(entries int, minLeft uint32) accounting { return NewIncFIFO(entries, minLeft) }

func TestIncFIFOAgainstModel(t *testing.T) {
	for seed := range uint64(300) {
		if err := checkInc(roll(seed, 2000), honest, false); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestIncFIFOWraps retires more buffers than 16 bits count.
func TestIncFIFOWraps(t *testing.T) {
	for seed := range uint64(4) {
		counted := &counting{}
		err := checkInc(roll(seed, 1_000_000), func(entries int, minLeft uint32) accounting {
			counted.accounting = NewIncFIFO(entries, minLeft)
			return counted
		}, true)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if counted.pushes < 2*(math.MaxUint16+1) {
			t.Errorf("seed %d: only %d buffers provided", seed, counted.pushes)
		}
	}
}

type counting struct {
	accounting
	pushes int
}

func (c *counting) Push(bid uint16, size uint32) {
	c.pushes++
	c.accounting.Push(bid, size)
}

func FuzzIncFIFO(f *testing.F) {
	seedTapes(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := checkInc(&tape{data}, honest, false); err != nil {
			t.Fatal(err)
		}
	})
}

// faulty is the accounting with one mistake planted.
type faulty struct {
	accounting
	push func(bid uint16, size uint32) (uint16, uint32)
	take func(f accounting, bid uint16, n uint32, more bool) (Consumed, error)
}

func (f *faulty) Push(bid uint16, size uint32) {
	if f.push != nil {
		bid, size = f.push(bid, size)
	}
	f.accounting.Push(bid, size)
}

func (f *faulty) Take(bid uint16, n uint32, more bool) (Consumed, error) {
	if f.take != nil {
		return f.take(f.accounting, bid, n, more)
	}
	return f.accounting.Take(bid, n, more)
}

func (f *faulty) TakeBundle(bid uint16, n uint32, more bool) (Consumed, uint32, error) {
	c, rest, err := f.accounting.TakeBundle(bid, n, more)
	return f.spoil(c, n-rest), rest, err
}

func (f *faulty) TakeRest(n uint32, more bool) (Consumed, uint32, error) {
	c, rest, err := f.accounting.TakeRest(n, more)
	return f.spoil(c, n-rest), rest, err
}

// spoil has the mistake of take in what is said of one buffer of a bundle.
func (f *faulty) spoil(c Consumed, n uint32) Consumed {
	if f.take == nil {
		return c
	}
	c, _ = f.take(answer{said: c}, c.Bid, n, !c.Retired)
	return c
}

// answer is an accounting that says what it is told to.
type answer struct {
	accounting
	said Consumed
}

func (a answer) Take(uint16, uint32, bool) (Consumed, error) { return a.said, nil }

// plantedFaults are the mistakes an accounting like this one is likely to have.
func plantedFaults() map[string]func(entries int, minLeft uint32) accounting {
	plant := func(f faulty) func(int, uint32) accounting {
		return func(entries int, minLeft uint32) accounting {
			g := f
			g.accounting = NewIncFIFO(entries, minLeft)
			return &g
		}
	}
	return map[string]func(int, uint32) accounting{
		"offset off by one": plant(faulty{take: func(f accounting, bid uint16, n uint32, more bool) (Consumed, error) {
			c, err := f.Take(bid, n, more)
			c.Offset++
			return c, err
		}}),
		"consumes one byte less": plant(faulty{take: func(f accounting, bid uint16, n uint32, more bool) (Consumed, error) {
			return f.Take(bid, n-1, more)
		}}),
		"consumes one byte more": plant(faulty{take: func(f accounting, bid uint16, n uint32, more bool) (Consumed, error) {
			return f.Take(bid, n+1, more)
		}}),
		"entries one byte short": plant(faulty{push: func(bid uint16, size uint32) (uint16, uint32) { return bid, size - 1 }}),
		"offset of the end": plant(faulty{take: func(f accounting, bid uint16, n uint32, more bool) (Consumed, error) {
			c, err := f.Take(bid, n, more)
			c.Offset += n
			return c, err
		}}),
		"never retires": plant(faulty{take: func(f accounting, bid uint16, n uint32, more bool) (Consumed, error) {
			c, err := f.Take(bid, n, true)
			return c, err
		}}),
		"forgets min_left": func(entries int, minLeft uint32) accounting { return NewIncFIFO(entries, minLeft+1) },
	}
}

// TestModelCatchesPlantedFaults: the property test can fail.
func TestModelCatchesPlantedFaults(t *testing.T) {
	for name, fresh := range plantedFaults() {
		caught := 0
		for seed := range uint64(20) {
			if checkInc(roll(seed, 2000), fresh, false) != nil {
				caught++
			}
		}
		if caught == 0 {
			t.Errorf("%s: not caught by any of 20 histories", name)
		}
	}
}

func TestIncFIFORefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		n          uint32
		bid        uint16
		more       bool
		used       uint32 // of buffer 0 before
	}{
		{name: "more bytes than the buffer has", bid: 0, n: 101, want: "101 bytes"},
		{name: "more bytes than are left", bid: 0, n: 51, used: 50, want: "50 left of 100"},
		{name: "a buffer that is not next", bid: 1, n: 1, want: "but 0 is the next"},
		{name: "a buffer that is not there, with the head in use", bid: 7, n: 1, used: 50, want: "but 1 is the next"},
		{name: "F_BUF_MORE on a full buffer", bid: 0, n: 100, more: true, want: "keeps F_BUF_MORE"},
		{name: "F_BUF_MORE with less than min_left", bid: 0, n: 91, more: true, want: "keeps F_BUF_MORE"},
	} {
		f := NewIncFIFO(2, 10)
		f.Push(0, 100)
		f.Push(1, 100)
		if c.used > 0 {
			if _, err := f.Take(0, c.used, true); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := f.Take(c.bid, c.n, c.more); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, %v; want an error with %q", c.name, got, err, c.want)
		}
	}
	f := NewIncFIFO(2, 0)
	if _, err := f.Take(0, 1, false); err == nil || !strings.Contains(err.Error(), "none is provided") {
		t.Errorf("a completion with nothing provided: %v", err)
	}
}

func TestIncFIFOWasteOfTails(t *testing.T) {
	f := NewIncFIFO(4, 16)
	f.Push(0, 100)
	f.Push(1, 100)
	f.Push(2, 100)
	if c, err := f.Take(0, 90, false); err != nil || !c.Retired || c.Tail != 10 || c.Left {
		t.Errorf("a tail below min_left: %+v, %v", c, err)
	}
	if c, err := f.Take(1, 30, true); err != nil || c.Retired || c.Offset != 0 {
		t.Errorf("the first bytes of buffer 1: %+v, %v", c, err)
	}
	// The kernel goes on to buffer 2 without having retired 1.
	want := Consumed{Bid: 2, Left: true, LeftBid: 1, LeftTail: 70}
	if c, err := f.Take(2, 5, true); err != nil || c != want || f.Len() != 1 {
		t.Errorf("a buffer left early: %+v, %v, %d entries; want %+v", c, err, f.Len(), want)
	}
}

// TestIncFIFOBundles: a bundle uses up the buffers it goes over; F_BUF_MORE speaks
// of its last.
func TestIncFIFOBundles(t *testing.T) {
	type part struct {
		Consumed
		n uint32
	}
	for _, c := range []struct {
		name string
		bid  uint16
		n    uint32
		more bool
		want []part
		err  string
	}{
		{name: "within the head", bid: 2, n: 30, more: true, want: []part{{Consumed{Bid: 2, Offset: 40}, 30}}},
		{name: "to the end of the head", bid: 2, n: 60, want: []part{{Consumed{Bid: 2, Offset: 40, Retired: true}, 60}}},
		{name: "into the next", bid: 2, n: 90, more: true,
			want: []part{{Consumed{Bid: 2, Offset: 40, Retired: true}, 60}, {Consumed{Bid: 0}, 30}}},
		{name: "over all", bid: 2, n: 260,
			want: []part{{Consumed{Bid: 2, Offset: 40, Retired: true}, 60}, {Consumed{Bid: 0, Retired: true}, 100}, {Consumed{Bid: 1, Retired: true}, 100}}},
		{name: "the last retired with a tail", bid: 2, n: 155,
			want: []part{{Consumed{Bid: 2, Offset: 40, Retired: true}, 60}, {Consumed{Bid: 0, Retired: true, Tail: 5}, 95}}},
		{name: "the head left early", bid: 0, n: 150, more: true,
			want: []part{{Consumed{Bid: 0, Retired: true, Left: true, LeftBid: 2, LeftTail: 60}, 100}, {Consumed{Bid: 1}, 50}}},
		{name: "more than there is", bid: 2, n: 261, err: "1 bytes more than all buffers"},
		{name: "a buffer in use that cannot be", bid: 2, n: 60, more: true, err: "keeps F_BUF_MORE"},
		{name: "a buffer that is not next", bid: 1, n: 10, err: "but 0 is the next"},
	} {
		f := NewIncFIFO(4, 10)
		for _, bid := range []uint16{2, 0, 1} {
			f.Push(bid, 100)
		}
		if _, err := f.Take(2, 40, true); err != nil {
			t.Fatal(err)
		}
		var got []part
		n := c.n
		k, rest, err := f.TakeBundle(c.bid, n, c.more)
		for err == nil {
			got = append(got, part{k, n - rest})
			if n = rest; n == 0 {
				break
			}
			k, rest, err = f.TakeRest(n, c.more)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) || c.err == "" && (err != nil || !slices.Equal(got, c.want)) {
			t.Errorf("%s: %+v, %v; want %+v %s", c.name, got, err, c.want, c.err)
		}
	}
}
