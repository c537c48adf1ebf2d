package load

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func smallTrial(l record.Load, clients, messages int) record.Trial {
	w := record.Workload{Clients: clients, Sizes: record.Sizes{Kind: "uniform", Min: 24, Max: 3000}, BudgetBytes: 8 << 10, Load: l}
	tr := someTrial(w, messages, 11)
	tr.Purpose = record.Verify
	return tr
}

// A closed loop keeps its depth of messages of each client outstanding, no
// more, and starts the window when the receiver is ready.
func TestClosedDepthIsNeverExceeded(t *testing.T) {
	const clients, depth, messages = 3, 4, 60
	w := generate(t, smallTrial(record.Load{Mode: "closed", Depth: depth}, clients, messages)).connect()
	n := len(w.sched.Size)
	acked := make([]int, clients)
	part := func(left []int) {
		for slices.Max(left) > 0 {
			for c := range clients {
				batch := min(depth, left[c])
				for range batch {
					w.next(c)
				}
				w.silent(c, "its depth of messages is unacknowledged, or all are sent")
				acked[c] += batch
				left[c] -= batch
			}
			for c := range clients {
				w.prog.Client(c).Store(uint64(acked[c]))
			}
		}
	}
	part(w.counts(0, w.sched.Warmup))
	w.silent(0, "the receiver is not ready for the window")
	w.prog.Phase().Store(1)
	part(w.counts(w.sched.Warmup, n))
	select {
	case <-w.ended:
		t.Fatal("the generator went before its receiver")
	default:
	}
	w.hangUp()
	rep, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, w, rep)
}

// checkReport compares what a generator says of its window with the schedule.
func checkReport(t *testing.T, w *wire, rep record.Generator) {
	t.Helper()
	var bytes int64
	for _, n := range w.sched.Size[w.sched.Warmup:] {
		bytes += int64(n)
	}
	if rep.Messages != int64(w.trial.Messages) || rep.Bytes != bytes {
		t.Errorf("%d messages of %d bytes reported, want %d of %d", rep.Messages, rep.Bytes, w.trial.Messages, bytes)
	}
	if rep.WallNS <= 0 || rep.CPUNS <= 0 || rep.AchievedHz <= 0 || rep.LateP50NS > rep.LateP99NS || rep.Error != "" {
		t.Errorf("report %+v", rep)
	}
	if want := Limited(w.trial.Workload.Load.Mode, rep); rep.Limited != want {
		t.Errorf("limited by %s, want %s", rep.Limited, want)
	}
}

func TestLockstepHasOneMessageInFlight(t *testing.T) {
	const clients, messages = 3, 40
	w := generate(t, smallTrial(record.Load{Mode: Lockstep}, clients, messages)).connect()
	for i, c := range w.sched.Client {
		if i == w.sched.Warmup {
			for c := range clients {
				w.silent(c, "the receiver is not ready for the window")
			}
			w.prog.Phase().Store(1)
		}
		if h := w.next(int(c)); h.Seq != uint32(i) {
			t.Fatalf("message %d came in place of %d", h.Seq, i)
		}
		if i%10 == 0 {
			for other := range clients {
				w.silent(other, "a message is in flight")
			}
		}
		if sent := w.prog.Sent().Load(); sent > uint64(i)+1 {
			t.Fatalf("%d messages sent while message %d is in flight", sent, i)
		}
		w.prog.Done().Store(uint64(i) + 1)
	}
	w.hangUp()
	rep, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, w, rep)
	if rep.Limited != LimitedNone {
		t.Errorf("lockstep is limited by %s", rep.Limited)
	}
}

// A message larger than all buffers of a socket must not stop lockstep.
func TestLockstepLargerThanTheSocket(t *testing.T) {
	tr := smallTrial(record.Load{Mode: Lockstep}, 1, 2)
	tr.Workload.Sizes = record.Sizes{Kind: "fixed", Bytes: 16 << 20}
	tr.Warmup = 0
	w := generate(t, tr).connect()
	w.prog.Phase().Store(1)
	for i := range w.sched.Size {
		w.next(0)
		w.prog.Done().Store(uint64(i) + 1)
	}
	w.hangUp()
	if _, err := w.finish(); err != nil {
		t.Fatal(err)
	}
}

// One client that does not read must not keep the others from their messages.
func TestOpenLoopPassesAFullSocket(t *testing.T) {
	const clients, stuck = 3, 1
	tr := smallTrial(record.Load{Mode: "open", RateHz: 20_000}, clients, 900)
	tr.Workload.Sizes = record.Sizes{Kind: "fixed", Bytes: 64 << 10}
	tr.Purpose, tr.Warmup = record.Timing, 3
	w := generate(t, tr).connect()
	drain := func(lo, hi int, skip int) {
		var wg sync.WaitGroup
		for c, n := range w.counts(lo, hi) {
			if c == skip {
				continue
			}
			wg.Go(func() {
				for range n {
					w.next(c)
				}
			})
		}
		wg.Wait()
	}
	drain(0, tr.Warmup, -1)
	w.prog.Phase().Store(1)
	drain(tr.Warmup, len(w.sched.Size), stuck)
	select {
	case <-w.ended:
		t.Fatal("the generator ended with a client's messages unread")
	default:
	}
	for range w.counts(tr.Warmup, len(w.sched.Size))[stuck] {
		w.next(stuck)
	}
	w.hangUp()
	rep, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, w, rep)
	if rep.Limited != LimitedReceiver || rep.BlockedSends == 0 || rep.BlockedNS == 0 {
		t.Errorf("limited by %s, %d sends blocked for %d ns; want the receiver", rep.Limited, rep.BlockedSends, rep.BlockedNS)
	}
}

// Intended times follow the schedule, however late a message is sent.
func TestOpenLoopIntendsItsSchedule(t *testing.T) {
	w := generate(t, smallTrial(record.Load{Mode: "open", RateHz: 5000}, 2, 200)).connect()
	intended := make([]uint64, len(w.sched.Size))
	read := func(lo, hi int) {
		for i := lo; i < hi; i++ {
			h := w.next(int(w.sched.Client[i]))
			intended[h.Seq] = h.Intended
		}
	}
	read(0, w.sched.Warmup)
	w.prog.Phase().Store(1)
	read(w.sched.Warmup, len(intended))
	for _, part := range [][2]int{{0, w.sched.Warmup}, {w.sched.Warmup, len(intended)}} {
		for i := part[0] + 1; i < part[1]; i++ {
			if got, want := intended[i]-intended[part[0]], w.sched.At[i]-w.sched.At[part[0]]; got != want {
				t.Fatalf("message %d is due %d ticks after the first, want %d", i, got, want)
			}
		}
	}
	w.hangUp()
	rep, err := w.finish()
	if err != nil {
		t.Fatal(err)
	}
	checkReport(t, w, rep)
	span := float64(w.sched.At[len(intended)-1]-w.sched.At[w.sched.Warmup]) / 1e9
	if want := float64(w.trial.Messages) / span; rep.OfferedHz < want*.999 || rep.OfferedHz > want*1.001 {
		t.Errorf("%g messages a second offered, want %g", rep.OfferedHz, want)
	}
}

func TestDeadlineEndsTheGenerator(t *testing.T) {
	for _, c := range []struct {
		name string
		load record.Load
		size int64
		says string
	}{
		{"closed, never acknowledged", record.Load{Mode: "closed", Depth: 1}, 100, "warm-up"},
		{"lockstep, never acknowledged", record.Load{Mode: Lockstep}, 100, "warm-up"},
		{"lockstep, never read", record.Load{Mode: Lockstep}, 64 << 20, "warm-up"},
		{"open, never read", record.Load{Mode: "open", RateHz: 1e6}, 16 << 20, "warm-up"},
		{"open, receiver never ready", record.Load{Mode: "open", RateHz: 1e6}, 100, "waiting for the receiver"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tr := smallTrial(c.load, 2, 10)
			tr.Workload.Sizes = record.Sizes{Kind: "fixed", Bytes: c.size}
			tr.Warmup, tr.Purpose, tr.DeadlineMS = 6, record.Timing, 200
			w := generate(t, tr).connect()
			if _, err := w.finish(); err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "deadline") {
				t.Errorf("error %v, want the deadline, %q", err, c.says)
			}
		})
	}
	t.Run("nobody connects", func(t *testing.T) {
		tr := smallTrial(record.Load{Mode: "closed", Depth: 1}, 2, 10)
		tr.DeadlineMS = 50
		if _, err := generate(t, tr).finish(); err == nil || !strings.Contains(err.Error(), "accept client 1 of 2") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("receiver stays", func(t *testing.T) {
		tr := smallTrial(record.Load{Mode: "open", RateHz: 1e6}, 1, 2)
		tr.Warmup, tr.DeadlineMS = 0, 200
		w := generate(t, tr).connect()
		w.prog.Phase().Store(1)
		rep, err := w.finish()
		if err == nil || rep.Messages != 2 {
			t.Errorf("error %v, %d messages: want the deadline and what was sent", err, rep.Messages)
		}
	})
}

func TestReceiverGone(t *testing.T) {
	for _, l := range []record.Load{{Mode: "closed", Depth: 1000}, {Mode: "open", RateHz: 1e6}, {Mode: Lockstep}} {
		tr := smallTrial(l, 2, 10_000)
		tr.Workload.Sizes, tr.Warmup = record.Sizes{Kind: "fixed", Bytes: 64 << 10}, 10_000
		w := generate(t, tr).connect()
		w.next(int(w.sched.Client[0]))
		w.prog.Done().Store(1)
		w.hangUp()
		if _, err := w.finish(); err == nil || strings.Contains(err.Error(), "deadline") {
			t.Errorf("%s: error %v, want the receiver's leaving", l.Mode, err)
		}
	}
}
