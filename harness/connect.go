package harness

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// connect opens the connections of a trial to its generator and says on each
// which client it is.
func connect(t record.Trial) (fds []int, err error) {
	defer func() {
		if err != nil {
			closeFDs(fds)
		}
	}()
	addr, err := netip.ParseAddrPort(t.Peer.Address)
	if err != nil || !addr.Addr().Is4() || !addr.Addr().IsLoopback() {
		return nil, fmt.Errorf("generator address %q: want 127.0.0.1:PORT", t.Peer.Address)
	}
	token, err := hex.DecodeString(t.Peer.Token)
	if err != nil || len(token) != load.HelloBytes-4 {
		return nil, fmt.Errorf("token %q: want 32 hex digits", t.Peer.Token)
	}
	for c := range t.Workload.Clients {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return fds, fmt.Errorf("socket of client %d (RLIMIT_NOFILE may be too low): %w", c, err)
		}
		fds = append(fds, fd)
		if err := greet(fd, c, addr, token, t); err != nil {
			return fds, fmt.Errorf("connect client %d to the generator at %s: %w", c, addr, err)
		}
	}
	return fds, nil
}

func greet(fd, client int, addr netip.AddrPort, token []byte, t record.Trial) error {
	if t.Workload.Load.Mode == load.Lockstep {
		if err := load.SizeSocketBuffers(fd, load.Largest(t.Workload.Sizes)); err != nil {
			return err
		}
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(addr.Port()), Addr: addr.Addr().As4()}); err != nil {
		return err
	}
	hello := binary.LittleEndian.AppendUint32(append([]byte(nil), token...), uint32(client))
	if _, err := unix.Write(fd, hello); err != nil {
		return err
	}
	return unix.SetNonblock(fd, true)
}

func closeFDs(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
