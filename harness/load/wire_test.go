package load

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

const testToken = "00112233445566778899aabbccddeeff"

// quiet is how long a test watches that nothing comes; patience is how long it
// waits for what must.
const (
	quiet    = 15 * time.Millisecond
	patience = 20 * time.Second
)

// wire is a generator at work and the receiving ends of its connections.
type wire struct {
	t     *testing.T
	trial record.Trial
	sched Schedule
	prog  *Progress
	conns []net.Conn
	base  []uint64 // stream offset of each client's next message
	addr  string
	ended chan struct{}
	rep   record.Generator
	err   error
}

// generate starts a generator for a trial; its clients are not connected yet.
func generate(t *testing.T, tr record.Trial) *wire {
	t.Helper()
	tr.Peer = record.Peer{Network: "tcp", Token: testToken}
	tr.CPU, tr.OtherCPU = -1, -1
	if tr.DeadlineMS == 0 {
		tr.DeadlineMS = patience.Milliseconds()
	}
	f, err := NewProgressFile(tr.Workload.Clients)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, trial: tr, sched: NewSchedule(tr), base: make([]uint64, tr.Workload.Clients), ended: make(chan struct{})}
	w.prog = mapped(t, f, tr.Workload.Clients)
	theirs := mapped(t, f, tr.Workload.Clients)
	f.Close()
	ln, err := Listen("tcp")
	if err != nil {
		t.Fatal(err)
	}
	w.addr = ln.Addr().String()
	go func() {
		defer close(w.ended)
		w.rep, w.err = Generate(tr, ln, theirs)
		ln.Close()
		theirs.Close()
	}()
	t.Cleanup(func() {
		w.hangUp()
		<-w.ended
		w.prog.Close()
	})
	return w
}

func mapped(t *testing.T, f *os.File, clients int) *Progress {
	p, err := MapProgress(int(f.Fd()), clients)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// dial connects as a client, or as a stranger if the token is another.
func (w *wire) dial(token string, client uint32) net.Conn {
	w.t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		w.t.Fatal(err)
	}
	b, err := hex.DecodeString(token)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := c.Write(binary.LittleEndian.AppendUint32(b, client)); err != nil {
		w.t.Fatal(err)
	}
	return c
}

// connect connects all clients.
func (w *wire) connect() *wire {
	for c := range w.trial.Workload.Clients {
		w.conns = append(w.conns, w.dial(testToken, uint32(c)))
	}
	return w
}

func (w *wire) hangUp() {
	for _, c := range w.conns {
		c.Close()
	}
}

// next reads a client's next message and checks it against the schedule.
func (w *wire) next(client int) Header {
	w.t.Helper()
	c := w.conns[client]
	c.SetReadDeadline(time.Now().Add(patience))
	var head [HeaderBytes]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		w.t.Fatalf("client %d: %v", client, err)
	}
	h := ParseHeader(head[:])
	want := Header{Length: w.sched.Size[h.Seq], Client: uint32(client), Intended: h.Intended, Seq: h.Seq}
	want.Check = Check(w.trial.Seed, want.Client, want.Seq, want.Length)
	if h != want || w.sched.Client[h.Seq] != uint32(client) {
		w.t.Fatalf("client %d received %+v, want %+v", client, h, want)
	}
	body := make([]byte, h.Length-HeaderBytes)
	if _, err := io.ReadFull(c, body); err != nil {
		w.t.Fatalf("client %d: %v", client, err)
	}
	if at := Mismatch(body, StreamKey(w.trial.Seed, client), w.base[client]+HeaderBytes); w.trial.Purpose == record.Verify && at >= 0 {
		w.t.Fatalf("client %d, message %d: payload byte %d is wrong", client, h.Seq, at)
	}
	w.base[client] += uint64(h.Length)
	return h
}

// poll reads a client's next message if it is there.
func (w *wire) poll(client int) (Header, bool) {
	w.t.Helper()
	raw, err := w.conns[client].(syscall.Conn).SyscallConn()
	if err != nil {
		w.t.Fatal(err)
	}
	ready := false
	if err := raw.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, _ := unix.Poll(fds, 1)
		ready = n > 0
	}); err != nil {
		w.t.Fatal(err)
	}
	if !ready {
		return Header{}, false
	}
	return w.next(client), true
}

// silent checks that nothing comes to a client for a while.
func (w *wire) silent(client int, why string) {
	w.t.Helper()
	c := w.conns[client]
	c.SetReadDeadline(time.Now().Add(quiet))
	var b [1]byte
	if n, err := c.Read(b[:]); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		w.t.Fatalf("client %d: %d bytes, %v; want none: %s", client, n, err, why)
	}
}

// finish waits for the generator.
func (w *wire) finish() (record.Generator, error) {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(patience):
		w.t.Fatal("the generator does not end")
	}
	return w.rep, w.err
}

// counts is how many messages of a part of the schedule each client gets.
func (w *wire) counts(lo, hi int) []int {
	n := make([]int, w.trial.Workload.Clients)
	for _, c := range w.sched.Client[lo:hi] {
		n[c]++
	}
	return n
}
