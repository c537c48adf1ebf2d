package load

import (
	"errors"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// answering is a reply reader of two clients and the far ends of their sockets.
func answering(t *testing.T, purpose record.Purpose) (*replyReader, [2]int) {
	t.Helper()
	var fds, far [2]int
	for c := range fds {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		fds[c], far[c] = pair[0], pair[1]
	}
	tr := record.Trial{Seed: 7, Purpose: purpose, Workload: record.Workload{Transport: TCP, ReplyBytes: 100}}
	r, err := newReplyReader(tr, fds[:])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.close()
		for _, fd := range append(fds[:], far[:]...) {
			unix.Close(fd)
		}
	})
	return r, far
}

// reply is what client 1 is answered from byte off on.
func reply(off uint64, n int) []byte {
	p := make([]byte, n)
	Fill(p, ReplyKey(7, 1), off)
	return p
}

func TestRepliesAreRead(t *testing.T) {
	r, far := answering(t, record.Verify)
	if r.outstanding() {
		t.Error("a reply is due before anything was sent")
	}
	r.sent(1)
	r.sent(1)
	for i, n := range []int{30, 70, 99, 1} {
		if !r.outstanding() {
			t.Fatalf("nothing is due before piece %d", i)
		}
		if err := WriteAll(far[1], reply(r.got[1], n)); err != nil {
			t.Fatal(err)
		}
		if err := r.drain(); err != nil {
			t.Fatal(err)
		}
	}
	if r.outstanding() || r.got[1] != 200 {
		t.Errorf("%d bytes received, more due: %v", r.got[1], r.outstanding())
	}
}

// TestWrongReplies: what a client must not be answered with is found.
func TestWrongReplies(t *testing.T) {
	wrong := reply(0, 100)
	wrong[57] ^= 1
	other := make([]byte, 100)
	Fill(other, ReplyKey(7, 0), 0)
	echo := make([]byte, 100)
	Fill(echo, StreamKey(7, 1), 0)
	for _, c := range []struct {
		name    string
		purpose record.Purpose
		p       []byte
		says    string
	}{
		{"a wrong byte", record.Verify, wrong, "byte 57 of its replies"},
		{"another client's", record.Verify, other, "byte 0 of its replies"},
		{"what it sent", record.Verify, echo, "byte 0 of its replies"},
		{"one of the second", record.Verify, reply(100, 100), "byte 0 of its replies"},
		{"a byte too many", record.Timing, reply(0, 101), "with 101 bytes, only 100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, far := answering(t, c.purpose)
			r.sent(1)
			if err := WriteAll(far[1], c.p); err != nil {
				t.Fatal(err)
			}
			if err := r.drain(); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "client 1") {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	r, far := answering(t, record.Timing)
	r.sent(1)
	if err := WriteAll(far[1], wrong); err != nil {
		t.Fatal(err)
	}
	if err := r.drain(); err != nil {
		t.Errorf("a timing trial looks at the bytes: %v", err)
	}
}

// TestReplyOfOneWhoLeft: a client that closes owing a reply has gone, one that
// owes none has not.
func TestReplyOfOneWhoLeft(t *testing.T) {
	r, far := answering(t, record.Verify)
	r.sent(0)
	r.sent(1)
	if err := WriteAll(far[1], reply(0, 100)); err != nil {
		t.Fatal(err)
	}
	if err := unix.Shutdown(far[1], unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := r.drain(); err != nil {
			t.Fatalf("client 1 had answered everything: %v", err)
		}
	}
	if err := unix.Shutdown(far[0], unix.SHUT_WR); err != nil {
		t.Fatal(err)
	}
	if err := r.drain(); !errors.Is(err, errGone) || !strings.Contains(err.Error(), "0 of 100 bytes") {
		t.Errorf("client 0 left owing a reply: %v", err)
	}
}

func TestNoRepliesNoReader(t *testing.T) {
	r, err := newReplyReader(record.Trial{}, nil)
	if r != nil || err != nil || r.outstanding() || r.drain() != nil || r.close() != nil {
		t.Errorf("%v, %v", r, err)
	}
	r.sent(0)
	if _, err := newReplyReader(record.Trial{Workload: record.Workload{Transport: UDP, ReplyBytes: 1}}, nil); err == nil || !strings.Contains(err.Error(), "udp") {
		t.Errorf("replies over udp: %v", err)
	}
}
