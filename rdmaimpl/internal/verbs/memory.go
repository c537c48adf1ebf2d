//go:build cgo && !noverbs

package verbs

// #include "hot.h"
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// memory is C memory, registered with the device when there is one. It is kept
// from children (MADV_DONTFORK): a fork after registering would leave the parent
// with other pages than the device's.
type memory struct {
	ctx   *Context
	at    unsafe.Pointer
	bytes int
	mr    C.struct_zc_mr
}

// newMemory maps pages, touches them, and registers them.
func (c *Context) newMemory(bytes int) (*memory, error) {
	page := syscall.Getpagesize()
	bytes = (bytes + page - 1) / page * page
	at := C.zc_mem_map(C.size_t(bytes))
	if at == nil {
		return nil, fmt.Errorf("map %d bytes for buffers: out of memory", bytes)
	}
	m := &memory{ctx: c, at: at, bytes: bytes}
	for i := 0; i < bytes; i += page {
		m.slice()[i] = 0
	}
	if c.null() {
		return m, nil
	}
	if errno := syscall.Errno(C.zc_mr_register(c.dev.pd, at, C.size_t(bytes), &m.mr)); errno != 0 {
		C.zc_mem_unmap(at, C.size_t(bytes))
		e := &Error{Op: fmt.Sprintf("register %d bytes with %s", bytes, c.Name), Errno: errno}
		if errno == syscall.ENOMEM || errno == syscall.EPERM {
			e.Remedy = memlockRemedy(bytes)
		}
		return nil, e
	}
	return m, nil
}

// memlockRemedy names the limit that stands behind most ENOMEM of the verbs.
func memlockRemedy(bytes int) string {
	const rlimitMemlock = 8
	var lim syscall.Rlimit
	if syscall.Getrlimit(rlimitMemlock, &lim) != nil {
		return ""
	}
	if lim.Cur == ^uint64(0) {
		return "RLIMIT_MEMLOCK is unlimited: the machine is out of memory"
	}
	text := fmt.Sprintf("RLIMIT_MEMLOCK is %d bytes", lim.Cur)
	if bytes > 0 {
		text += fmt.Sprintf(" and %d are to be pinned", bytes)
	}
	return text + ": raise it with `ulimit -l unlimited`, or in /etc/security/limits.conf"
}

// slice is the memory as Go sees it.
func (m *memory) slice() []byte { return unsafe.Slice((*byte)(m.at), m.bytes) }

func (m *memory) close() error {
	if m == nil || m.at == nil {
		return nil
	}
	if errno := C.zc_mr_deregister(&m.mr); errno != 0 {
		return &Error{Op: "deregister memory of " + m.ctx.Name, Errno: syscall.Errno(errno)}
	}
	C.zc_mem_unmap(m.at, C.size_t(m.bytes))
	m.at = nil
	return nil
}

// buffers cuts the memory into a power of two of buffers of n bytes, one at
// least and no more than most, a stride apart that is a whole number of lines.
func (m *memory) buffers(n, most int) C.struct_zc_bufs {
	stride := (max(n, 1) + lineBytes - 1) / lineBytes * lineBytes
	count := 1
	for count*2 <= most && count*2*stride <= m.bytes {
		count *= 2
	}
	return C.struct_zc_bufs{
		base: C.uint64_t(uintptr(m.at)), len: C.uint32_t(n), lkey: m.mr.lkey,
		stride: C.uint32_t(stride), mask: C.uint32_t(count - 1),
	}
}

// lineBytes is a cache line.
const lineBytes = 64
