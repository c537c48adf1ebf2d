package ring

import "fmt"

// IncFIFO follows, for one group of incrementally consumed buffers, where the
// kernel stands: entries in ring order, each with the bytes already consumed.
// The kernel fills the head entry from its start and retires it when no more
// than max(1, minLeft)-1 bytes are left; the completion that retires it lacks
// F_BUF_MORE. Offsets belong to the buffer, never to a connection.
type IncFIFO struct {
	entries []incEntry
	mask    uint16
	head    uint16
	tail    uint16
	minLeft uint32
}

type incEntry struct {
	bid  uint16
	size uint32
	used uint32
}

// NewIncFIFO returns the FIFO of a ring with a power of two of entries.
func NewIncFIFO(entries int, minLeft uint32) *IncFIFO {
	return &IncFIFO{entries: make([]incEntry, entries), mask: uint16(entries - 1), minLeft: max(1, minLeft)}
}

// Push notes an entry added to the ring.
func (f *IncFIFO) Push(bid uint16, size uint32) {
	f.entries[f.tail&f.mask] = incEntry{bid: bid, size: size}
	f.tail++
}

// Consumed is what one completion took.
type Consumed struct {
	Bid     uint16
	Offset  uint32 // of the first byte in its buffer
	Retired bool
	Tail    uint32 // bytes left unused in a retired buffer
	// Left is set when the kernel moved on from a partly used buffer without
	// saying so: LeftBid is retired with LeftTail bytes unused.
	Left     bool
	LeftBid  uint16
	LeftTail uint32
}

// Take applies a completion of n > 0 bytes from buffer bid, with or without
// F_BUF_MORE. It fails when the completion does not fit what was provided: then
// either the accounting here or the kernel's is wrong, and no byte received can
// be trusted. A kernel that leaves the head early (no F_BUF_MORE although
// enough is left, or a new bid after F_BUF_MORE) is within its contract: the
// entry counts as retired and its rest as waste.
func (f *IncFIFO) Take(bid uint16, n uint32, more bool) (Consumed, error) {
	var c Consumed
	e, err := f.find(bid, &c)
	if err != nil {
		return Consumed{}, err
	}
	if n > e.size-e.used {
		return Consumed{}, fmt.Errorf("completion of %d bytes from buffer %d, which has %d left of %d", n, bid, e.size-e.used, e.size)
	}
	return f.use(e, n, more, c)
}

// TakeBundle applies the first part of a bundle of n > 0 bytes that begins in
// buffer bid: what of it lies in that buffer. The rest bytes lie in the entries
// that follow; TakeRest takes them. F_BUF_MORE speaks of the last one.
func (f *IncFIFO) TakeBundle(bid uint16, n uint32, more bool) (c Consumed, rest uint32, err error) {
	e, err := f.find(bid, &c)
	if err != nil {
		return Consumed{}, 0, err
	}
	return f.part(e, n, more, c)
}

// TakeRest applies the next part of a bundle of which n > 0 bytes are left.
func (f *IncFIFO) TakeRest(n uint32, more bool) (c Consumed, rest uint32, err error) {
	if f.head == f.tail {
		return Consumed{}, 0, fmt.Errorf("a bundle has %d bytes more than all buffers provided", n)
	}
	return f.part(&f.entries[f.head&f.mask], n, more, c)
}

// part uses an entry for as many of n bytes as it has room for.
func (f *IncFIFO) part(e *incEntry, n uint32, more bool, c Consumed) (Consumed, uint32, error) {
	here := min(n, e.size-e.used)
	rest := n - here
	c, err := f.use(e, here, more && rest == 0, c)
	return c, rest, err
}

// find returns the entry of buffer bid, which must be at the head, or next to a
// head that the kernel left early.
func (f *IncFIFO) find(bid uint16, c *Consumed) (*incEntry, error) {
	for f.head != f.tail {
		e := &f.entries[f.head&f.mask]
		if e.bid == bid {
			return e, nil
		}
		if e.used == 0 {
			return nil, fmt.Errorf("completion names buffer %d, but %d is the next in the ring and unused", bid, e.bid)
		}
		c.Left, c.LeftBid, c.LeftTail = true, e.bid, e.size-e.used
		f.head++
	}
	return nil, fmt.Errorf("completion names buffer %d, but none is provided", bid)
}

// use takes n bytes of the entry at the head.
func (f *IncFIFO) use(e *incEntry, n uint32, more bool, c Consumed) (Consumed, error) {
	c.Bid, c.Offset = e.bid, e.used
	e.used += n
	left := e.size - e.used
	if more && left < f.minLeft {
		return Consumed{}, fmt.Errorf("buffer %d keeps F_BUF_MORE with %d bytes left of %d", e.bid, left, e.size)
	}
	if !more {
		c.Retired, c.Tail = true, left
		f.head++
	}
	return c, nil
}

// Len is the number of entries not retired.
func (f *IncFIFO) Len() int { return int(f.tail - f.head) }

// Filled is how much of the head buffer is consumed; false if bid is not it.
func (f *IncFIFO) Filled(bid uint16) (uint32, bool) {
	if f.head == f.tail {
		return 0, false
	}
	e := f.entries[f.head&f.mask]
	return e.used, e.bid == bid
}
