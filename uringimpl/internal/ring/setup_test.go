package ring

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// withTries runs f with other set-up flags to try. Tests of this package do not
// run in parallel.
func withTries(flags [3]uint32, f func()) {
	saved := tries
	defer func() { tries = saved }()
	tries = flags
	f()
}

func TestSetupModes(t *testing.T) {
	const unknownFlag = 1 << 31
	for _, c := range []struct {
		name         string
		flags        [3]uint32
		mode         string
		major, minor int
	}{
		{"as is", tries, "DEFER_TASKRUN, SINGLE_ISSUER", 6, 1},
		{"without task run flags", [3]uint32{unknownFlag, tries[1], 0}, "COOP_TASKRUN", 5, 19},
		{"with nothing", [3]uint32{unknownFlag, unknownFlag, 0}, "default task work", 5, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			withTries(c.flags, func() {
				r := testRing(t, 8, 64)
				if r.Mode() != c.mode {
					lacks(t, c.mode, c.major, c.minor, errors.New("set up with "+r.Mode()))
				}
				nops(t, r, 100)
				if n := r.Bytes(); n < 8*64+64*16 || n%int64(unix.Getpagesize()) != 0 {
					t.Errorf("ring memory of %d bytes", n)
				}
			})
		})
	}
}

func TestSetupRefused(t *testing.T) {
	testRing(t, 1, 1) // skips where there is none
	withTries([3]uint32{1 << 31, 1 << 31, 1 << 31}, func() {
		if _, err := New(8, 8); !errors.Is(err, unix.EINVAL) || !strings.Contains(err.Error(), "io_uring_setup") {
			t.Errorf("no flags that the kernel takes: %v", err)
		}
	})
	if _, err := New(0, 8); !errors.Is(err, unix.EINVAL) {
		t.Errorf("a ring of no entries: %v", err)
	}
}

// nops submits and reaps n requests that do nothing, checking order and data.
func nops(t *testing.T, r *Ring, n int) {
	t.Helper()
	var put, got uint64
	for got < uint64(n) {
		for put < uint64(n) {
			e := r.Next()
			if e == nil {
				break
			}
			e.Opcode, e.UserData = OpNop, put
			put++
		}
		if err := r.Enter(1, 1e9, false); err != nil {
			t.Fatal(err)
		}
		for _, c := range drain(r) {
			if c.UserData != got || c.Res != 0 {
				t.Fatalf("completion %v, want data %d", c, got)
			}
			got++
		}
	}
	if r.Pending() != 0 {
		t.Errorf("%d requests still pending", r.Pending())
	}
}

// TestRingsWrap goes round rings of a few entries many times.
func TestRingsWrap(t *testing.T) {
	for _, sizes := range [][2]int{{1, 2}, {4, 4}, {8, 8}, {4, 64}} {
		r := testRing(t, sizes[0], sizes[1])
		before := r.Submitted
		nops(t, r, 1013)
		if r.Submitted-before != 1013 {
			t.Errorf("%v: %d requests counted as submitted, want 1013", sizes, r.Submitted-before)
		}
	}
}

func TestSubmissionRingFull(t *testing.T) {
	r := testRing(t, 4, 64)
	for i := range 4 {
		if r.Full() {
			t.Fatalf("full with %d of 4", i)
		}
		r.Next().UserData = uint64(i)
	}
	if !r.Full() || r.Next() != nil || r.Pending() != 4 {
		t.Fatalf("full %v with %d pending", r.Full(), r.Pending())
	}
	if got := reap(t, r, 4); got[3].UserData != 3 {
		t.Errorf("completions %s", texts(got))
	}
	if r.Full() || r.Next() == nil {
		t.Error("no room after the requests were taken")
	}
}

// TestCompletionsOverTheEnd has completions lie on both sides of the ring's end.
func TestCompletionsOverTheEnd(t *testing.T) {
	r := testRing(t, 8, 8)
	nops(t, r, 5)
	for i := range 6 {
		r.Next().UserData = uint64(i)
	}
	if err := r.Enter(6, 1e9, false); err != nil {
		t.Fatal(err)
	}
	a, b := r.Completions()
	if len(a) != 3 || len(b) != 3 {
		t.Fatalf("runs of %d and %d completions, want 3 and 3", len(a), len(b))
	}
	for i, c := range append(append([]CQE(nil), a...), b...) {
		if c.UserData != uint64(i) {
			t.Errorf("completion %d is %v", i, c)
		}
	}
	r.Seen(2)
	if a, b = r.Completions(); len(a) != 1 || len(b) != 3 || a[0].UserData != 2 {
		t.Errorf("after two were seen: %s and %s", texts(a), texts(b))
	}
	r.Seen(4)
	if a, b = r.Completions(); len(a)+len(b) != 0 {
		t.Errorf("after all were seen: %s and %s", texts(a), texts(b))
	}
}

// TestIndicesWrapAt32Bits counts on past 2^32, on rings in plain memory: no
// kernel gets there within a test.
func TestIndicesWrapAt32Bits(t *testing.T) {
	for _, head := range []uint32{0xffffffff, 0xfffffffe, 0xfffffff8, 0} {
		sqHead, sqTail, cqHead, cqTail := head, head, head, head+6
		r := &Ring{sqHead: &sqHead, sqTail: &sqTail, tail: head, sqMask: 3, sqes: make([]SQE, 4),
			cqHead: &cqHead, cqTail: &cqTail, cqMask: 7, cqes: make([]CQE, 8)}
		for i := range uint32(6) {
			r.cqes[(head+i)&7].UserData = uint64(i)
		}
		for i, c := range drain(r) {
			if c.UserData != uint64(i) {
				t.Errorf("from %#x: completion %d is %v", head, i, c)
			}
		}
		if cqHead != head+6 {
			t.Errorf("from %#x: head is %#x after six were seen", head, cqHead)
		}
		for i := range 4 {
			if r.Full() {
				t.Fatalf("from %#x: full with %d of 4", head, i)
			}
			r.Next()
		}
		if !r.Full() || r.Pending() != 4 {
			t.Errorf("from %#x: %d pending, full %v", head, r.Pending(), r.Full())
		}
	}
}

func TestEnterTimesOut(t *testing.T) {
	r := testRing(t, 8, 8)
	if r.Features()&FeatExtArg == 0 {
		lacks(t, "waits with a timeout", 5, 11, errors.New("no IORING_FEAT_EXT_ARG"))
	}
	for _, blocking := range []bool{false, true} {
		start := time.Now()
		if err := r.Enter(1, 30e6, blocking); err != nil {
			t.Fatal(err)
		}
		// Go's own signals cut waits short that it does not know of.
		if d := time.Since(start); blocking && d < 25*time.Millisecond || d > 3*time.Second {
			t.Errorf("blocking %v: a wait of 30 ms took %v", blocking, d)
		}
		if got := drain(r); len(got) > 0 {
			t.Errorf("completions from nowhere: %s", texts(got))
		}
	}
	start := time.Now()
	r.Next().UserData = 7
	if got := reap(t, r, 1); got[0].UserData != 7 || time.Since(start) > time.Second {
		t.Errorf("a wait that is over at once took %v: %s", time.Since(start), texts(got))
	}
	before := r.Enters
	if err := r.Enter(0, 0, false); err != nil || r.Enters != before+1 {
		t.Errorf("an empty call: %v, %d calls counted", err, r.Enters-before)
	}
}

// TestEnterInterrupted sends the waiting thread a signal that Go ignores: the
// call returns early and without an error.
func TestEnterInterrupted(t *testing.T) {
	for _, blocking := range []bool{false, true} {
		r := testRing(t, 8, 8)
		tid := unix.Gettid()
		back, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-back:
					return
				case <-time.After(10 * time.Millisecond):
					_ = unix.Tgkill(unix.Getpid(), tid, unix.SIGURG)
				}
			}
		}()
		start := time.Now()
		err := r.Enter(1, 20e9, blocking)
		took := time.Since(start)
		close(back)
		<-done
		if err != nil || took > 10*time.Second {
			t.Errorf("blocking %v: an interrupted wait returned %v after %v", blocking, err, took)
		}
		nops(t, r, 3)
	}
}

// TestEnterFromAnotherThread: a ring of one issuer refuses everyone else.
func TestEnterFromAnotherThread(t *testing.T) {
	r := testRing(t, 8, 8)
	if r.flags&SetupSingleIssuer == 0 {
		lacks(t, "SINGLE_ISSUER", 6, 0, errors.New(r.Mode()))
	}
	errs := make(chan error)
	go func() { errs <- r.Enter(1, 1e6, false) }() // this test holds its own thread
	if err := <-errs; !errors.Is(err, unix.EEXIST) || !strings.Contains(err.Error(), "io_uring_enter") {
		t.Errorf("entered from another thread: %v, want EEXIST", err)
	}
}

// TestCloseEndsReceives: once a ring is closed its receives touch nothing, and
// it holds its sockets open no more.
func TestCloseEndsReceives(t *testing.T) {
	r := testRing(t, 8, 8)
	mem := fill('-', 64)
	a, b := unixPair(t)
	e := r.Next()
	e.Opcode, e.Fd, e.Ioprio = OpRecv, int32(b), RecvPollFirst
	e.Addr, e.Len = addressOf(mem), uint32(len(mem))
	quiet(t, r)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	send(t, a, fill('x', 64))
	got := make([]byte, 64)
	if n, err := unix.Read(b, got); n != 64 || err != nil {
		t.Errorf("read after the ring was closed: %d, %v: a receive took the bytes", n, err)
	}
	if string(mem) != string(fill('-', 64)) {
		t.Errorf("a closed ring received %q", mem)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// TestCloseLetsSocketsGo: the peer of a socket sees its end at once, although a
// receive was in flight.
func TestCloseLetsSocketsGo(t *testing.T) {
	r := testRing(t, 8, 8)
	g, err := r.NewBufRing(1, 2, 0, 0)
	if err != nil {
		lacks(t, "buffer rings", 5, 19, err)
	}
	mem := anonymous(t, 64)
	if err := g.Add(unsafe.Pointer(&mem[0]), 64, 0); err != nil {
		t.Fatal(err)
	}
	g.Publish()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fds[0])
	recv(t, r, fds[1], 1, RecvMultishot, 0)
	quiet(t, r)
	if err := errors.Join(g.Close(), r.Close(), unix.Close(fds[1])); err != nil {
		t.Fatal(err)
	}
	if n, err := unix.Write(fds[0], []byte("x")); err != unix.EPIPE {
		t.Errorf("write to a socket that should be gone: %d, %v", n, err)
	}
}

// TestNothingStaysMapped: closed rings leave no memory behind. A hundred leaked
// buffer rings would be 50 MiB.
func TestNothingStaysMapped(t *testing.T) {
	testRing(t, 8, 8) // skips where there is none
	before := mappedBytes(t)
	for range 100 {
		r, err := New(8, 64)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.NewBufRing(1, MaxBufRing, 0, 0)
		if err != nil {
			lacks(t, "buffer rings", 5, 19, err)
		}
		if _, err := r.NewBufRing(1, MaxBufRing, 0, 0); err == nil {
			t.Fatal("a group was registered twice")
		}
		if err := errors.Join(b.Close(), r.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if grown := mappedBytes(t) - before; grown > 16<<20 {
		t.Errorf("%d bytes more are mapped", grown)
	}
}

// mappedBytes is the writable address space outside of the Go heap.
func mappedBytes(t *testing.T) (total int64) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(maps)), "\n") {
		var lo, hi int64
		if n, _ := fmt.Sscanf(line, "%x-%x", &lo, &hi); n == 2 && strings.Contains(line, " rw") && lo>>36 != 0xc {
			total += hi - lo
		}
	}
	return total
}
