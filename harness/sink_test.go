package harness

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// feed is a sink and the messages it is to receive, each in a buffer of its own.
type feed struct {
	sink *Sink
	all  []message
	bufs [][]byte
}

func newFeed(t testing.TB, tr record.Trial) *feed {
	t.Helper()
	s, err := NewSink(tr, monotonic(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	f := &feed{sink: s, all: messages(tr, 0)}
	s.Buffers(len(f.all))
	for i, m := range f.all {
		f.bufs = append(f.bufs, bytes.Clone(m.wire))
		s.Lend(int32(i))
	}
	return f
}

// deliver hands message i over whole; the strategy is then done with its buffer.
func (f *feed) deliver(i int) {
	f.sink.Deliver(f.all[i].client, f.bufs[i], int32(i), 0)
	f.sink.Unref(int32(i))
}

func feedTrial(purpose record.Purpose, change func(w *record.Workload)) record.Trial {
	w := workload()
	w.Sizes = record.Sizes{Kind: "uniform", Min: 200, Max: 400}
	if change != nil {
		change(&w)
	}
	tr := trialOf("feed", w, purpose, 40)
	tr.Warmup = 0
	return tr
}

// Each way a strategy can deliver the wrong bytes fails its trial and says so.
func TestSinkFindsWrongBytes(t *testing.T) {
	for _, c := range []struct {
		name   string
		timing bool // found in timing trials too
		plant  func(f *feed, i int) (client int, p []byte)
		says   string
	}{
		{"flipped payload byte", false, func(f *feed, i int) (int, []byte) {
			f.bufs[i][100] ^= 1
			return f.all[i].client, f.bufs[i]
		}, "payload byte"},
		{"flipped last byte", false, func(f *feed, i int) (int, []byte) {
			f.bufs[i][len(f.bufs[i])-1] ^= 0x80
			return f.all[i].client, f.bufs[i]
		}, "payload byte"},
		{"flipped length", true, func(f *feed, i int) (int, []byte) {
			f.bufs[i][0] ^= 1
			return f.all[i].client, f.bufs[i]
		}, "not a message header"},
		{"offset off by one", true, func(f *feed, i int) (int, []byte) { return f.all[i].client, append(f.bufs[i][1:], 0) }, "not a message header"},
		{"stale buffer", true, func(f *feed, i int) (int, []byte) { return f.all[i].client, f.all[f.last(i)].wire }, "stale"},
		{"payload of another message", false, func(f *feed, i int) (int, []byte) {
			copy(f.bufs[i][load.HeaderBytes:], f.all[f.last(i)].wire[load.HeaderBytes:])
			return f.all[i].client, f.bufs[i]
		}, "payload byte"},
		{"clients swapped", true, func(f *feed, i int) (int, []byte) { return (f.all[i].client + 1) % 3, f.bufs[i] }, "swapped"},
		{"zeros", true, func(f *feed, i int) (int, []byte) { return f.all[i].client, make([]byte, 100) }, "not a message header"},
		{"released memory", true, func(f *feed, i int) (int, []byte) {
			return f.all[i].client, bytes.Repeat([]byte{0xdb}, 64)
		}, "not a message header"},
		{"another run's message", true, func(f *feed, i int) (int, []byte) {
			h := f.all[i].header
			h.Check = load.Check(43, h.Client, h.Seq, h.Length)
			h.Put(f.bufs[i])
			return f.all[i].client, f.bufs[i]
		}, "not a message header"},
	} {
		for _, purpose := range []record.Purpose{record.Verify, record.Timing} {
			for _, cut := range []int{0, 1, load.HeaderBytes - 1, load.HeaderBytes + 1} {
				f := newFeed(t, feedTrial(purpose, nil))
				const at = 20
				for i := range at {
					f.deliver(i)
				}
				client, p := c.plant(f, at)
				f.sink.Deliver(client, p[:cut], at, 0)
				f.sink.Deliver(client, p[cut:], at, 0)
				err := f.sink.Err()
				if want := c.timing || purpose == record.Verify; (err != nil) != want || want && !strings.Contains(err.Error(), c.says) {
					t.Errorf("%s, %s trial, cut at %d: error %v, want %q: %t", c.name, purpose, cut, err, c.says, want)
				}
				if err != nil && f.sink.More(1000) {
					t.Errorf("%s: the trial goes on", c.name)
				}
			}
		}
	}
}

// last is the message before i of the same client.
func (f *feed) last(i int) int {
	for k := i - 1; ; k-- {
		if f.all[k].client == f.all[i].client {
			return k
		}
	}
}

// Memory that a strategy reuses while the application holds a message in it is
// found when the message is released.
func TestVerifyFindsEarlyReuse(t *testing.T) {
	for _, early := range []bool{false, true} {
		f := newFeed(t, feedTrial(record.Verify, func(w *record.Workload) { w.HoldMessages = 3 }))
		for i := range 4 {
			f.deliver(i)
		}
		if freed := slices.Clone(f.sink.TakeFreed()); !slices.Equal(freed, []int32{0}) {
			t.Fatalf("buffers %v are free after four messages of which three are held", freed)
		}
		victim := 0 // free: it may be written to
		if early {
			victim = 1
		}
		f.bufs[victim][300%len(f.bufs[victim])]++
		for i := 4; i < 8; i++ {
			f.deliver(i)
		}
		if err := f.sink.Err(); (err != nil) != early || early && !strings.Contains(err.Error(), "payload byte") {
			t.Errorf("reuse while held: %t, error %v", early, err)
		}
	}
}

// Released memory is overwritten in verify trials, and only there.
func TestPoison(t *testing.T) {
	for _, purpose := range []record.Purpose{record.Verify, record.Timing, record.Counting} {
		for _, hold := range []int{0, 2} {
			f := newFeed(t, feedTrial(purpose, func(w *record.Workload) { w.HoldMessages = hold }))
			for i := range 6 {
				f.deliver(i)
			}
			for i := range 6 {
				poisoned := bytes.Equal(f.bufs[i], bytes.Repeat([]byte{0xdb}, len(f.bufs[i])))
				intact := bytes.Equal(f.bufs[i], f.all[i].wire)
				if want := purpose == record.Verify && i < 6-hold; poisoned != want || intact == want {
					t.Errorf("%s, hold %d: message %d is poisoned: %t, intact: %t", purpose, hold, i, poisoned, intact)
				}
			}
		}
	}
}

// Touching the payload reads all of it, the header only does not.
func TestTouch(t *testing.T) {
	for touch, want := range map[string]bool{"payload": true, "header": false} {
		for _, hold := range []int{0, 2} {
			f := newFeed(t, feedTrial(record.Timing, func(w *record.Workload) { w.Touch, w.HoldMessages, w.Assembly = touch, hold, "vectored" }))
			var sum uint64
			for i, m := range f.all {
				half := len(m.wire) / 2
				f.sink.Deliver(m.client, f.bufs[i][:half], int32(i), 0)
				f.sink.Deliver(m.client, f.bufs[i][half:], int32(i), 0)
				sum += load.Sum(m.wire)
			}
			if got := f.sink.touched; (got == sum) != want || !want && got != 0 {
				t.Errorf("touch %s, hold %d: sum %d, that of all bytes is %d", touch, hold, got, sum)
			}
		}
	}
}

func TestForceRelease(t *testing.T) {
	f := newFeed(t, feedTrial(record.Timing, func(w *record.Workload) { w.HoldMessages = 5 }))
	if f.sink.ForceRelease() {
		t.Error("released a message where there is none")
	}
	for i := range 4 {
		f.deliver(i)
	}
	for i := range 4 {
		if !f.sink.ForceRelease() || !slices.Equal(f.sink.TakeFreed(), []int32{int32(i)}) {
			t.Errorf("the oldest message, %d, was not released", i)
		}
	}
	if f.sink.ForceRelease() || f.sink.forced != 4 || f.sink.Holding() != 0 {
		t.Errorf("%d forced, %d held", f.sink.forced, f.sink.Holding())
	}
	timed := newFeed(t, feedTrial(record.Timing, func(w *record.Workload) { w.HoldNS = 1e9 }))
	timed.deliver(0)
	if timed.sink.ForceRelease() || timed.sink.Holding() != 1 || timed.sink.forced != 0 {
		t.Error("a message held for a time was released before it")
	}
	if ns := timed.sink.WaitNS(); ns < 1 || ns > 1e9 {
		t.Errorf("wait %d ns for a message", ns)
	}
	timed.sink.ReleaseDue(999_999_999)
	if timed.sink.Holding() != 1 {
		t.Error("a message was released before its time")
	}
	timed.sink.ReleaseDue(1_000_000_000)
	if timed.sink.Holding() != 0 || timed.sink.WaitNS() != 1e9 {
		t.Error("a message is held after its time")
	}
}

// A clock that wraps does not keep a message for ever.
func TestReleaseAcrossTheWrap(t *testing.T) {
	f := newFeed(t, feedTrial(record.Timing, func(w *record.Workload) { w.HoldNS = 1000 }))
	end := ^uint64(0)
	f.sink.Deliver(f.all[0].client, f.bufs[0], 0, end-500)
	f.sink.ReleaseDue(end)
	if f.sink.Holding() != 1 {
		t.Fatal("released before its time")
	}
	f.sink.ReleaseDue(499)
	if f.sink.Holding() != 0 {
		t.Error("not released after its time")
	}
}

func TestSinkRefusesWhatDoesNotFit(t *testing.T) {
	tr := feedTrial(record.Timing, nil)
	f := newFeed(t, tr)
	h := load.Header{Length: 1 << 20, Client: 0, Seq: 7, Check: load.Check(tr.Seed, 0, 7, 1<<20)}
	b := make([]byte, 5000)
	h.Put(b)
	for i := range 3 { // in pieces apart, so that they are put together
		f.sink.Deliver(0, b[i*1600:][:1500], int32(i), 0)
	}
	if err := f.sink.Err(); err == nil || !strings.Contains(err.Error(), "a message of more than") {
		t.Errorf("a message beyond the largest: error %v", err)
	}
	gone := newFeed(t, tr)
	gone.sink.Gone(2, nil)
	gone.sink.Gone(1, nil)
	if err := gone.sink.Err(); err == nil || !strings.Contains(err.Error(), "client 2 after 0 messages: the generator closed") {
		t.Errorf("a closed connection: error %v", err)
	}
}

// More messages than the assembly pool's least can be held contiguous at once.
func TestAssemblyTakesAllHeldMessages(t *testing.T) {
	a, err := newAssemblyPool(100, assemblyLeast+5)
	if err != nil {
		t.Fatal(err)
	}
	defer (&Sink{assembly: a}).close()
	for i := range assemblyLeast + 5 {
		if id := a.get(); int(id) != i {
			t.Fatalf("buffer %d is %d", i, id)
		}
	}
	if a.get() != -1 {
		t.Error("more buffers than there are")
	}
	a.put(7)
	a.put(3)
	if x, y := a.get(), a.get(); x != 3 || y != 7 {
		t.Errorf("buffers %d and %d, want the last returned first", x, y)
	}
}
