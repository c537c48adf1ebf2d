package probes

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// requestFeatures are operations and their flags.
func requestFeatures() []feature {
	return []feature{
		{"op-recv", "io_uring_enter(2), Linux 5.6", "", func() (string, error) {
			g := plainRig()
			g.receives("receive", ring.OpRecv, nil)
			return g.ended("200 bytes received")
		}},
		{"op-read", "io_uring_enter(2), Linux 5.6", "", func() (string, error) {
			g := plainRig()
			g.receives("read of a socket", ring.OpRead, nil)
			return g.ended("200 bytes read from a socket")
		}},
		{"op-send", "io_uring_enter(2), Linux 5.6", "", func() (string, error) { return trySend(ring.OpSend, "send") }},
		{"op-write", "io_uring_enter(2), Linux 5.6", "", func() (string, error) { return trySend(ring.OpWrite, "write") }},
		{"recv-poll-first", "io_uring_enter(2), Linux 5.19", "A receive waits first, and does not try in vain.", func() (string, error) {
			g := plainRig()
			g.receives("receive with POLL_FIRST", ring.OpRecv, func(e *ring.SQE) { e.Ioprio = ring.RecvPollFirst })
			return g.ended("200 bytes received with the flag")
		}},
		{"send-zc", "io_uring_enter(2), Linux 6.0", "A send that need not copy; over loopback the kernel copies all the same.", func() (string, error) {
			return tryZeroCopy(ring.OpSendZC)
		}},
		{"sendmsg-zc", "io_uring_enter(2), Linux 6.1", "", func() (string, error) { return tryZeroCopy(ring.OpSendMsgZC) }},
		{"nop-buffer-select", "liburing, examples and commit messages of 2022", "Published costs of buffer selection were measured with NOPs; without it they cannot be checked.", tryNopSelect},
		{"read-fixed-file", "io_uring_register(2), Linux 5.1", "Reads into memory that is registered once.", func() (string, error) { return tryFixed(false) }},
		{"read-fixed-socket", "io_uring_enter(2)", "What the strategy read-fixed does.", func() (string, error) { return tryFixed(true) }},
	}
}

func trySend(op uint8, what string) (string, error) {
	g := plainRig()
	a, b := g.tcpPair()
	mem := g.memory(4096)
	copy(mem, counting(200))
	g.submit(func(e *ring.SQE) { e.Opcode, e.Fd, e.Addr, e.Len = op, int32(a), addressOf(mem), 200 })
	c := g.one(what)
	g.expect(c.Res == 200, "%s: %d of 200 bytes", what, c.Res)
	g.expect(string(g.arrived(b, 200)) == string(counting(200)), "%s: other bytes arrived", what)
	return g.ended("200 bytes arrived")
}

// tryZeroCopy sends and waits for the notification that the buffer is free.
func tryZeroCopy(op uint8) (string, error) {
	g := plainRig()
	a, b := g.tcpPair()
	mem := g.memory(4096)
	copy(mem, counting(200))
	iov := unix.Iovec{Base: unsafe.SliceData(mem)}
	iov.SetLen(200)
	msg := unix.Msghdr{Iov: &iov}
	msg.SetIovlen(1)
	g.submit(func(e *ring.SQE) {
		e.Opcode, e.Fd, e.Addr, e.Len, e.Ioprio = op, int32(a), addressOf(mem), 200, ring.SendZCReportUsage
		if op == ring.OpSendMsgZC {
			e.Addr, e.Len = uint64(uintptr(unsafe.Pointer(&msg))), 1
		}
	})
	arrived := g.reap(2, patience*4)
	g.lacking("zero-copy sends", arrived)
	g.expect(len(arrived) == 2, "zero-copy send: %d completions instead of 2, one of them the notification", len(arrived))
	how := ""
	if g.err == nil {
		sent, note := arrived[0], arrived[1]
		g.expect(sent.Res == 200 && sent.Flags&ring.CQEMore != 0, "zero-copy send: %d of 200 bytes, flags %#x", sent.Res, sent.Flags)
		g.expect(note.Flags&ring.CQENotif != 0, "zero-copy send: the second completion is no notification, flags %#x", note.Flags)
		how = "without a copy"
		if uint32(note.Res)&ring.NotifCopied != 0 {
			how = "copied after all"
		}
	}
	g.expect(string(g.arrived(b, 200)) == string(counting(200)), "zero-copy send: other bytes arrived")
	return g.ended("200 bytes arrived over TCP on loopback; the notification says: " + how)
}

func tryNopSelect() (string, error) {
	g := newRig(2, 64, 0, 0)
	g.provideAll()
	g.submit(func(e *ring.SQE) {
		e.Opcode, e.Flags, e.BufGroup, e.Len = ring.OpNop, ring.SQEBufferSelect, rigGroup, 64
	})
	c := g.one("a NOP with buffer selection")
	g.expect(c.Flags&ring.CQEBuffer != 0, "a NOP with buffer selection took no buffer")
	return g.ended("a NOP took a buffer")
}

// tryFixed reads into registered memory, from a file or from a socket.
func tryFixed(socket bool) (string, error) {
	g := plainRig()
	fd := g.file(counting(200))
	if socket {
		a, b := g.tcpPair()
		g.send(a, counting(200))
		fd = b
	}
	mem := g.memory(8192)
	if g.err == nil {
		iov := unix.Iovec{Base: unsafe.SliceData(mem)}
		iov.SetLen(len(mem))
		g.err = refusedAs("registering buffers", g.ring.RegisterBuffers([]unix.Iovec{iov}))
	}
	g.submit(func(e *ring.SQE) {
		e.Opcode, e.Fd, e.Addr, e.Len = ring.OpReadFixed, int32(fd), addressOf(mem[4096:]), 200
	})
	c := g.one("READ_FIXED")
	g.expect(c.Res == 200, "READ_FIXED: %d of 200 bytes", c.Res)
	g.expect(g.err != nil || string(mem[4096:4296]) == string(counting(200)), "READ_FIXED: other bytes arrived")
	return g.ended(fmt.Sprintf("200 bytes read into registered memory from a %s", map[bool]string{true: "socket", false: "file"}[socket]))
}
