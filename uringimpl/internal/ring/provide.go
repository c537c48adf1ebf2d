package ring

import "unsafe"

// MaxLegacyBuffers is the most buffers a group filled by IORING_OP_PROVIDE_BUFFERS
// takes, numbered from 0: a request for 65536 succeeds, but leaves the last one
// out (io_add_buffers in io_uring/kbuf.c; measured).
const MaxLegacyBuffers = 65535

// Provide makes an SQE a request that hands n buffers to group bgid
// (IORING_OP_PROVIDE_BUFFERS, 5.7). They lie one after the other from addr on,
// size bytes each, and are numbered from bid on: buffers that are not neighbours
// take a request each.
func (e *SQE) Provide(bgid, bid uint16, n int, addr unsafe.Pointer, size uint32) {
	e.Opcode, e.Fd, e.BufGroup = OpProvideBuffers, int32(n), bgid
	e.Addr, e.Len, e.Off = uint64(uintptr(addr)), size, uint64(bid)
}
