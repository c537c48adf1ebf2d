//go:build cgo && !noverbs

package verbs

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"
)

func privateData(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = Pattern(3, uint64(n), i) | 1 // no zero: padding is told apart
	}
	return b
}

func TestDeviceConnect(t *testing.T) {
	c := openDevice(t)
	for _, owned := range []bool{false, true} {
		for _, n := range []int{0, 16, MaxConnectPrivate} {
			r, err := c.Connect(ConnectConfig{Owned: owned, Connect: privateData(n), Accept: privateData(MaxAcceptPrivate), Rounds: 3})
			if err != nil {
				t.Fatalf("owned %v, %d bytes: %v", owned, n, err)
			}
			if r.Rounds != 3 || len(r.Setup) != 3 || r.Setup[0] <= r.Connect[0] {
				t.Errorf("owned %v, %d bytes: %+v", owned, n, r)
			}
			// The field arrives whole, whatever was sent.
			if r.ConnectArrived != MaxConnectPrivate {
				t.Errorf("%d bytes of private data arrive as %d, want the field of %d", n, r.ConnectArrived, MaxConnectPrivate)
			}
		}
	}
}

// Both calls read their private data before they return.
func TestDeviceCopyPrivate(t *testing.T) {
	c := openDevice(t)
	const n = 3
	for _, call := range []Call{CallConnect, CallAccept} {
		got, err := c.CopyPrivate(call, n, 0)
		if err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		want := Times{BeforeBuild: {Changed: n, Arrived: n}, AfterPost: {Changed: n}, AfterCompletion: {Changed: n}}
		if got != want {
			t.Errorf("%s: %+v reached the peer, want %+v", call, got, want)
		}
	}
}

func TestDeviceConnectRefused(t *testing.T) {
	c := openDevice(t)
	err := c.ConnectTo(1, 5*time.Second)
	var ce *CMError
	if !errors.As(err, &ce) || ce.Event != "RDMA_CM_EVENT_REJECTED" || ce.Status == 0 {
		t.Fatalf("%v, want the event of a refusal and its status", err)
	}
	if text := err.Error(); !strings.Contains(text, "nothing listens") || !strings.Contains(text, "status") {
		t.Errorf("message %q does not explain", text)
	}
	_, err = c.Connect(ConnectConfig{Connect: privateData(MaxConnectPrivate + 1), Rounds: 1})
	if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "at most 56 bytes, not 57") {
		t.Errorf("57 bytes of private data: %v", err)
	}
	_, err = c.Connect(ConnectConfig{Accept: privateData(MaxAcceptPrivate + 1), Rounds: 1})
	if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "at most 196 bytes, not 197") {
		t.Errorf("197 bytes of private data: %v", err)
	}
	if _, err := c.Connect(ConnectConfig{Rounds: 1}); err != nil {
		t.Errorf("after failures a connection is: %v", err)
	}
}

// Owned parameters cost the lane an allocation and a copy wherever they are
// kept; borrowed ones none. The library's are the same for both.
func TestDeviceConnectCounts(t *testing.T) {
	counted(t, func(c *Context) {
		const rounds = 4
		for _, n := range []int{0, 16, 56} {
			cfg := ConnectConfig{Connect: privateData(n), Accept: privateData(MaxAcceptPrivate), Rounds: rounds}
			borrowed, err := c.Connect(cfg)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Owned = true
			owned, err := c.Connect(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if s := borrowed.Counts.Lane; s.Allocs != 0 || s.Copies != 0 || s.Frees != 0 {
				t.Errorf("%d bytes borrowed: the lane's counts are %+v", n, s)
			}
			kept, sent := uint64(4), uint64(n) // both sent, both received
			if n == 0 {
				kept = 3
			}
			s := owned.Counts.Lane
			if bytes := sent + 196 + uint64(owned.ConnectArrived+owned.AcceptArrived); s.Allocs != kept*rounds || s.Frees != kept*rounds || s.CopiedBytes != bytes*rounds {
				t.Errorf("%d bytes owned: %+v, want %d allocations and %d bytes copied a round", n, s, kept, bytes)
			}
			if b, o := borrowed.Counts.Library, owned.Counts.Library; b.Allocs != o.Allocs || b.Allocs == 0 || b.CopiedBytes != o.CopiedBytes {
				t.Errorf("%d bytes: the library's counts differ, %+v borrowed and %+v owned", n, b, o)
			}
		}
	})
}

func TestPackedPrivateDataKeepsItsLength(t *testing.T) {
	for _, n := range []int{0, 1, 55} {
		packed, err := PackPrivate(privateData(n), MaxConnectPrivate)
		if err != nil {
			t.Fatal(err)
		}
		field := make([]byte, MaxConnectPrivate) // as it arrives
		copy(field, packed)
		got, err := UnpackPrivate(field)
		if err != nil || !bytes.Equal(got, privateData(n)) {
			t.Errorf("%d bytes come back as %v, %v", n, got, err)
		}
	}
	if _, err := PackPrivate(privateData(56), MaxConnectPrivate); err == nil {
		t.Error("56 bytes and a length were packed into 56")
	}
	if _, err := UnpackPrivate([]byte{9, 1}); err == nil {
		t.Error("a field shorter than its length was unpacked")
	}
}
