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

// BufRing is a registered ring of provided buffers (5.19). The kernel takes
// entries from its head, which it keeps to itself; we add at the tail. As the
// kernel would accept more entries than the ring has and hand the same buffer
// out twice, Add refuses them.
type BufRing struct {
	ring *Ring
	mem  []byte
	bufs []buf
	mask uint16
	bgid uint16
	inc  bool
	tail uint16 // entries added
	head uint16 // entries retired, as the completions said
}

// ErrBufRingFull means an entry was added that the kernel has no room for.
var ErrBufRingFull = errors.New("buffer ring is full: a buffer was handed back twice, or one never received")

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
		ring: r, mem: mem, bgid: bgid, mask: uint16(entries - 1), inc: flags&PbufInc != 0,
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
	if b.Available() >= len(b.bufs) {
		return fmt.Errorf("buffer group %d, buffer %d: %w", b.bgid, bid, ErrBufRingFull)
	}
	if n == 0 {
		return fmt.Errorf("buffer group %d, buffer %d: no bytes", b.bgid, bid)
	}
	e := &b.bufs[b.tail&b.mask]
	// resv of the first entry is the ring's tail: members are set one by one.
	e.addr, e.len, e.bid = uint64(uintptr(addr)), n, bid
	b.tail++
	return nil
}

// Publish makes the entries added visible. The tail has 16 bits and sits over
// the first entry's resv; Go has no atomic of that width, so the 32-bit word
// with that entry's bid is stored, which the kernel only reads.
func (b *BufRing) Publish() {
	w := uint32(b.bufs[0].bid) | uint32(b.tail)<<16
	atomic.StoreUint32((*uint32)(unsafe.Pointer(&b.mem[12])), w)
}

// Retire notes that the kernel is done with the entry at the head.
func (b *BufRing) Retire() { b.head++ }

// KernelHead asks the kernel for its head (6.8).
func (b *BufRing) KernelHead() (uint16, error) {
	st := bufStatus{group: uint32(b.bgid)}
	if err := b.ring.register(registerPbufStatus, unsafe.Pointer(&st), 1); err != nil {
		return 0, fmt.Errorf("status of buffer ring %d: %w", b.bgid, err)
	}
	return uint16(st.head), nil
}
