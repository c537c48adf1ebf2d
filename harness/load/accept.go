package load

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// HelloBytes is the size of what a receiver sends first on each connection:
// the 16 bytes of the token, then its client number as a little-endian u32.
const HelloBytes = 20

// AllClients stands for the client number in the hello of udp's one connection.
// Behind it the receiver sends the port of each client's socket on 127.0.0.1, in
// order, as little-endian u16, and is answered with those of the generator's
// sockets on GeneratorIP. When it has connected its sockets to those and thrown
// away what strangers had sent them by then, it sends one byte more. It keeps the
// connection open as long as it receives.
const AllClients = 1<<32 - 1

// GeneratorIP is where the generator's udp sockets are: another address than the
// receiver's, so that both may use every port.
var GeneratorIP = [4]byte{127, 0, 0, 2}

// clients are the generator's ends of the connections of a trial.
type clients struct {
	fds []int // by client number, non-blocking
	// lifeline is the connection whose end tells that the receiver is gone.
	lifeline int
	pair     bool // the lifeline is none of the clients'
}

// accept takes the connections of all clients. Connections without the right
// token are closed.
func accept(l *Listener, t record.Trial) (*clients, error) {
	token, err := hex.DecodeString(t.Peer.Token)
	if err != nil || len(token) != 16 {
		return nil, fmt.Errorf("peer token %q: want 32 hex digits", t.Peer.Token)
	}
	if err := NeedFiles(t.Workload.Clients); err != nil {
		return nil, err
	}
	c := &clients{fds: make([]int, t.Workload.Clients), lifeline: -1}
	for i := range c.fds {
		c.fds[i] = -1
	}
	deadline := time.Now().Add(time.Duration(t.DeadlineMS) * time.Millisecond)
	if l.network == UDP {
		err = c.acceptDatagrams(l, t, token, deadline)
	} else {
		err = c.acceptStreams(l, t, token, deadline)
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *clients) acceptStreams(l *Listener, t record.Trial, token []byte, deadline time.Time) error {
	g := l.greet(token, deadline)
	defer g.close()
	for have := range c.fds {
		fd, client, err := g.known()
		if err != nil {
			return fmt.Errorf("accept client %d of %d: %w", have+1, len(c.fds), err)
		}
		if err := c.take(fd, client); err != nil {
			unix.Close(fd)
			return err
		}
		if err := setUp(fd, l.network, t); err != nil {
			return err
		}
	}
	c.lifeline = c.fds[0]
	return nil
}

// take notes the connection of a client.
func (c *clients) take(fd int, client uint32) error {
	if int64(client) >= int64(len(c.fds)) {
		return fmt.Errorf("client number %d of %d clients", client, len(c.fds))
	}
	if c.fds[client] >= 0 {
		return fmt.Errorf("client %d connected twice", client)
	}
	c.fds[client] = fd
	return nil
}

func (c *clients) close() {
	for _, fd := range c.fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	if c.pair {
		unix.Close(c.lifeline)
	}
}

// reader reads a blocking socket.
type reader int

func (r reader) Read(p []byte) (int, error) {
	for {
		n, err := unix.Read(int(r), p)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}

// tcpRTOMaxMS bounds the retransmission timer, in milliseconds, at least 1000
// (TCP_RTO_MAX_MS in linux/tcp.h, 6.15).
const tcpRTOMaxMS = 44

// impatient keeps a connection from waiting long for itself. A receiver that was
// kept from its CPU drops segments when its socket is full (RcvPruned in
// netstat), and the sender, which doubles its wait with each, would leave it idle
// for half a minute after it has caught up. Kernels that cannot do either do not.
func impatient(fd int) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, tcpRTOMaxMS, 1000)
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_THIN_LINEAR_TIMEOUTS, 1)
}

// setUp makes a connection ready for the sending loop, which makes its own
// non-blocking calls.
func setUp(fd int, network string, t record.Trial) (err error) {
	if network == TCP {
		impatient(fd)
		err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	}
	if err == nil && t.Workload.Load.Mode == Lockstep && network != UDP {
		err = SizeSocketBuffers(fd, Largest(t.Workload.Sizes))
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		return fmt.Errorf("set up the client's socket: %w", err)
	}
	return nil
}

// Lockstep is the load mode of counting trials.
const Lockstep = "lockstep"

// SizeSocketBuffers makes a socket's buffers take a whole message of the given
// size, as far as the kernel allows. Lockstep needs it: only then is a message
// wholly at the receiver when the sender's call returns, and counts repeat.
func SizeSocketBuffers(fd int, largest int64) error {
	want := int(min(4*largest+(64<<10), 64<<20))
	for _, opt := range [...][2]int{{unix.SO_RCVBUFFORCE, unix.SO_RCVBUF}, {unix.SO_SNDBUFFORCE, unix.SO_SNDBUF}} {
		if unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt[0], want) == nil {
			continue
		}
		if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, opt[1], want); err != nil {
			return fmt.Errorf("set socket buffers to %d bytes: %w", want, err)
		}
	}
	return nil
}
