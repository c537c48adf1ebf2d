package probes

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// groupFeatures are ways to provide buffers and to use them.
func groupFeatures() []feature {
	return []feature{
		{"provide-legacy", "IORING_OP_PROVIDE_BUFFERS, Linux 5.7", "Buffers handed back by requests.", tryLegacy},
		{"pbuf-ring", "io_uring_register(2), Linux 5.19", "Buffers handed back through shared memory: no system call.", tryPbufRing},
		{"pbuf-mmap", "IOU_PBUF_RING_MMAP, Linux 6.4", "The kernel allocates the ring's memory.", tryPbufMmap},
		{"pbuf-inc", "IOU_PBUF_RING_INC, Linux 6.12", "One large buffer is consumed bit by bit.", tryInc},
		{"pbuf-min-left", "io_uring_register(2), min_left", "A tail too short to be of use is retired.", tryMinLeft},
		{"pbuf-status", "IORING_REGISTER_PBUF_STATUS, Linux 6.8", "The kernel tells its head of a ring.", tryStatus},
		{"recv-multishot", "IORING_RECV_MULTISHOT, Linux 6.0", "One request receives again and again.", tryMultishot},
		{"recv-bundle", "IORING_RECVSEND_BUNDLE, Linux 6.10", "One completion fills several buffers.", tryRecvBundle},
		{"recv-inc-bundle", "Linux 6.12", "Bundles over incrementally consumed buffers.", tryIncBundle},
		{"send-bundle", "IORING_RECVSEND_BUNDLE, Linux 6.10", "One request sends several provided buffers.", trySendBundle},
	}
}

// took receives a message through a group and checks where it landed.
func (g *rig) took(what string, fd int, flags uint16, message []byte, bid uint16, at int) cqe {
	g.read(ring.OpRecv, fd, 0, flags, 0)
	return g.landed(what, message, bid, at)
}

func (g *rig) landed(what string, message []byte, bid uint16, at int) cqe {
	c := g.one(what)
	g.expect(int(c.Res) == len(message), "%s: %d of %d bytes", what, c.Res, len(message))
	g.expect(c.Flags&ring.CQEBuffer != 0 && uint16(c.Flags>>ring.CQEBufferShift) == bid, "%s: flags %#x do not name buffer %d", what, c.Flags, bid)
	from := int(bid)*g.size + at
	g.expect(g.err != nil || string(g.mem[from:from+len(message)]) == string(message), "%s: other bytes at offset %d of buffer %d", what, at, bid)
	return c
}

func tryPbufRing() (string, error) {
	g := newRig(2, 256, 0, 0)
	g.provideAll()
	a, b := g.tcpPair()
	g.send(a, letters(0, 100))
	g.took("receive", b, 0, letters(0, 100), 0, 0)
	g.send(a, letters(1, 100))
	g.took("receive", b, 0, letters(1, 100), 1, 0)
	return g.ended("2 messages into buffers 0 and 1")
}

func tryPbufMmap() (string, error) {
	g := plainRig()
	g.size, g.count = 256, 2
	g.memory(512)
	if g.err == nil {
		var err error
		g.group, err = g.ring.MapBufRing(rigGroup, 2, 0)
		g.err = refusedAs("a buffer ring mapped from the kernel", err)
	}
	g.provideAll()
	a, b := g.tcpPair()
	g.send(a, letters(0, 100))
	g.took("receive", b, 0, letters(0, 100), 0, 0)
	return g.ended("a message through a ring that the kernel allocated")
}

func tryInc() (string, error) {
	g := newRig(2, 256, ring.PbufInc, 0)
	g.provideAll()
	a, b := g.tcpPair()
	for i, last := range []bool{false, true} {
		g.send(a, letters(i, 128))
		c := g.took("receive", b, 0, letters(i, 128), 0, i*128)
		g.expect((c.Flags&ring.CQEBufMore == 0) == last, "message %d: flags %#x", i, c.Flags)
	}
	return g.ended("2 messages of 128 B at offsets 0 and 128 of one 256 B buffer, which the second retired")
}

func tryMinLeft() (string, error) {
	g := newRig(2, 256, ring.PbufInc, 64)
	g.provideAll()
	a, b := g.tcpPair()
	g.send(a, letters(0, 200))
	c := g.took("receive", b, 0, letters(0, 200), 0, 0)
	g.expect(c.Flags&ring.CQEBufMore == 0, "56 of 256 bytes were left with min_left 64, and the buffer was kept")
	g.send(a, letters(1, 100))
	g.took("receive", b, 0, letters(1, 100), 1, 0)
	return g.ended("with min_left 64 a 256 B buffer was retired with 56 B left")
}

func tryStatus() (string, error) {
	g := newRig(4, 256, 0, 0)
	g.provideAll()
	a, b := g.tcpPair()
	for i := range 3 {
		g.send(a, letters(i, 10))
		g.took("receive", b, 0, letters(i, 10), uint16(i), 0)
	}
	var head uint16
	if g.err == nil {
		var err error
		head, err = g.group.KernelHead()
		g.err = refusedAs("the status of a buffer ring", err)
	}
	g.expect(head == 3, "the head is %d after 3 buffers", head)
	return g.ended("head 3 after 3 buffers")
}

func tryMultishot() (string, error) {
	g := newRig(4, 256, 0, 0)
	g.provideAll()
	a, b := g.tcpPair()
	g.read(ring.OpRecv, b, 0, ring.RecvMultishot, 0)
	for i := range 3 {
		g.send(a, letters(i, 50))
		c := g.landed("multishot receive", letters(i, 50), uint16(i), 0)
		g.expect(c.Flags&ring.CQEMore != 0, "multishot receive ended after message %d: flags %#x", i+1, c.Flags)
	}
	return g.ended("3 messages from one request")
}

func tryRecvBundle() (string, error) { return tryBundle(0) }

func tryIncBundle() (string, error) { return tryBundle(ring.PbufInc) }

func tryBundle(flags uint16) (string, error) {
	g := newRig(4, 64, flags, 0)
	g.provideAll()
	if g.err == nil && g.ring.Features()&ring.FeatBundle == 0 {
		g.err = refusal{"bundles (IORING_FEAT_RECVSEND_BUNDLE)", unix.EOPNOTSUPP}
	}
	a, b := g.tcpPair()
	g.send(a, counting(150))
	g.read(ring.OpRecv, b, 0, ring.RecvBundle, 0)
	c := g.one("bundle")
	n := int(c.Res)
	// The kernel may take fewer buffers than there are bytes for.
	g.expect(n > g.size && n <= 150, "bundle: %d of 150 bytes, not beyond one buffer of %d", n, g.size)
	g.expect(c.Flags&ring.CQEBuffer != 0 && c.Flags>>ring.CQEBufferShift == 0, "bundle: flags %#x do not name buffer 0", c.Flags)
	g.expect(g.err != nil || string(g.mem[:n]) == string(counting(150)[:n]), "bundle: other bytes in the buffers")
	return g.ended(fmt.Sprintf("%d B of 150 over %d buffers of %d B in one completion", n, (n+g.size-1)/g.size, g.size))
}

func trySendBundle() (string, error) {
	g := newRig(4, 64, 0, 0)
	if g.err == nil && g.ring.Features()&ring.FeatBundle == 0 {
		g.err = refusal{"bundles (IORING_FEAT_RECVSEND_BUNDLE)", unix.EOPNOTSUPP}
	}
	if g.err == nil {
		copy(g.mem, counting(192))
	}
	g.provide(0, 1, 2)
	a, b := g.tcpPair()
	g.read(ring.OpSend, a, 0, ring.RecvBundle, 0)
	c := g.one("bundle of sends")
	g.expect(c.Res == 192, "bundle of sends: %d of 192 bytes", c.Res)
	g.expect(string(g.arrived(b, 192)) == string(counting(192)), "bundle of sends: other bytes arrived")
	return g.ended("3 buffers of 64 B sent in order by one request")
}

// tryLegacy provides two buffers by a request and receives into one.
func tryLegacy() (string, error) {
	g := plainRig()
	g.size, g.count = 256, 2
	g.memory(512)
	a, b := g.tcpPair()
	g.provideLegacy(2, 256, rigGroup, 0)
	c := g.one("PROVIDE_BUFFERS")
	g.send(a, letters(0, 100))
	g.read(ring.OpRecv, b, 256, 0, 0)
	c = g.one("receive")
	bid := c.Flags >> ring.CQEBufferShift
	g.expect(c.Flags&ring.CQEBuffer != 0 && bid < 2, "receive: flags %#x name no buffer", c.Flags)
	g.expect(g.err != nil || string(g.buffer(uint16(bid))[:100]) == string(letters(0, 100)), "receive: other bytes in buffer %d", bid)
	return g.ended(fmt.Sprintf("a message into buffer %d of 2", bid))
}

// provideLegacy asks the kernel to take n buffers of size bytes, which follow each
// other in the rig's memory.
func (g *rig) provideLegacy(n, size int, group uint16, first uint64) {
	g.submit(func(e *ring.SQE) {
		e.Opcode, e.Fd, e.Addr, e.Len = ring.OpProvideBuffers, int32(n), uint64(uintptr(unsafe.Pointer(unsafe.SliceData(g.mem)))), uint32(size)
		e.BufGroup, e.Off = group, first
	})
}
