package ring

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// MaxBufRing is the largest buffer ring the kernel takes, in entries (measured:
// 65536 is EINVAL).
const MaxBufRing = 32768

// BufRing is a registered ring of provided buffers (5.19), numbered from 0 and
// fewer than its entries. The kernel takes entries from its head, which it keeps
// to itself; we add at the tail. The kernel would accept a buffer that is in the
// ring already, and more entries than the ring has, and hand the same memory out
// twice: Add refuses both.
type BufRing struct {
	// What each receive touches is in one cache line: with thousands of groups each
	// is cold.
	bufs []buf
	in   []bool // by buffer: in the ring
	mask uint16
	bgid uint16
	tail uint16 // entries added
	head uint16 // entries retired, as the completions said
	ring *Ring
	mem  []byte
	_    [40]byte
}

// ErrInRing means a buffer was added that the kernel has not retired.
var ErrInRing = errors.New("is in the ring already: it was handed back twice, or never received")

// NewBufRing registers a buffer ring of a power of two of entries as group
// bgid. With flag PbufInc buffers are consumed incrementally; minLeft is then
// the number of bytes below which what is left of one is not used any more
// (0 and 1: all is used).
func (r *Ring) NewBufRing(bgid uint16, entries int, flags uint16, minLeft uint32) (*BufRing, error) {
	if !powerOfTwo(entries) || entries > MaxBufRing {
		return nil, fmt.Errorf("buffer ring of %d entries: want a power of two up to %d", entries, MaxBufRing)
	}
	mem, err := unix.Mmap(-1, 0, int(pages(entries*int(unsafe.Sizeof(buf{})))), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map a buffer ring of %d entries: %w", entries, err)
	}
	reg := bufReg{
		ringAddr: uint64(uintptr(unsafe.Pointer(&mem[0]))), ringEntries: uint32(entries),
		bgid: bgid, flags: flags, minLeft: minLeft,
	}
	if err := r.register(registerPbufRing, unsafe.Pointer(&reg), 1); err != nil {
		return nil, errors.Join(fmt.Errorf("register buffer ring %d of %d entries, flags %#x: %w", bgid, entries, flags, err), unix.Munmap(mem))
	}
	return &BufRing{
		ring: r, mem: mem, bgid: bgid, mask: uint16(entries - 1), in: make([]bool, entries),
		bufs: unsafe.Slice((*buf)(unsafe.Pointer(&mem[0])), entries),
	}, nil
}

// Close unregisters the group and unmaps the ring.
func (b *BufRing) Close() error {
	reg := bufReg{bgid: b.bgid}
	err := b.ring.register(unregisterPbufRing, unsafe.Pointer(&reg), 1)
	if err != nil {
		err = fmt.Errorf("unregister buffer ring %d: %w", b.bgid, err)
	}
	return errors.Join(err, unix.Munmap(b.mem))
}

// Entries is the size of the ring.
func (b *BufRing) Entries() int { return len(b.bufs) }

// Available is the number of entries provided and not retired.
func (b *BufRing) Available() int { return int(b.tail - b.head) }

// Bytes is the memory of the ring in whole pages.
func (b *BufRing) Bytes() int64 { return int64(len(b.mem)) }

// Add writes the next entry. The kernel sees it after Publish. A length of 0
// is refused: its receive would look like the end of the stream.
func (b *BufRing) Add(addr unsafe.Pointer, n uint32, bid uint16) error {
	if int(bid) >= len(b.in) {
		return fmt.Errorf("buffer group %d: no buffer %d in a ring of %d", b.bgid, bid, len(b.in))
	}
	if b.in[bid] {
		return fmt.Errorf("buffer group %d: buffer %d %w", b.bgid, bid, ErrInRing)
	}
	if n == 0 {
		return fmt.Errorf("buffer group %d: buffer %d has no bytes", b.bgid, bid)
	}
	e := &b.bufs[b.tail&b.mask]
	// resv of the first entry is the ring's tail: members are set one by one.
	e.addr, e.len, e.bid = uint64(uintptr(addr)), n, bid
	b.in[bid] = true
	b.tail++
	return nil
}

// Publish makes the entries added visible. The tail has 16 bits and sits over
// the first entry's resv; Go has no atomic of that width, so the 32-bit word
// with that entry's bid is stored, which the kernel only reads.
func (b *BufRing) Publish() {
	w := uint32(b.bufs[0].bid) | uint32(b.tail)<<16
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&b.bufs[0].bid)), w)
}

// Retire notes that the kernel is done with a buffer, as a completion said. It
// reports false if the buffer was not in the ring: the completion is then of no
// buffer of ours.
func (b *BufRing) Retire(bid uint16) bool {
	if int(bid) >= len(b.in) || !b.in[bid] {
		return false
	}
	b.in[bid] = false
	b.head++
	return true
}

// Front is the buffer the kernel uses next, by the completions retired so far,
// and its length as it stands in the ring; ok is false when none is provided. It
// holds where buffers are retired in ring order. The length is read from the ring
// because the kernel may have cut it: a bundle that wants fewer bytes than the
// buffer at the head has shortens that entry, and leaves it so when nothing comes
// (io_ring_buffers_peek in io_uring/kbuf.c).
func (b *BufRing) Front() (bid uint16, n uint32, ok bool) {
	if b.head == b.tail {
		return 0, 0, false
	}
	e := &b.bufs[b.head&b.mask]
	return e.bid, atomic.LoadUint32(&e.len), true
}

// Slot is what the ring's memory holds in slot i: the address and length at which
// the kernel would fill it next, which incremental consumption moves, and the
// buffer's number.
func (b *BufRing) Slot(i int) (addr uint64, n uint32, bid uint16) {
	e := &b.bufs[i&int(b.mask)]
	return e.addr, atomic.LoadUint32(&e.len), e.bid
}

// KernelHead asks the kernel for its head (6.8).
func (b *BufRing) KernelHead() (uint16, error) {
	st := bufStatus{group: uint32(b.bgid)}
	if err := b.ring.register(registerPbufStatus, unsafe.Pointer(&st), 1); err != nil {
		return 0, fmt.Errorf("status of buffer ring %d: %w", b.bgid, err)
	}
	return uint16(st.head), nil
}
