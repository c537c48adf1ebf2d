package harness

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// connections are a trial's ends of the traffic.
type connections struct {
	fds []int // connected and non-blocking, one a client
	// lifeline is the connection over which udp's ports were told: it ends when
	// the generator does, which no datagram would tell. -1: there is none.
	lifeline int
	reset    bool
}

// connect opens the connections of a trial to its generator and says on each
// which client it is.
func connect(t record.Trial) (*connections, error) {
	token, err := hex.DecodeString(t.Peer.Token)
	if err != nil || len(token) != load.HelloBytes-4 {
		return nil, fmt.Errorf("token %q: want 32 hex digits", t.Peer.Token)
	}
	at, err := peerAddress(t.Peer)
	if err != nil {
		return nil, err
	}
	if err := load.NeedFiles(t.Workload.Clients); err != nil {
		return nil, err
	}
	// Where the receiver sends, what it sent last may still be on its way.
	c := &connections{lifeline: -1, reset: t.Workload.ReplyBytes == 0}
	if t.Peer.Network == load.UDP {
		err = c.pair(at, token, t)
	} else {
		err = c.dial(at, token, t)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("connect to the generator at %s: %w", t.Peer.Address, err)
	}
	return c, nil
}

// peerAddress is where a generator listens: on loopback, or under an abstract
// name.
func peerAddress(p record.Peer) (unix.Sockaddr, error) {
	switch p.Network {
	case load.Unix:
		if len(p.Address) > 1 && strings.HasPrefix(p.Address, "@") {
			return &unix.SockaddrUnix{Name: p.Address}, nil
		}
		return nil, fmt.Errorf("generator address %q: want @NAME", p.Address)
	case load.TCP, load.UDP:
		addr, err := netip.ParseAddrPort(p.Address)
		if err != nil || !addr.Addr().Is4() || !addr.Addr().IsLoopback() {
			return nil, fmt.Errorf("generator address %q: want 127.0.0.1:PORT", p.Address)
		}
		return &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}, nil
	}
	return nil, fmt.Errorf("transport %q of the generator: known are tcp, unix, udp", p.Network)
}

// dial makes a stream to the generator for each client.
func (c *connections) dial(at unix.Sockaddr, token []byte, t record.Trial) error {
	family := unix.AF_UNIX
	if t.Peer.Network == load.TCP {
		family = unix.AF_INET
	}
	for client := range t.Workload.Clients {
		fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("socket of client %d: %w", client, err)
		}
		c.fds = append(c.fds, fd)
		if family == unix.AF_INET {
			err = spread(fd, client)
		}
		if err == nil && t.Workload.Load.Mode == load.Lockstep {
			err = load.SizeSocketBuffers(fd, load.Largest(t.Workload.Sizes))
		}
		if err == nil {
			err = unix.Connect(fd, at)
		}
		if err == nil {
			err = greet(fd, uint32(client), token)
		}
		if err == nil {
			err = unix.SetNonblock(fd, true)
		}
		if err != nil {
			return fmt.Errorf("client %d: %w", client, err)
		}
	}
	return nil
}

// perAddress is how many connections come from one address. There are about
// 28,000 ports to connect from (net.ipv4.ip_local_port_range), and finding a free
// one takes the longer the fewer are left.
const perAddress = 8192

// spread lets clients beyond the first few thousand connect from further
// addresses of loopback.
func spread(fd, client int) error {
	n := client / perAddress
	if n == 0 {
		return nil
	}
	// The port is chosen by connect, which knows the other end.
	if err := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1); err != nil {
		return fmt.Errorf("IP_BIND_ADDRESS_NO_PORT: %w", err)
	}
	from := [4]byte{127, 0, 0, byte(2 + n)}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: from}); err != nil {
		return fmt.Errorf("connect from %v: %w", netip.AddrFrom4(from), err)
	}
	return nil
}

func greet(fd int, client uint32, token []byte) error {
	return load.WriteAll(fd, binary.LittleEndian.AppendUint32(append([]byte(nil), token...), client))
}

// pair makes a connected pair of udp sockets with the generator for each client.
func (c *connections) pair(at unix.Sockaddr, token []byte, t record.Trial) error {
	ports := make([]byte, 2*t.Workload.Clients)
	for client := range t.Workload.Clients {
		fd, port, err := load.BindDatagram([4]byte{127, 0, 0, 1})
		if err != nil {
			return fmt.Errorf("socket of client %d: %w", client, err)
		}
		c.fds = append(c.fds, fd)
		if err := load.SizeDatagramBuffer(fd, t.Workload); err != nil {
			return err
		}
		binary.LittleEndian.PutUint16(ports[2*client:], uint16(port))
	}
	var err error
	if c.lifeline, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	if err := unix.Connect(c.lifeline, at); err != nil {
		return err
	}
	err = errors.Join(greet(c.lifeline, load.AllClients, token), load.WriteAll(c.lifeline, ports))
	if err == nil {
		err = load.ReadAll(c.lifeline, ports)
	}
	if err != nil {
		return fmt.Errorf("exchange ports: %w", err)
	}
	for client, fd := range c.fds {
		port := int(binary.LittleEndian.Uint16(ports[2*client:]))
		if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: load.GeneratorIP, Port: port}); err != nil {
			return fmt.Errorf("client %d: %w", client, err)
		}
		if err := errors.Join(load.Discard(fd), unix.SetNonblock(fd, true)); err != nil {
			return fmt.Errorf("client %d: %w", client, err)
		}
	}
	if err := load.WriteAll(c.lifeline, []byte{0}); err != nil {
		return fmt.Errorf("tell the generator to begin: %w", err)
	}
	return nil
}

// close closes the connections. Thousands of them a trial would stay behind in
// TIME_WAIT: a reset leaves nothing, and everything has been received by now.
func (c *connections) close() {
	if c == nil {
		return
	}
	for _, fd := range append(c.fds, c.lifeline) {
		if fd < 0 {
			continue
		}
		if c.reset {
			_ = unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}) // else it lingers
		}
		unix.Close(fd)
	}
}
