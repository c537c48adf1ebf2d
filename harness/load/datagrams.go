package load

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// acceptDatagrams makes a connected pair of udp sockets with each client. The
// ports travel over one TCP connection, so that no datagram of the set-up can be
// lost, or be taken for one of the traffic.
func (c *clients) acceptDatagrams(l *Listener, t record.Trial, token []byte, deadline time.Time) error {
	g := l.greet(token, deadline)
	defer g.close()
	fd, client, err := g.known()
	if err != nil {
		return fmt.Errorf("accept the receiver: %w", err)
	}
	c.lifeline, c.pair = fd, true
	if err := block(fd, deadline); err != nil {
		return fmt.Errorf("set up the receiver's connection: %w", err)
	}
	if client != AllClients {
		return fmt.Errorf("client number %d over udp: one connection speaks for all clients, as number %d", client, uint32(AllClients))
	}
	ports := make([]byte, 2*len(c.fds))
	if err := ReadAll(fd, ports); err != nil {
		return fmt.Errorf("read the receiver's ports: %w", err)
	}
	for i := range c.fds {
		p := ports[2*i:]
		mine, err := c.pairWith(i, int(binary.LittleEndian.Uint16(p)), t)
		if err != nil {
			return fmt.Errorf("udp socket of client %d: %w", i, err)
		}
		binary.LittleEndian.PutUint16(p, uint16(mine))
	}
	if err := WriteAll(fd, ports); err != nil {
		return fmt.Errorf("tell the receiver the ports: %w", err)
	}
	if err := ReadAll(fd, make([]byte, 1)); err != nil {
		return fmt.Errorf("wait for the receiver to connect its sockets: %w", err)
	}
	return nil
}

// pairWith opens the socket of client i, connected to the receiver's port, and
// returns its own port.
func (c *clients) pairWith(i, port int, t record.Trial) (int, error) {
	if port == 0 {
		return 0, errors.New("the receiver's port is 0")
	}
	fd, own, err := BindDatagram(GeneratorIP)
	if err != nil {
		return 0, err
	}
	c.fds[i] = fd
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}); err != nil {
		return 0, fmt.Errorf("connect to port %d: %w", port, err)
	}
	return own, setUp(fd, UDP, t)
}

// BindDatagram opens a udp socket on a port of the kernel's choosing.
func BindDatagram(ip [4]byte) (fd, port int, err error) {
	fd, err = unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, 0, err
	}
	err = unix.Bind(fd, &unix.SockaddrInet4{Addr: ip})
	if err == nil {
		var at unix.Sockaddr
		if at, err = unix.Getsockname(fd); err == nil {
			return fd, at.(*unix.SockaddrInet4).Port, nil
		}
	}
	unix.Close(fd)
	return -1, 0, err
}

// Discard throws away what has come to a udp socket. Anyone may send to one until
// it is connected; then the kernel takes datagrams of its peer only (connect(2)).
func Discard(fd int) error {
	var b [1]byte
	for {
		_, _, err := unix.Recvfrom(fd, b[:], unix.MSG_DONTWAIT)
		if err == unix.EAGAIN {
			return nil
		}
		if err != nil && err != unix.EINTR && err != unix.ECONNREFUSED {
			return err
		}
	}
}

// WriteAll writes all of b to a blocking socket.
func WriteAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := unix.Write(fd, b)
		if err != nil && err != unix.EINTR {
			return err
		}
		b = b[max(n, 0):]
	}
	return nil
}

// ReadAll fills b from a blocking socket.
func ReadAll(fd int, b []byte) error {
	_, err := io.ReadFull(reader(fd), b)
	return err
}

// openRoom is how many bytes of datagrams may wait for the receiver under an
// open load, if the kernel allows: what does not fit is lost.
const openRoom = 32 << 20

// datagramCharge bounds what the kernel charges a socket for a datagram of n
// bytes waiting in it (skb->truesize): measured, it is at most 2n+1024.
func datagramCharge(n int64) int64 { return 2*n + 2048 }

// datagramRoom is how much a receiver's socket must take in so that no datagram
// of a load that waits for its acknowledgements is lost: those outstanding, and a
// marker. The kernel gives room back late, when a quarter of it is free
// (udp_rmem_release in net/ipv4/udp.c), so there is half as much again. 0: there
// is no such bound.
func datagramRoom(w record.Workload) int64 {
	outstanding := int64(1)
	switch w.Load.Mode {
	case "open":
		return 0
	case "closed":
		outstanding = int64(w.Load.Depth)
	}
	return (outstanding*datagramCharge(Largest(w.Sizes)) + datagramCharge(HeaderBytes)) * 3 / 2
}

// SizeDatagramBuffer makes a receiver's udp socket take all that a workload may
// have outstanding, and says what to do where the kernel does not let it.
func SizeDatagramBuffer(fd int, w record.Workload) error {
	need := datagramRoom(w)
	want := need
	if need == 0 {
		want = openRoom
	}
	if want > math.MaxInt32/2 {
		return fmt.Errorf("%d messages of up to %d bytes outstanding are more than a udp socket can take in: take a smaller depth", w.Load.Depth, Largest(w.Sizes))
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, int(want)) != nil {
		// Without CAP_NET_ADMIN the kernel cuts it to net.core.rmem_max.
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, int(want)); err != nil {
			return fmt.Errorf("set the socket's receive buffer to %d bytes: %w", want, err)
		}
	}
	have, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
	if err != nil {
		return fmt.Errorf("read the socket's receive buffer: %w", err)
	}
	if int64(have) < need {
		return fmt.Errorf("what may be outstanding takes a receive buffer of %d bytes, the kernel allows %d: run as root, sysctl -w net.core.rmem_max=%d, or take a smaller depth or smaller messages",
			need, have, need)
	}
	return nil
}

// EndSeq is the sequence number of a marker: a datagram of nothing but a header,
// which is no message. Its Intended member is the sequence number of the last
// message sent to the client, plus one. A generator whose receiver has not
// consumed what it was sent, and does not come on, sends one behind it to each
// client: a receiver that misses messages then knows that they are lost.
const EndSeq = 1<<32 - 1

// markAfterNS is how long nothing must have been consumed.
const markAfterNS = 300_000_000

// marker watches the receiver of a udp trial.
type marker struct {
	sent  uint64 // messages
	done  uint64 // consumed when last looked
	since uint64 // tick at which that changed, or markers were sent
}

// mark sends markers if they are due. They cannot be waited for: where one does
// not fit, the next will.
func (g *generator) mark() error {
	m := &g.marker
	now, done := g.clk.Now(), g.prog.Done().Load()
	if done != m.done || done >= m.sent || m.since == 0 {
		m.done, m.since = done, now
		return nil
	}
	if g.clk.NS(now-m.since) < markAfterNS {
		return nil
	}
	m.since = now
	var b [HeaderBytes]byte
	for c := range g.out {
		if g.out[c].last == 0 {
			continue
		}
		Header{
			Length: HeaderBytes, Client: uint32(c), Intended: uint64(g.out[c].last), Seq: EndSeq,
			Check: Check(g.trial.Seed, uint32(c), EndSeq, HeaderBytes),
		}.Put(b[:])
		if _, errno := send(g.out[c].fd, b[:]); errno == unix.ECONNREFUSED {
			return errGone
		}
	}
	return nil
}

// handDatagram is hand where a message is one datagram. A receiver whose socket
// is full loses it: then only the sender's own buffer can be full.
func (g *generator) handDatagram(c int, i int32, p []byte) (int, error) {
	n, errno := send(g.out[c].fd, p)
	switch {
	case errno == unix.EAGAIN || errno == unix.ENOBUFS:
		return 0, nil
	case errno == unix.ECONNREFUSED:
		return 0, fmt.Errorf("send message %d to client %d: %w", i, c, errGone)
	case errno != 0:
		return 0, fmt.Errorf("send message %d to client %d: %w", i, c, errno)
	case n != len(p):
		return 0, fmt.Errorf("message %d to client %d: %d of its %d bytes became a datagram", i, c, n, len(p))
	}
	g.out[c].last = uint32(i) + 1
	g.marker.sent++
	return n, nil
}
