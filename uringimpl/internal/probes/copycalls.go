package probes

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// copyCall is a way to hand over bytes: a system call, or a request.
type copyCall struct {
	source   string
	plain    func(fd int, p []byte) (int, error)
	op       uint8
	ioprio   uint16
	zeroCopy bool // a notification follows the result
}

var (
	callSend = copyCall{source: "send(2)", plain: func(fd int, p []byte) (int, error) {
		return unix.SendmsgN(fd, p, nil, nil, 0)
	}}
	callWrite   = copyCall{source: "write(2)", plain: unix.Write}
	uringSend   = copyCall{source: "io_uring_prep_send(3)", op: ring.OpSend}
	uringWrite  = copyCall{source: "io_uring_prep_write(3)", op: ring.OpWrite}
	uringSendZC = copyCall{source: "io_uring_prep_send_zc(3)", op: ring.OpSendZC, ioprio: ring.SendZCReportUsage, zeroCopy: true}
)

// copySocket is the kind of connection.
type copySocket int

const (
	overTCP copySocket = iota
	overUnix
)

// copyState is what a request meets: room; a peer that takes nothing, but room to
// queue; no room either.
type copyState int

const (
	withRoom copyState = iota
	whenQueued
	whenFull
)

// Sizes of the sockets' buffers as asked for, which the kernel doubles. The queued
// state needs room for the message behind what the peer's buffer does not take.
const (
	copyPeerBytes   = 64 << 10
	copyQueueBytes  = 512 << 10
	copyLittleBytes = 32 << 10
	copyMessage     = 2048
)

// copyRig is a connection, the caller's buffer and what comes of it.
type copyRig struct {
	*rig
	call    copyCall
	state   copyState
	tx, rx  int
	message []byte
	copied  int // notifications that say COPIED
	notices int
}

func newCopyRig(c copyCase) *copyRig {
	g := &copyRig{rig: &rig{}, call: c.call, state: c.state}
	var err error
	if c.call.plain == nil {
		if g.ring, err = ring.New(16, 64); err != nil {
			g.err = refusal{"io_uring", err}
			return g
		}
	}
	if g.mem, err = unix.Mmap(-1, 0, copyMessage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS); err != nil {
		g.fail("map the message", err)
		return g
	}
	g.message = g.mem
	if c.kind == overUnix {
		g.tx, g.rx = g.unixPair()
		if c.state != withRoom {
			g.bufferSize(g.tx, unix.SO_SNDBUF, copyLittleBytes)
		}
		return g
	}
	g.connect()
	return g
}

// connect makes a TCP connection whose buffers fit the state. The peer's is set
// before it connects: a window once offered is not taken back.
func (g *copyRig) connect() {
	ln, at := g.bound(unix.SOCK_STREAM)
	if g.state != withRoom {
		g.bufferSize(ln, unix.SO_RCVBUF, copyPeerBytes)
	}
	if g.err == nil {
		g.fail("listen", unix.Listen(ln, 1))
	}
	g.tx = g.socket(unix.SOCK_STREAM)
	switch g.state {
	case whenQueued:
		g.bufferSize(g.tx, unix.SO_SNDBUF, copyQueueBytes)
	case whenFull:
		g.bufferSize(g.tx, unix.SO_SNDBUF, copyLittleBytes)
	}
	if g.err != nil {
		return
	}
	g.fail("connect", unix.Connect(g.tx, at))
	fd, _, err := unix.Accept4(ln, unix.SOCK_CLOEXEC)
	g.fail("accept", err)
	if err == nil {
		g.rx = fd
		g.fds = append(g.fds, fd)
	}
	if g.err == nil {
		g.fail("TCP_NODELAY", unix.SetsockoptInt(g.tx, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	}
}

func (g *copyRig) bufferSize(fd, option, bytes int) {
	if g.err == nil {
		g.fail("set the size of a socket's buffer", unix.SetsockoptInt(fd, unix.SOL_SOCKET, option, bytes))
	}
}

// nudge sends a byte behind the message: a notification comes with the peer's
// acknowledgement, which it would hold back for 40 ms without more to acknowledge.
func (g *copyRig) nudge() (sent int) {
	if n, _ := unix.SendmsgN(g.tx, []byte{filler}, nil, nil, unix.MSG_DONTWAIT); n > 0 {
		return n
	}
	return 0
}

// fillIn prepares the request.
func (g *copyRig) fillIn(e *ring.SQE) {
	e.Opcode, e.Ioprio, e.Fd = g.call.op, g.call.ioprio, int32(g.tx)
	e.Addr, e.Len = uint64(uintptr(unsafe.Pointer(&g.message[0]))), copyMessage
}
