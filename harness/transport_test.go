package harness

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// overTransport is a trial of the test's strategy over a transport, its chunks
// large enough for a datagram each.
func overTransport(transport string, l record.Load, purpose record.Purpose, messages int) record.Trial {
	w := workload()
	w.Transport, w.Load = transport, l
	tr := trialOf("reader", w, purpose, messages)
	tr.Params = map[string]string{"chunk": "4KiB"}
	return tr
}

// Trials over every transport and load through real processes.
func TestTransportsEndToEnd(t *testing.T) {
	for _, transport := range []string{load.TCP, load.Unix, load.UDP} {
		for _, l := range []record.Load{{Mode: "closed", Depth: 4}, {Mode: "open", RateHz: 20_000}} {
			for _, purpose := range []record.Purpose{record.Timing, record.Counting, record.Verify} {
				tr := overTransport(transport, l, purpose, 400)
				x := behave(t, context.Background(), "well", tr)
				if x.Record.Status != record.OK {
					t.Fatalf("%s, %s, %s: %s\n%s", transport, l.Mode, purpose, x.Record.Error, x.Stderr)
				}
				if want := load.NewSchedule(tr).Fingerprint(tr.Seed); x.Record.Fingerprint != want {
					t.Errorf("%s, %s, %s: did %+v, want %+v", transport, l.Mode, purpose, x.Record.Fingerprint, want)
				}
				if g := x.Generator; g == nil || g.Messages != 400 || g.Limited == "" {
					t.Errorf("%s, %s, %s: generator %+v", transport, l.Mode, purpose, g)
				}
			}
		}
	}
}

// inProcess runs a trial against a generator of this process.
func inProcess(t *testing.T, tr record.Trial, tamper Tamper, more ...Strategy) record.Record {
	t.Helper()
	rec, _ := inProcessAt(t, tr, tamper, more...)
	return rec
}

// inProcessAt also tells where the generator listened.
func inProcessAt(t *testing.T, tr record.Trial, tamper Tamper, more ...Strategy) (record.Record, string) {
	t.Helper()
	f, err := load.NewProgressFile(tr.Workload.Clients)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	progress := func() *load.Progress {
		p, err := load.MapProgress(int(f.Fd()), tr.Workload.Clients)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	ln, err := load.Listen(tr.Workload.Transport)
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	tr.Peer = record.Peer{Network: tr.Workload.Transport, Address: ln.Addr().String(), Token: strings.Repeat("0a", 16)}
	mine, theirs := progress(), progress()
	var wg sync.WaitGroup
	wg.Go(func() { _, err = load.Generate(tr, ln, theirs) })
	got := make(chan record.Record, 1)
	go func() { got <- RunTampered(tr, append(childRegistry(), more...), mine, tamper) }() // it keeps its thread
	rec := <-got
	wg.Wait()
	if err != nil && rec.Status == record.OK {
		t.Errorf("%s: generator: %v", tr.Workload.Transport, err)
	}
	return rec, tr.Peer.Address
}

// What can go wrong with datagrams fails the trial, and says what it was.
func TestDatagramSabotage(t *testing.T) {
	tr := overTransport(load.UDP, record.Load{Mode: "closed", Depth: 2}, record.Verify, 60)
	tr.Warmup = 3
	nth := func(n int, do func(client int, p []byte) (int, []byte)) Tamper {
		seen := 0
		return func(client int, p []byte) (int, []byte) {
			if seen++; seen != n {
				return client, p
			}
			return do(client, p)
		}
	}
	var early []byte // the first datagram of client 0
	for _, c := range []struct {
		name   string
		tamper Tamper
		says   string
	}{
		{"none", nil, ""},
		{"truncated", nth(20, func(c int, p []byte) (int, []byte) { return c, p[:len(p)-1] }), "truncated"},
		{"cut to its header", nth(20, func(c int, p []byte) (int, []byte) { return c, p[:load.HeaderBytes] }), "truncated"},
		{"cut within its header", nth(20, func(c int, p []byte) (int, []byte) { return c, p[:10] }), "truncated"},
		{"empty", nth(20, func(c int, p []byte) (int, []byte) { return c, nil }), "truncated"},
		{"two in one piece", nth(20, func(c int, p []byte) (int, []byte) { return c, append(bytes.Clone(p), p...) }), "not in one piece"},
		{"shifted", nth(20, func(c int, p []byte) (int, []byte) { return c, append([]byte{0}, p...) }), "not a message header"},
		{"clients swapped", nth(20, func(c int, p []byte) (int, []byte) { return (c + 1) % 3, p }), "swapped"},
		{"flipped byte", nth(20, func(c int, p []byte) (int, []byte) {
			q := bytes.Clone(p)
			q[len(q)-1] ^= 1
			return c, q
		}), "payload byte"},
		{"delivered twice", func(c int, p []byte) (int, []byte) {
			if c != 0 {
				return c, p
			}
			if early == nil {
				early = bytes.Clone(p)
				return c, p
			}
			return c, bytes.Clone(early)
		}, "stale or reordered"},
	} {
		rec := inProcess(t, tr, c.tamper)
		if c.says == "" && rec.Status != record.OK || c.says != "" && !strings.Contains(rec.Error, c.says) {
			t.Errorf("%s: %s, %q, want %q", c.name, rec.Status, rec.Error, c.says)
		}
	}
}

// opened is the test's strategy, meddled with once it is open.
func opened(name string, meddle func(b *Bench, r *readChunks)) Strategy {
	s := reader
	s.Name = name
	s.Open = func(b *Bench, p Values) (Receiver, error) {
		r, err := reader.Open(b, p)
		if err == nil {
			meddle(b, r.(*readChunks))
		}
		return r, err
	}
	return s
}

// A lost datagram is found under every load, wherever it was due, and not by the
// deadline.
func TestLostDatagrams(t *testing.T) {
	for _, l := range []record.Load{{Mode: "closed", Depth: 4}, {Mode: "open", RateHz: 3000}, {Mode: load.Lockstep}} {
		for _, purpose := range []record.Purpose{record.Timing, record.Verify} {
			for _, lost := range []int{0, 7, 62} {
				tr := overTransport(load.UDP, l, purpose, 60)
				tr.Warmup, tr.Workload.Clients, tr.Strategy = 3, 1, "lossy"
				rec := inProcess(t, tr, nil, opened("lossy", func(_ *Bench, r *readChunks) { r.lose = lost + 1 }))
				says := fmt.Sprintf("message %d ", lost)
				if rec.Status != record.Failed || !strings.Contains(rec.Error, "datagrams were lost") || !strings.Contains(rec.Error, says) {
					t.Errorf("%s, %s, message %d: %s %q", l.Mode, purpose, lost, rec.Status, rec.Error)
				}
			}
		}
	}
}

// What the kernel drops is told with its number and what to do about it.
func TestOverflowingSocket(t *testing.T) {
	tr := overTransport(load.UDP, record.Load{Mode: "open", RateHz: 1e6}, record.Timing, 600)
	tr.Warmup, tr.Workload.Clients, tr.Strategy = 3, 2, "sleeper"
	rec := inProcess(t, tr, nil, opened("sleeper", func(b *Bench, _ *readChunks) {
		for _, fd := range b.FDs {
			if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1); err != nil {
				t.Error(err)
			}
		}
		b.Sink.prog.Phase().Store(1) // all of it, while nobody reads
		time.Sleep(50 * time.Millisecond)
	}))
	for _, says := range []string{"datagrams were lost", " by this one", "net.core.rmem_max", "closed load"} {
		if rec.Status != record.Failed || !strings.Contains(rec.Error, says) || strings.Contains(rec.Error, " 0 by this one") {
			t.Errorf("%s %q, want %q", rec.Status, rec.Error, says)
		}
	}
}

// A receiver that stops for a while is sent markers, and goes on as if nothing
// had been.
func TestMarkersDisturbNothing(t *testing.T) {
	tr := overTransport(load.UDP, record.Load{Mode: "closed", Depth: 8}, record.Verify, 40)
	tr.Warmup, tr.Strategy = 3, "napper"
	marked := 0
	rec := inProcess(t, tr, func(c int, p []byte) (int, []byte) {
		if load.ParseHeader(p).Seq == load.EndSeq {
			marked++
		}
		return c, p
	}, opened("napper", func(*Bench, *readChunks) { time.Sleep(700 * time.Millisecond) }))
	if want := load.NewSchedule(tr).Fingerprint(tr.Seed); rec.Status != record.OK || rec.Fingerprint != want {
		t.Errorf("%s %s, did %+v, want %+v", rec.Status, rec.Error, rec.Fingerprint, want)
	}
	if marked == 0 {
		t.Error("no marker came: the test tests nothing")
	}
}

// A generator that is killed fails the trial at once, over every transport.
func TestGeneratorKilled(t *testing.T) {
	for _, transport := range []string{load.TCP, load.Unix, load.UDP} {
		tr := overTransport(transport, record.Load{Mode: "open", RateHz: 100}, record.Timing, 100_000)
		tr.Warmup = 1
		begin := time.Now()
		x := behave(t, context.Background(), "generator is killed", tr)
		if x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, errGone.Error()) {
			t.Errorf("%s: %s %q", transport, x.Record.Status, x.Record.Error)
		}
		if left := time.Duration(tr.DeadlineMS)*time.Millisecond - time.Since(begin); left < 0 {
			t.Errorf("%s: it took the deadline to see it", transport)
		}
	}
}

// No connection stays behind in TIME_WAIT, and no name of a socket.
func TestNothingStaysBehind(t *testing.T) {
	for transport, table := range map[string]string{load.TCP: "/proc/net/tcp", load.Unix: "/proc/net/unix"} {
		tr := overTransport(transport, record.Load{Mode: "closed", Depth: 2}, record.Timing, 50)
		tr.Workload.Clients = 40
		rec, addr := inProcessAt(t, tr, nil)
		if rec.Status != record.OK {
			t.Fatalf("%s: %s", transport, rec.Error)
		}
		if transport == load.TCP {
			at := netip.MustParseAddrPort(addr)
			addr = fmt.Sprintf("0100007F:%04X", at.Port())
		}
		open, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(open), addr); n > 0 {
			t.Errorf("%s: %d sockets at %s are left:\n%s", transport, n, addr, open)
		}
	}
}
