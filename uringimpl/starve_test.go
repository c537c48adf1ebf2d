package uringimpl

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// bench is an opened strategy with a socket pair for each client, whose other
// ends the test writes to.
type bench struct {
	receiver harness.Receiver
	sink     *harness.Sink
	peers    []int
}

func openBench(t *testing.T, s harness.Strategy, params map[string]string, w record.Workload) *bench {
	t.Helper()
	runtime.LockOSThread() // for good: the ring is this thread's
	tr := newTrial(s.Name, params, w, record.Verify, 1)
	sink, err := harness.NewSink(tr, testClock, nil)
	if err != nil {
		t.Fatal(err)
	}
	values, err := s.Complete(params)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{sink: sink}
	var fds []int
	for range w.Clients {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		fds, b.peers = append(fds, pair[0]), append(b.peers, pair[1])
	}
	t.Cleanup(func() {
		for i := range fds {
			unix.Close(fds[i])
			unix.Close(b.peers[i])
		}
	})
	if b.receiver, err = s.Open(&harness.Bench{Trial: tr, FDs: fds, Sink: sink}, values); err != nil {
		t.Fatal(err)
	}
	return b
}

// message is message seq of a client, whose stream it stands at off in.
func message(client, seq, size int, off uint64) []byte {
	m := make([]byte, size)
	load.Header{Length: uint32(size), Client: uint32(client), Seq: uint32(seq), Check: load.Check(42, uint32(client), uint32(seq), uint32(size))}.Put(m)
	load.Fill(m[load.HeaderBytes:], load.StreamKey(42, client), off+load.HeaderBytes)
	return m
}

func (b *bench) write(t *testing.T, client int, p []byte) {
	t.Helper()
	if n, err := unix.Write(b.peers[client], p); n != len(p) {
		t.Fatalf("wrote %d bytes of %d: %v", n, len(p), err)
	}
}

// TestOpenMessagesFillTheGroup: messages that are not whole may take all buffers
// there are. That is an error which says so, in time, and never a wait.
func TestOpenMessagesFillTheGroup(t *testing.T) {
	for _, s := range providedStrategies() {
		for _, p := range crossed(map[string]string{}, map[string][]string{"group": {"per-client", "shared"}, "multishot": {"true", "false"}}) {
			t.Run(fmt.Sprintf("%s/%v", s.Name, p), func(t *testing.T) {
				w := wild()
				w.Clients, w.Assembly, w.BudgetBytes = 2, "vectored", 16<<10
				w.Sizes = record.Sizes{Kind: "fixed", Bytes: 24 << 10}
				b := openBench(t, s, p, w)
				defer b.receiver.Close()
				for c := range w.Clients {
					b.write(t, c, message(c, c, 24<<10, 0)[:20<<10])
				}
				done := time.AfterFunc(20*time.Second, func() { // let a loop that waits end
					for _, fd := range b.peers {
						_ = unix.Shutdown(fd, unix.SHUT_RDWR)
					}
				})
				err := b.receiver.Receive(1)
				done.Stop()
				if err == nil || !strings.Contains(err.Error(), "fill") || !strings.Contains(err.Error(), "raise the budget") {
					t.Errorf("got %v", err)
				}
				if shared := p["group"] == "shared"; shared && !strings.Contains(err.Error(), "group: per-client") {
					t.Errorf("the shared group is not named: %v", err)
				}
			})
		}
	}
}

// TestBusyClientStarvesQuiet: in a shared group a client whose messages are held
// takes all buffers, and another is refused, is noted as refused, and gets its
// message once they are back. With a group each it gets it at once.
func TestBusyClientStarvesQuiet(t *testing.T) {
	for _, s := range []harness.Strategy{ringFixed, ringInc, provideLegacy} {
		for _, group := range []string{"shared", "per-client"} {
			for _, multishot := range []string{"true", "false"} {
				t.Run(fmt.Sprintf("%s/%s/multishot=%s", s.Name, group, multishot), func(t *testing.T) {
					starve(t, s, group, multishot)
				})
			}
		}
	}
}

func starve(t *testing.T, s harness.Strategy, group, multishot string) {
	const pool, size = 32 << 10, 4096
	w := wild()
	w.Clients, w.BudgetBytes, w.HoldNS = 2, pool/2, 50_000_000
	if group == "per-client" {
		w.BudgetBytes = pool
	}
	w.Sizes = record.Sizes{Kind: "fixed", Bytes: size}
	b := openBench(t, s, map[string]string{"group": group, "multishot": multishot}, w)
	defer b.receiver.Close()
	b.write(t, 0, bytes.Join([][]byte{message(0, 0, size, 0), message(0, 1, size, size)}, nil))
	if err := b.receiver.Receive(2); err != nil { // both have their receives from here on
		t.Fatal(err)
	}
	for i := 2; i < pool/size; i++ {
		b.write(t, 0, message(0, i, size, uint64(i)*size))
	}
	if err := b.receiver.Receive(pool / size); err != nil {
		t.Fatal(err)
	}
	b.write(t, 1, message(1, 1, size, 0))
	start, before := time.Now(), b.receiver.Counters().NoBufs
	if err := b.receiver.Receive(pool/size + 1); err != nil {
		t.Fatal(err)
	}
	refused, waited := b.receiver.Counters().NoBufs-before, time.Since(start)
	if group == "shared" && (refused == 0 || waited < time.Millisecond) || group != "shared" && refused != 0 {
		t.Errorf("%d receives refused, waited %v", refused, waited)
	}
}
