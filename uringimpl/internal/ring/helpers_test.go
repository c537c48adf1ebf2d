package ring

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// lacks ends a test that the kernel refused. It is a skip only where the kernel
// is older than the release that brought the feature: with a newer one the
// refusal is a fault, ours or the kernel's.
func lacks(t *testing.T, feature string, major, minor int, err error) {
	t.Helper()
	var u unix.Utsname
	if e := unix.Uname(&u); e != nil {
		t.Fatal(e)
	}
	release := string(u.Release[:bytes.IndexByte(u.Release[:], 0)])
	var a, b int
	if n, _ := fmt.Sscanf(release, "%d.%d", &a, &b); n == 2 && (a > major || a == major && b >= minor) {
		t.Fatalf("Linux %s should have %s (since %d.%d): %v", release, feature, major, minor, err)
	}
	t.Skipf("Linux %s lacks %s (since %d.%d): %v", release, feature, major, minor, err)
}

// testRing is a ring of the running test and the thread it is locked to.
func testRing(t *testing.T, sq, cq int) *Ring {
	t.Helper()
	runtime.LockOSThread() // for good: the test's goroutine ends with its thread
	r, err := New(sq, cq)
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		t.Skipf("io_uring is forbidden here (seccomp or kernel.io_uring_disabled): %v", err)
	case errors.Is(err, unix.ENOSYS):
		lacks(t, "io_uring", 5, 1, err)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close the ring: %v", err)
		}
	})
	return r
}

// testGroup registers a buffer ring and the memory its buffers lie in.
type testGroup struct {
	*BufRing
	mem  []byte
	size int
}

func newGroup(t *testing.T, r *Ring, bgid uint16, entries, size int, flags uint16, minLeft uint32) *testGroup {
	t.Helper()
	b, err := r.NewBufRing(bgid, entries, flags, minLeft)
	if err != nil {
		if flags&PbufInc != 0 {
			lacks(t, "incremental consumption", 6, 12, err)
		}
		lacks(t, "buffer rings", 5, 19, err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close buffer ring %d: %v", bgid, err)
		}
	})
	return &testGroup{BufRing: b, mem: anonymous(t, entries*size), size: size}
}

// anonymous maps memory outside the Go heap.
func anonymous(t *testing.T, n int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	return mem
}

func (g *testGroup) buffer(bid uint16) []byte {
	return g.mem[int(bid)*g.size : (int(bid)+1)*g.size]
}

// provide adds buffers at their full size and publishes them.
func (g *testGroup) provide(t *testing.T, bids ...uint16) {
	t.Helper()
	for _, bid := range bids {
		if err := g.Add(unsafe.Pointer(&g.buffer(bid)[0]), uint32(g.size), bid); err != nil {
			t.Fatal(err)
		}
	}
	g.Publish()
}

// force adds an entry past every check of ours, as a careless user would.
func (g *testGroup) force(p []byte, n uint32, bid uint16) {
	e := &g.bufs[g.tail&g.mask]
	e.addr, e.len, e.bid = addressOf(p), n, bid
	g.tail++
	g.Publish()
}

// recv asks for a receive into a buffer of group bgid; flags go to Ioprio.
func recv(t *testing.T, r *Ring, fd int, bgid uint16, flags uint16, data uint64) {
	t.Helper()
	e := r.Next()
	if e == nil {
		t.Fatal("the submission ring is full")
	}
	e.Opcode, e.Flags, e.Fd, e.BufGroup, e.Ioprio, e.UserData = OpRecv, SQEBufferSelect, int32(fd), bgid, flags, data
}

// reap waits until n completions have come and returns them.
func reap(t *testing.T, r *Ring, n int) []CQE {
	t.Helper()
	var got []CQE
	for stop := time.Now().Add(5 * time.Second); len(got) < n; {
		if err := r.Enter(1, 10e6, false); err != nil {
			t.Fatal(err)
		}
		got = append(got, drain(r)...)
		if time.Now().After(stop) {
			t.Fatalf("%d of %d completions came: %s", len(got), n, texts(got))
		}
	}
	if len(got) > n {
		t.Fatalf("%d completions came, want %d: %s", len(got), n, texts(got))
	}
	return got
}

// quiet fails if a completion comes within a little while.
func quiet(t *testing.T, r *Ring) {
	t.Helper()
	if err := r.Enter(1, 5e6, false); err != nil {
		t.Fatal(err)
	}
	if got := drain(r); len(got) > 0 {
		t.Fatalf("unexpected completions: %s", texts(got))
	}
}

// drain takes what is there.
func drain(r *Ring) []CQE {
	a, b := r.Completions()
	got := append(append([]CQE(nil), a...), b...)
	r.Seen(len(got))
	return got
}

func (c CQE) String() string {
	return fmt.Sprintf("{data %d res %d flags %#x bid %d}", c.UserData, c.Res, c.Flags&0xffff, c.BufferID())
}

func texts(cqes []CQE) string { return fmt.Sprint(cqes) }

// is checks a completion: its result, buffer (-1: none) and whether more come.
func is(t *testing.T, c CQE, res int32, bid int, more bool) {
	t.Helper()
	got := -1
	if c.Flags&CQEBuffer != 0 {
		got = int(c.BufferID())
	}
	if c.Res != res || got != bid || (c.Flags&CQEMore != 0) != more {
		t.Fatalf("completion %v: want res %d, buffer %d, more %v", c, res, bid, more)
	}
}

// unixPair is a connected pair of stream sockets; what is sent is there at once.
func unixPair(t *testing.T) (a, b int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]); unix.Close(fds[1]) })
	return fds[0], fds[1]
}

// tcpPair is a connected pair of loopback TCP sockets.
func tcpPair(t *testing.T) (a, b *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	x, err := net.Dial("tcp4", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	y, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close(); y.Close() })
	return x.(*net.TCPConn), y.(*net.TCPConn)
}

// rawFD is the descriptor behind a connection, which must outlive its use.
func rawFD(t *testing.T, c *net.TCPConn) int {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	fd := -1
	if err := raw.Control(func(p uintptr) { fd = int(p) }); err != nil {
		t.Fatal(err)
	}
	return fd
}

// addressOf is where a slice lies, as the kernel wants it told.
func addressOf(p []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))) }

func send(t *testing.T, fd int, p []byte) {
	t.Helper()
	for len(p) > 0 {
		n, err := unix.Write(fd, p)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			t.Fatalf("send: %v", err)
		}
		p = p[n:]
	}
}

// fill is n bytes of one letter.
func fill(letter byte, n int) []byte { return bytes.Repeat([]byte{letter}, n) }
