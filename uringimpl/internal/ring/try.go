package ring

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// What follows hands its arguments to the kernel as they are, for those who want
// to know what it takes.

// TryBufRing registers memory as a buffer ring of any number of entries, which
// lie at mem.
func (r *Ring) TryBufRing(mem unsafe.Pointer, entries uint32, bgid uint16, flags uint16, minLeft uint32) error {
	reg := bufReg{ringAddr: uint64(uintptr(mem)), ringEntries: entries, bgid: bgid, flags: flags, minLeft: minLeft}
	return r.register(registerPbufRing, unsafe.Pointer(&reg), 1)
}

// DropBufRing unregisters a group.
func (r *Ring) DropBufRing(bgid uint16) error {
	reg := bufReg{bgid: bgid}
	return r.register(unregisterPbufRing, unsafe.Pointer(&reg), 1)
}

// BufRingBytes is the memory of a buffer ring.
func BufRingBytes(entries int) int { return entries * int(unsafe.Sizeof(buf{})) }

// MapBufRing is NewBufRing with memory that the kernel allocates (6.4).
func (r *Ring) MapBufRing(bgid uint16, entries int, flags uint16) (*BufRing, error) {
	if err := r.TryBufRing(nil, uint32(entries), bgid, flags|PbufMmap, 0); err != nil {
		return nil, fmt.Errorf("register mapped buffer ring %d of %d entries: %w", bgid, entries, err)
	}
	mem, err := r.mmap(offPbuf|int64(bgid)<<offPbufShift, int(pages(BufRingBytes(entries))))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("map buffer ring %d: %w", bgid, err), r.DropBufRing(bgid))
	}
	return &BufRing{
		ring: r, mem: mem, bgid: bgid, mask: uint16(entries - 1), in: make([]bool, entries),
		bufs: unsafe.Slice((*buf)(unsafe.Pointer(&mem[0])), entries),
	}, nil
}

// RegisterBuffers registers memory for fixed reads and writes; it replaces what
// was registered before only after UnregisterBuffers.
func (r *Ring) RegisterBuffers(bufs []unix.Iovec) error {
	if len(bufs) == 0 {
		return unix.EINVAL
	}
	return r.register(registerBuffers, unsafe.Pointer(&bufs[0]), uintptr(len(bufs)))
}

// UnregisterBuffers lets them go.
func (r *Ring) UnregisterBuffers() error { return r.register(unregisterBuffers, nil, 0) }
