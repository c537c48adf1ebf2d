package harness

import (
	"fmt"
	"unsafe"

	"github.com/zcbench/zcbench/harness/residency"
	"golang.org/x/sys/unix"
)

// assemblyPool holds the buffers in which messages that span several chunks are
// made contiguous. It hands out the one returned last, so that few pages are
// touched. Each buffer takes the largest message.
type assemblyPool struct {
	mem  []byte
	size int
	next int32   // first never used
	free []int32 // returned ones
}

// assemblyLeast is how many buffers there are at least: a hold by time does not
// tell how many messages it keeps.
const assemblyLeast = 1 << 12

// assemblyMost bounds the address space of all of them, in bytes.
const assemblyMost = 64 << 30

// assemblyCount is how many buffers of a size there are for so many messages.
func assemblyCount(size int64, messages int) int64 {
	return min(max(assemblyLeast, int64(messages)), assemblyMost/size)
}

// newAssemblyPool reserves address space only, for so many messages at once.
func newAssemblyPool(largest int64, messages int) (*assemblyPool, error) {
	page := int64(unix.Getpagesize())
	size := (largest + page - 1) / page * page
	n := assemblyCount(size, messages)
	mem, err := MapBuffers(int(size * n))
	if err != nil {
		return nil, fmt.Errorf("reserve assembly buffers: %w", err)
	}
	return &assemblyPool{mem: mem, size: int(size), free: make([]int32, 0, n)}, nil
}

// get returns a buffer number, or -1 when all are in use.
func (a *assemblyPool) get() int32 {
	if n := len(a.free); n > 0 {
		id := a.free[n-1]
		a.free = a.free[:n-1]
		return id
	}
	if int(a.next) == cap(a.free) {
		return -1
	}
	a.next++
	return a.next - 1
}

func (a *assemblyPool) put(id int32) { a.free = append(a.free, id) }

func (a *assemblyPool) at(id int32, off uint32) *byte { return &a.mem[int(id)*a.size+int(off)] }

// region is the part that was ever used.
func (a *assemblyPool) region() residency.Region {
	return residency.Region{Name: assemblyRegion, Addr: uintptr(unsafe.Pointer(&a.mem[0])), Len: uintptr(len(a.mem))}
}

// MapBuffers maps private anonymous memory that costs nothing until touched,
// without huge pages: what is resident is then what was touched, to the page.
func MapBuffers(n int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err == unix.ENOMEM {
		return nil, fmt.Errorf("map %d bytes of buffers: %w: a limit on address space (ulimit -v, ulimit -d) is too low, or vm.overcommit_memory is 2, which ignores MAP_NORESERVE", n, err)
	}
	if err != nil {
		return nil, fmt.Errorf("map %d bytes of buffers: %w", n, err)
	}
	if err := unix.Madvise(mem, unix.MADV_NOHUGEPAGE); err != nil && err != unix.EINVAL {
		return nil, fmt.Errorf("advise against huge pages: %w", err)
	}
	return mem, nil
}

// add appends a piece to the open message. Bytes that follow the last piece in
// the same buffer extend it. Where the application wants its messages in one
// run, bytes that do not are copied together: once a message lies in two
// places, its first bytes and all further ones go to an assembly buffer, and
// the buffers they came in are free at once.
func (s *Sink) add(c *stream, p piece) {
	if c.asm >= 0 {
		s.append(c, p)
		return
	}
	last := len(c.pend) - 1
	if last >= 0 && c.pend[last].buf == p.buf && unsafe.Add(unsafe.Pointer(c.pend[last].data), c.pend[last].n) == unsafe.Pointer(p.data) {
		c.pend[last].n += p.n
		return
	}
	if !s.contiguous || last < 0 {
		s.refs[p.buf]++
		c.pend = append(c.pend, p)
		return
	}
	c.asm = s.assembly.get()
	if c.asm < 0 {
		s.Fail(fmt.Errorf("more than %d messages are being made contiguous at once", cap(s.assembly.free)))
		return
	}
	first := c.pend[0]
	c.pend = append(c.pend[:0], piece{data: s.assembly.at(c.asm, 0), buf: -1})
	s.append(c, first)
	s.Unref(first.buf)
	s.append(c, p)
}

// append copies bytes to the end of the message in its assembly buffer.
func (s *Sink) append(c *stream, p piece) {
	m := &c.pend[0]
	if int(m.n+p.n) > s.assembly.size {
		s.Fail(fmt.Errorf("a message of more than %d bytes", s.assembly.size))
		return
	}
	copy(unsafe.Slice(s.assembly.at(c.asm, m.n), p.n), p.bytes())
	m.n += p.n
	s.copied += uint64(p.n)
}

// close unmaps the sink's memory.
func (s *Sink) close() { _ = unix.Munmap(s.assembly.mem) }
