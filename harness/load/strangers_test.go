package load

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// strangers are those who connect before the clients do, by what they do.
var strangers = map[string]func(c net.Conn){
	"says nothing":           func(net.Conn) {},
	"says half of the token": func(c net.Conn) { c.Write(hello(testToken, 0)[:10]) },
	"says the token alone":   func(c net.Conn) { c.Write(hello(testToken, 0)[:16]) },
	"has another token":      func(c net.Conn) { c.Write(hello("ff"+testToken[2:], 0)) },
	"sends garbage":          func(c net.Conn) { c.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n\r\n", 4000))) },
	"hangs up":               func(c net.Conn) { c.Close() },
	"trickles": func(c net.Conn) {
		go func() { // until it is hung up on
			for {
				if _, err := c.Write([]byte{0x11}); err != nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
		}()
	},
}

func hello(token string, client uint32) []byte {
	b, err := hex.DecodeString(token)
	if err != nil {
		panic(err)
	}
	return binary.LittleEndian.AppendUint32(b, client)
}

// network is what connects to a listener: udp's clients come over tcp.
func network(transport string) string {
	if transport == Unix {
		return "unix"
	}
	return "tcp"
}

// Strangers who are there first, whatever they do and however many there are,
// neither are taken for clients nor keep the clients waiting: all of them would
// take their helloTime, one after the other.
func TestStrangersHoldNobodyUp(t *testing.T) {
	for _, transport := range []string{TCP, Unix, UDP} {
		for name, act := range strangers {
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				ln, err := Listen(transport)
				if err != nil {
					t.Fatal(err)
				}
				defer ln.Close()
				dial := func() net.Conn {
					c, err := net.Dial(network(transport), ln.Addr().String())
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { c.Close() })
					return c
				}
				for range 2 * maxCallers {
					act(dial())
				}
				begin := time.Now()
				conns, err := acceptFrom(ln, transport, dial)
				if err != nil {
					t.Fatal(err)
				}
				defer conns.close()
				// In turn they would take minutes.
				if took := time.Since(begin); took > 10*helloTime {
					t.Errorf("the clients waited %v", took)
				}
				for i, fd := range conns.fds {
					if fd < 0 {
						t.Errorf("client %d is missing", i)
					}
				}
			})
		}
	}
}

// acceptFrom accepts the two clients that dial connects.
func acceptFrom(ln *Listener, transport string, dial func() net.Conn) (*clients, error) {
	tr := smallTrial(record.Load{Mode: "closed", Depth: 1}, 2, 1)
	tr.Peer.Token, tr.DeadlineMS = testToken, 60_000
	if transport == UDP {
		c := dial()
		c.Write(append(hello(testToken, AllClients), 1, 4, 2, 4)) // ports 1025 and 1026
		c.Write([]byte{0})
	} else {
		dial().Write(hello(testToken, 1))
		dial().Write(hello(testToken, 0))
	}
	return accept(ln, tr)
}

// Where nobody but strangers come, the deadline holds, and none is left open.
func TestStrangersDoNotMoveTheDeadline(t *testing.T) {
	for _, name := range []string{"says nothing", "trickles", "has another token"} {
		ln, err := Listen(TCP)
		if err != nil {
			t.Fatal(err)
		}
		var conns []net.Conn
		for range 3 {
			c, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			strangers[name](c)
			conns = append(conns, c)
		}
		tr := smallTrial(record.Load{Mode: "closed", Depth: 1}, 2, 1)
		tr.Peer.Token, tr.DeadlineMS = testToken, 100
		begin := time.Now()
		if _, err := accept(ln, tr); err == nil || !strings.Contains(err.Error(), "deadline") {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(begin); took > helloTime {
			t.Errorf("%s: a deadline of 100 ms took %v", name, took)
		}
		for _, c := range conns {
			c.SetReadDeadline(time.Now().Add(patience))
			if _, err := io.Copy(io.Discard, c); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Errorf("%s: it is not hung up on", name)
			}
		}
		ln.Close()
	}
}

// What strangers sent to a udp socket before it was connected is thrown away, and
// they reach it no more.
func TestDiscard(t *testing.T) {
	fd, port, err := BindDatagram([4]byte{127, 0, 0, 1})
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	to := &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}
	stranger, _, err := BindDatagram(GeneratorIP)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(stranger)
	peer, own, err := BindDatagram(GeneratorIP)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(peer)
	send := func(fd, n int) {
		if err := unix.Sendto(fd, make([]byte, n), 0, to); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 5 {
		send(stranger, n*1000)
	}
	if err := unix.Connect(fd, &unix.SockaddrInet4{Addr: GeneratorIP, Port: own}); err != nil {
		t.Fatal(err)
	}
	if err := Discard(fd); err != nil {
		t.Fatal(err)
	}
	send(stranger, 30)
	send(peer, 77)
	b := make([]byte, 100)
	if n, _, err := unix.Recvfrom(fd, b, unix.MSG_DONTWAIT); err != nil || n != 77 {
		t.Errorf("%d bytes, %v: want those of the peer alone", n, err)
	}
	if n, _, err := unix.Recvfrom(fd, b, unix.MSG_DONTWAIT); err != unix.EAGAIN {
		t.Errorf("%d bytes more, %v", n, err)
	}
}
