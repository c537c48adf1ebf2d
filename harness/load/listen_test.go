package load

import (
	"encoding/binary"
	"encoding/hex"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// Each transport listens at an address of its own, anew each time.
func TestListenersAreFresh(t *testing.T) {
	for _, network := range []string{TCP, Unix, UDP} {
		seen := map[string]bool{}
		for range 3 {
			ln, err := Listen(network)
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			addr := ln.Addr().String()
			if seen[addr] || ln.Addr().Network() != network {
				t.Errorf("%s: %s again, network %s", network, addr, ln.Addr().Network())
			}
			seen[addr] = true
			if at, err := netip.ParseAddrPort(addr); network != Unix && (err != nil || !at.Addr().IsLoopback() || at.Port() == 0) {
				t.Errorf("%s listens at %s", network, addr)
			}
			if network == Unix && !strings.HasPrefix(addr, "@zcbench-") {
				t.Errorf("unix listens at %s", addr)
			}
		}
	}
}

// Over unix sockets the token is asked for too.
func TestUnixStrangersAreRefused(t *testing.T) {
	ln, err := Listen(Unix)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	tr := smallTrial(record.Load{Mode: "closed", Depth: 1}, 1, 1)
	tr.Peer.Token, tr.DeadlineMS = testToken, patience.Milliseconds()
	say := func(token string, client uint32) net.Conn {
		c, err := net.Dial("unix", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		b, _ := hex.DecodeString(token)
		if _, err := c.Write(binary.LittleEndian.AppendUint32(b, client)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	stranger, known := say("ff"+testToken[2:], 0), say(testToken, 0)
	defer known.Close()
	conns, err := accept(ln, tr)
	if err != nil {
		t.Fatal(err)
	}
	defer conns.close()
	stranger.SetReadDeadline(time.Now().Add(patience))
	var b [1]byte
	if n, err := stranger.Read(b[:]); n > 0 || err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("the stranger reads %d bytes, %v", n, err)
	}
	if _, err := known.Write(b[:]); err != nil {
		t.Errorf("the client: %v", err)
	}
}

func TestDatagramSetUpRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		client uint32
		more   int // bytes of ports
		says   string
	}{
		"a client's own number": {0, 4, "one connection speaks for all"},
		"too few ports":         {AllClients, 2, "read the receiver's ports"},
		"no ports":              {AllClients, 0, "read the receiver's ports"},
		"port 0":                {AllClients, 4, "udp socket of client 0"},
	} {
		ln, err := Listen(UDP)
		if err != nil {
			t.Fatal(err)
		}
		tr := smallTrial(record.Load{Mode: "closed", Depth: 1}, 2, 1)
		tr.Peer.Token, tr.DeadlineMS = testToken, patience.Milliseconds()
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		b, _ := hex.DecodeString(testToken)
		b = append(binary.LittleEndian.AppendUint32(b, c.client), make([]byte, c.more)...)
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
		conn.(*net.TCPConn).CloseWrite()
		if conns, err := accept(ln, tr); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
			conns.close()
		}
		conn.Close()
		ln.Close()
	}
}

// All that a closed load may have outstanding fits the socket made for it: not
// one datagram is dropped while nobody reads.
func TestDatagramRoomSuffices(t *testing.T) {
	for _, size := range []int64{24, 100, 128, 256, 512, 1000, 1500, 2048, 4096, 8192, 16 << 10, 65507} {
		for _, depth := range []int{1, 2, 8, 64, 300} {
			w := record.Workload{Sizes: record.Sizes{Kind: "fixed", Bytes: size}, Load: record.Load{Mode: "closed", Depth: depth}}
			fd, port, err := BindDatagram([4]byte{127, 0, 0, 1})
			if err != nil {
				t.Fatal(err)
			}
			if err := SizeDatagramBuffer(fd, w); err != nil {
				t.Logf("%d of %d bytes: %v", depth, size, err) // not root: it says so
				unix.Close(fd)
				continue
			}
			sender, _, err := BindDatagram(GeneratorIP)
			if err != nil {
				t.Fatal(err)
			}
			if err := unix.Connect(sender, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}); err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, size)
			// Twice over, and once drained in between but for the last: what was read is given
			// back late.
			for round := range 3 {
				for i := range depth {
					if _, err := unix.Write(sender, buf); err != nil {
						t.Fatal(err)
					}
					if round > 0 && i > 0 {
						read(t, fd, buf)
					}
				}
				if round == 0 {
					for range depth {
						read(t, fd, buf)
					}
				} else {
					read(t, fd, buf)
				}
			}
			unix.Close(sender)
			unix.Close(fd)
		}
	}
}

// read takes one datagram, which must be there.
func read(t *testing.T, fd int, buf []byte) {
	t.Helper()
	if n, _, err := unix.Recvfrom(fd, buf, unix.MSG_DONTWAIT); err != nil || n != len(buf) {
		t.Fatalf("a datagram of %d bytes: %d, %v: it was dropped", len(buf), n, err)
	}
}

func TestDatagramBufferSaysWhatToDo(t *testing.T) {
	fd, _, err := BindDatagram([4]byte{127, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	w := record.Workload{Sizes: record.Sizes{Kind: "fixed", Bytes: 60_000}, Load: record.Load{Mode: "closed", Depth: 60_000}}
	if err := SizeDatagramBuffer(fd, w); err == nil || !strings.Contains(err.Error(), "smaller depth") {
		t.Errorf("more than a socket can take: %v", err)
	}
}

func TestNeedFiles(t *testing.T) {
	if err := NeedFiles(10); err != nil {
		t.Error(err)
	}
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		t.Fatal(err)
	}
	if l.Max > 1<<30 {
		t.Skip("the hard limit of open files is beyond any number of clients")
	}
	err := NeedFiles(int(l.Max))
	if err == nil || !strings.Contains(err.Error(), "hard limit") || !strings.Contains(err.Error(), "prlimit") {
		t.Errorf("more clients than files: %v", err)
	}
	if err := NeedFiles(int(l.Max) - SpareFiles); err != nil {
		t.Error(err)
	}
	var now unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &now); err != nil || now.Cur != l.Max {
		t.Errorf("the soft limit is %d, want %d: %v", now.Cur, l.Max, err)
	}
}
