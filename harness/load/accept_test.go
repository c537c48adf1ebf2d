package load

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// Strangers, those without the token and those who do not say all of it, are
// refused, and the clients are served all the same.
func TestStrangersAreRefused(t *testing.T) {
	tr := smallTrial(record.Load{Mode: Lockstep}, 2, 4)
	tr.Warmup = 0
	w := generate(t, tr)
	strangers := []net.Conn{
		w.dial("ffffffffffffffffffffffffffffffff", 0),
		w.dial("00112233445566778899aabbccddeefe", 1),
		w.dial("", 0),
	}
	strangers[2].(*net.TCPConn).CloseWrite()
	w.connect()
	for i, c := range strangers {
		c.SetReadDeadline(time.Now().Add(patience))
		if b, err := io.ReadAll(c); len(b) > 0 || err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf("stranger %d: %d bytes, %v; want to be shut out", i, len(b), err)
		}
		c.Close()
	}
	w.prog.Phase().Store(1)
	for i, c := range w.sched.Client {
		w.next(int(c))
		w.prog.Done().Store(uint64(i) + 1)
	}
	w.hangUp()
	if _, err := w.finish(); err != nil {
		t.Error(err)
	}
}

func TestWrongClientsEndTheGenerator(t *testing.T) {
	for _, c := range []struct {
		name    string
		clients []uint32
		says    string
	}{
		{"twice", []uint32{1, 1}, "client 1 connected twice"},
		{"beyond", []uint32{2}, "client number 2 of 2"},
		{"far beyond", []uint32{1 << 31}, "client number 2147483648 of 2"},
	} {
		w := generate(t, smallTrial(record.Load{Mode: Lockstep}, 2, 4))
		for _, n := range c.clients {
			w.conns = append(w.conns, w.dial(testToken, n))
		}
		if _, err := w.finish(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.says)
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	good := smallTrial(record.Load{Mode: "open", RateHz: 1}, 1, 4)
	good.Peer.Token, good.DeadlineMS, good.OtherCPU = testToken, 50, -1
	for name, c := range map[string]struct {
		change func(t *record.Trial)
		says   string
	}{
		"clock":       {func(t *record.Trial) { t.Clock.Source = "sundial" }, "sundial"},
		"no rate":     {func(t *record.Trial) { t.Workload.Load.RateHz = 0 }, "needs a rate"},
		"short token": {func(t *record.Trial) { t.Peer.Token = "00" }, "32 hex digits"},
		"not hex":     {func(t *record.Trial) { t.Peer.Token = strings.Repeat("x", 32) }, "32 hex digits"},
	} {
		ln, err := Listen("tcp")
		if err != nil {
			t.Fatal(err)
		}
		tr := good
		c.change(&tr)
		if _, err := Generate(tr, ln, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v, want %q", name, err, c.says)
		}
		ln.Close()
	}
	if _, err := Listen("pigeon"); err == nil || !strings.Contains(err.Error(), "pigeon") {
		t.Errorf("Listen: %v", err)
	}
	if err := Pin(1 << 20); err == nil {
		t.Error("pinned to a CPU there cannot be")
	}
}

// Each counter has a cache line of its own.
func TestProgressCountersAreApart(t *testing.T) {
	f, err := NewProgressFile(3)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a, b := mapped(t, f, 3), mapped(t, f, 3)
	defer a.Close()
	defer b.Close()
	a.Sent().Store(1)
	a.Done().Store(2)
	a.Phase().Store(3)
	for c := range 3 {
		a.Client(c).Store(uint64(10 + c))
	}
	got := []uint64{b.Sent().Load(), b.Done().Load(), b.Phase().Load(), b.Client(0).Load(), b.Client(1).Load(), b.Client(2).Load()}
	for i, want := range []uint64{1, 2, 3, 10, 11, 12} {
		if got[i] != want {
			t.Errorf("counter %d is %d in the other mapping, want %d", i, got[i], want)
		}
	}
	if int64(len(a.mem)) != ProgressBytes(3) || ProgressBytes(3) != 6*64 {
		t.Errorf("%d bytes mapped", len(a.mem))
	}
}

// Where the kernel can bound the retransmission timer it does.
func TestImpatientConnections(t *testing.T) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	before, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, tcpRTOMaxMS)
	if err != nil {
		t.Skipf("this kernel has no TCP_RTO_MAX_MS, which came with Linux 6.15: %v", err)
	}
	impatient(fd)
	after, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, tcpRTOMaxMS)
	if err != nil || after != 1000 || before <= after {
		t.Errorf("the timer is bounded by %d ms, before by %d: %v", after, before, err)
	}
	if on, err := unix.GetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_THIN_LINEAR_TIMEOUTS); err != nil || on != 1 {
		t.Errorf("thin streams wait linearly: %d, %v", on, err)
	}
}
