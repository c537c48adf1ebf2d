package residency

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fields of SO_MEMINFO (enum in include/uapi/linux/sock_diag.h, filled in by
// sk_get_meminfo in net/core/sock.c, since Linux 4.12).
const (
	memRmemAlloc = 0 // sk_rmem_alloc
	memBacklog   = 7 // sk_backlog.len
	memDrops     = 8 // sk_drops
	memVars      = 9
)

// SocketMemory returns the kernel memory in bytes that received data occupies
// in the sockets: the receive and out-of-order queues (RMEM_ALLOC) and packets
// that arrived while the socket was in use (BACKLOG). Both are sums of
// skb->truesize, so buffers and their headers count in full, not just payload.
// Left out are FWD_ALLOC, a reservation in the protocol's budget that no page
// backs, and the send side. A UNIX socket charges its sender, so it shows
// nothing here. It does not allocate.
func SocketMemory(fds []int) (bytes int64, err error) {
	for _, fd := range fds {
		mem, size, errno := memInfo(fd)
		if errno != 0 {
			return 0, fmt.Errorf("kernel memory of socket %d (SO_MEMINFO): %w", fd, errno)
		}
		if size <= memBacklog*4 {
			return 0, fmt.Errorf("kernel memory of socket %d: SO_MEMINFO gave %d bytes, too few", fd, size)
		}
		bytes += int64(mem[memRmemAlloc]) + int64(mem[memBacklog])
	}
	return bytes, nil
}

// SocketDrops returns how many packets a socket had no room for.
func SocketDrops(fd int) (uint32, error) {
	mem, _, errno := memInfo(fd)
	if errno != 0 {
		return 0, errno
	}
	return mem[memDrops], nil
}

// memInfo reads SO_MEMINFO of a socket and how many bytes of it there are.
func memInfo(fd int) (mem [memVars]uint32, size uint32, errno unix.Errno) {
	size = uint32(unsafe.Sizeof(mem))
	_, _, errno = unix.Syscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, unix.SO_MEMINFO,
		uintptr(unsafe.Pointer(&mem)), uintptr(unsafe.Pointer(&size)), 0)
	return mem, size, errno
}
