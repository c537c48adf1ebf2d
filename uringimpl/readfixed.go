package uringimpl

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// readFixed receives into chunks of memory that is registered with the ring
// beforehand (IORING_REGISTER_BUFFERS, IORING_OP_READ_FIXED): the kernel looks
// its pages up once, pins them, and all of them are resident from then on.
var readFixed = harness.Strategy{
	Name: "read-fixed", Family: "uring", Needs: harness.NeedsUring,
	Summary: "chunks of registered memory, which the kernel pins; the strategy names one for each receive",
	Params: []harness.Param{
		{Name: "chunk", Kind: harness.ParamBytes, Default: "16KiB", Help: "bytes of a chunk"},
		{Name: "entries", Kind: harness.ParamInt, Default: harness.Auto, Help: "chunks a client; auto: as many as the budget holds"},
	},
	Fits: fitsOwnChunks("chunk"),
	Pins: func(w record.Workload, _ harness.Values) int64 { return int64(w.Clients) * w.BudgetBytes },
	Open: openReadFixed,
}

// Limits of IORING_REGISTER_BUFFERS (io_uring/rsrc.c: IORING_MAX_REG_BUFFERS, and
// the SZ_1G check of io_buffer_validate).
const (
	maxFixedBuffers     = 1 << 14
	maxFixedBufferBytes = 1 << 30
)

type fixedReads struct {
	*chunks
	ranged
	regions []unix.Iovec
	perIO   int // chunks of a registered region
}

func openReadFixed(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
	k, err := openChunks(b, p, int(p.Bytes("chunk", 16<<10)))
	if err != nil {
		return nil, err
	}
	f := &fixedReads{chunks: k, perIO: maxFixedBufferBytes / k.chunk}
	if f.ranged, err = mapRanges(1, k.chunk*k.per*len(b.FDs), false); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	k.memory = func(id int32) []byte { return f.mem[int(id)*k.chunk:][:k.chunk] }
	k.take, k.drop = k.memory, func(int32) {}
	k.prepare = func(c int, e *ring.SQE) { fixedRead(e, uint16(int(k.armed[c])/f.perIO)) }
	f.regions = fixedRegions(f.mem, k.chunk, k.per*len(b.FDs))
	if err := f.register(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// fixedRegions cuts memory into as few regions as the kernel's limit on their
// size allows, none of which ends within a chunk: a read may not cross them.
func fixedRegions(mem []byte, chunk, chunks int) []unix.Iovec {
	var regions []unix.Iovec
	each := maxFixedBufferBytes / chunk
	for at := 0; at < chunks; at += each {
		n := min(each, chunks-at) * chunk
		v := unix.Iovec{Base: &mem[at*chunk]}
		v.SetLen(n)
		regions = append(regions, v)
	}
	return regions
}

func (f *fixedReads) register() error {
	if len(f.regions) > maxFixedBuffers {
		return fmt.Errorf("%d regions of registered memory: the kernel takes %d; lower the budget or the clients", len(f.regions), maxFixedBuffers)
	}
	err := f.ring.RegisterBuffers(f.regions)
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.ENOMEM) {
		return &harness.Skip{
			Reason: fmt.Sprintf("the kernel refused to pin %d bytes of registered buffers: %s", f.pinned(), memlock()),
			Remedy: fmt.Sprintf("raise RLIMIT_MEMLOCK to more than %d bytes (ulimit -l %d), run with CAP_IPC_LOCK, or lower the budget or the clients",
				f.pinned(), (f.pinned()+f.ring.Bytes())>>10+1),
		}
	}
	return fmt.Errorf("register %d bytes of buffers in %d regions: %w", f.pinned(), len(f.regions), err)
}

// memlock says what RLIMIT_MEMLOCK is.
func memlock() string {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil {
		return fmt.Sprintf("RLIMIT_MEMLOCK cannot be read: %v", err)
	}
	if l.Cur == unix.RLIM_INFINITY {
		return "RLIMIT_MEMLOCK is unlimited, so the machine lacks the memory"
	}
	return fmt.Sprintf("RLIMIT_MEMLOCK is %d bytes for all of the user's rings and registered buffers together", l.Cur)
}

// pinned is what the registration pins: every page that a region touches, once
// for each region.
func (f *fixedReads) pinned() int64 {
	page := uintptr(unix.Getpagesize())
	var n uintptr
	for _, v := range f.regions {
		r := iovecRegion(v)
		n += (r.Addr+r.Len+page-1)/page*page - r.Addr/page*page
	}
	return int64(n)
}

func iovecRegion(v unix.Iovec) residency.Region {
	return residency.Region{Name: "buffers", Addr: uintptr(unsafe.Pointer(v.Base)), Len: uintptr(v.Len)}
}

func (f *fixedReads) Memory() harness.Memory {
	m := harness.Memory{Buffers: []residency.Region{region("buffers", f.mem)}, Ring: f.ring.Bytes()}
	m.Pinned = m.Ring + f.pinned()
	return m
}

// Close lets the buffers go with the ring, before their memory is unmapped.
func (f *fixedReads) Close() error {
	return errors.Join(f.single.close(), f.ranged.close())
}

// fixedRead makes a receive one into registered memory.
func fixedRead(e *ring.SQE, index uint16) {
	e.Opcode, e.Ioprio, e.BufGroup = ring.OpReadFixed, 0, index // buf_index shares its place with buf_group
}
