package load

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Transports a generator speaks.
const (
	TCP  = "tcp"
	Unix = "unix"
	UDP  = "udp"
)

// Listener is where the clients of a trial come to. For udp it takes one TCP
// connection, over which both sides tell their ports.
type Listener struct {
	network string
	fd      int
	addr    string
}

// address is a net.Addr.
type address struct{ network, text string }

func (a address) Network() string { return a.network }
func (a address) String() string  { return a.text }

// Addr is what Peer.Address is to be: 127.0.0.1:PORT, or for unix an abstract
// name, its leading NUL byte written as @ (unix(7)).
func (l *Listener) Addr() net.Addr { return address{l.network, l.addr} }

// Close gives the address up. Connections made stay.
func (l *Listener) Close() error { return unix.Close(l.fd) }

// backlog is how many clients may wait to be accepted; the kernel cuts it to
// net.core.somaxconn.
const backlog = 4096

// Listen opens the generator's socket for a transport: on loopback on a port of
// the kernel's choosing, or under a random abstract name. Both are fresh for each
// trial, so that nothing an earlier one left is in the way, and leave nothing
// behind when the process is killed.
func Listen(network string) (l *Listener, err error) {
	l = &Listener{network: network, fd: -1}
	switch network {
	case TCP, UDP:
		err = l.bind(unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	case Unix:
		var name [16]byte
		if _, err = rand.Read(name[:]); err == nil {
			err = l.bind(unix.AF_UNIX, &unix.SockaddrUnix{Name: "@zcbench-" + hex.EncodeToString(name[:])})
		}
	default:
		return nil, fmt.Errorf("transport %q: the generator speaks tcp, unix and udp", network)
	}
	if err != nil {
		if l.fd >= 0 {
			unix.Close(l.fd)
		}
		return nil, fmt.Errorf("open the generator's socket: %w", err)
	}
	return l, nil
}

func (l *Listener) bind(family int, at unix.Sockaddr) (err error) {
	// Non-blocking: a client may be gone between poll and accept.
	l.fd, err = unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if err := unix.Bind(l.fd, at); err != nil {
		return err
	}
	if err := unix.Listen(l.fd, backlog); err != nil {
		return err
	}
	bound, err := unix.Getsockname(l.fd)
	if err != nil {
		return err
	}
	switch a := bound.(type) {
	case *unix.SockaddrInet4:
		l.addr = net.JoinHostPort(net.IP(a.Addr[:]).String(), strconv.Itoa(a.Port))
	case *unix.SockaddrUnix:
		l.addr = a.Name
	}
	return nil
}

// helloTime is how long a connection may take to say who it is.
const helloTime = 2 * time.Second

// RaiseFiles is what to do where the limit of open files is too low.
const RaiseFiles = "raise it in this shell, as root, by `prlimit --pid $$ --nofile=65536`, for good in /etc/security/limits.conf"

// NeedFiles raises the soft limit of open files (RLIMIT_NOFILE) to what so many
// clients take, in this process and for the children it starts.
func NeedFiles(clients int) error {
	var have unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &have); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	need := uint64(clients + SpareFiles)
	if have.Cur >= need {
		return nil
	}
	if have.Max < need {
		return fmt.Errorf("%d clients take %d open files, the hard limit is %d: %s", clients, need, have.Max, RaiseFiles)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: have.Max, Max: have.Max}); err != nil {
		return fmt.Errorf("raise the limit of open files to %d: %w", have.Max, err)
	}
	return nil
}

// SpareFiles is how many files a process opens besides one a client: its own,
// those that sample memory, a ring, counters.
const SpareFiles = 64
