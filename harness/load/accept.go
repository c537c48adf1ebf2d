package load

import (
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// HelloBytes is the size of what a receiver sends first on each connection:
// the 16 bytes of the token, then its client number as a little-endian u32.
const HelloBytes = 20

// Listen opens the generator's socket on loopback, on a port of the kernel's
// choosing: a fresh one for each trial, so that no TIME_WAIT of an earlier one
// is in the way.
func Listen(network string) (net.Listener, error) {
	if network != "tcp" {
		return nil, fmt.Errorf("transport %q: the generator speaks tcp", network)
	}
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the generator's socket: %w", err)
	}
	return ln, nil
}

// accept takes the connections of all clients and returns them by client
// number, non-blocking. Connections without the right token are closed.
func accept(ln net.Listener, t record.Trial) (files []*os.File, err error) {
	token, err := hex.DecodeString(t.Peer.Token)
	if err != nil || len(token) != 16 {
		return nil, fmt.Errorf("peer token %q: want 32 hex digits", t.Peer.Token)
	}
	files = make([]*os.File, t.Workload.Clients)
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	if d, ok := ln.(*net.TCPListener); ok {
		d.SetDeadline(time.Now().Add(time.Duration(t.DeadlineMS) * time.Millisecond))
	}
	for have := 0; have < len(files); {
		conn, err := ln.Accept()
		if err != nil {
			return nil, fmt.Errorf("accept client %d of %d: %w", have+1, len(files), err)
		}
		client, err := hello(conn, token, len(files))
		if err != nil {
			conn.Close()
			if errors.Is(err, errStranger) {
				continue
			}
			return nil, err
		}
		if files[client] != nil {
			conn.Close()
			return nil, fmt.Errorf("client %d connected twice", client)
		}
		if files[client], err = plainFile(conn, t); err != nil {
			return nil, err
		}
		have++
	}
	return files, nil
}

var errStranger = errors.New("connection without the token")

func hello(conn net.Conn, token []byte, clients int) (int, error) {
	var b [HelloBytes]byte
	conn.SetReadDeadline(time.Now().Add(2 * time.Second))
	for n := 0; n < len(b); {
		k, err := conn.Read(b[n:])
		n += k
		if err != nil {
			return 0, errStranger
		}
	}
	if subtle.ConstantTimeCompare(b[:16], token) != 1 {
		return 0, errStranger
	}
	client := binary.LittleEndian.Uint32(b[16:])
	if int64(client) >= int64(clients) {
		return 0, fmt.Errorf("client number %d of %d clients", client, clients)
	}
	return int(client), nil
}

// plainFile takes the socket out of Go's poller: the sending loop makes its own
// non-blocking calls.
func plainFile(conn net.Conn, t record.Trial) (*os.File, error) {
	defer conn.Close()
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("connection of type %T, want TCP", conn)
	}
	f, err := tcp.File()
	if err != nil {
		return nil, fmt.Errorf("take over the client's socket: %w", err)
	}
	fd := int(f.Fd())
	err = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err == nil && t.Workload.Load.Mode == Lockstep {
		err = SizeSocketBuffers(fd, Largest(t.Workload.Sizes))
	}
	if err == nil {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("set up the client's socket: %w", err)
	}
	return f, nil
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

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}
