package harness

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

func replyFeed(t *testing.T, purpose record.Purpose, bytes int64) *feed {
	return newFeed(t, feedTrial(purpose, func(w *record.Workload) { w.ReplyBytes = bytes }))
}

// TestRepliesAreOwed: each message consumed is owed one reply, in order, and a
// strategy goes on until all are sent.
func TestRepliesAreOwed(t *testing.T) {
	f := replyFeed(t, record.Verify, 10)
	for i := range 3 {
		f.deliver(i)
	}
	owed := f.sink.TakeOwed()
	if len(owed) != 3 || f.sink.Owing() != 3 || len(f.sink.TakeOwed()) != 0 {
		t.Fatalf("%v owed, %d owing", owed, f.sink.Owing())
	}
	for i, c := range owed {
		if int(c) != f.all[i].client {
			t.Errorf("reply %d is for client %d, want %d", i, c, f.all[i].client)
		}
	}
	for _, c := range owed {
		if !f.sink.More(3) {
			t.Error("the strategy may stop with a reply owed")
		}
		f.sink.Replied(int(c))
	}
	if f.sink.More(3) || f.sink.Owing() != 0 {
		t.Errorf("%d owing, more: %v", f.sink.Owing(), f.sink.More(3))
	}
	f.sink.Replied(0)
	if err := f.sink.Err(); err == nil || !strings.Contains(err.Error(), "not owed") {
		t.Errorf("a reply too many: %v", err)
	}
}

// TestReplyBytesFollowTheSeed: in verify trials replies are one stream a client,
// whatever pieces they are made in.
func TestReplyBytesFollowTheSeed(t *testing.T) {
	f := replyFeed(t, record.Verify, 100)
	got := make([]byte, 300)
	for i := range 3 {
		f.sink.Compose(1, got[i*100:(i+1)*100])
		f.sink.Compose(0, make([]byte, 100))
	}
	want := make([]byte, 300)
	load.Fill(want, load.ReplyKey(f.sink.seed, 1), 0)
	if !bytes.Equal(got, want) {
		t.Error("the replies of client 1 are not its stream")
	}
	big := replyFeed(t, record.Timing, 3*patternBytes+5)
	p := make([]byte, 3*patternBytes+5)
	big.sink.Compose(0, p)
	if bytes.Count(p, []byte{0}) > len(p)/100 {
		t.Error("a reply of a timing trial is not written whole")
	}
}

// TestRepliesAcknowledge: with replies, a message is done when it is answered.
func TestRepliesAcknowledge(t *testing.T) {
	for mode, done := range map[string]func(p *load.Progress) uint64{
		"closed":      func(p *load.Progress) uint64 { return p.Client(0).Load() + p.Client(1).Load() },
		load.Lockstep: func(p *load.Progress) uint64 { return p.Done().Load() },
	} {
		file, err := load.NewProgressFile(4)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := load.MapProgress(int(file.Fd()), 4)
		if err != nil {
			t.Fatal(err)
		}
		f := replyFeed(t, record.Verify, 10)
		f.sink.prog, f.sink.ack = prog, ackClient
		if mode == load.Lockstep {
			f.sink.ack = ackAll
		}
		for i := range 5 {
			f.deliver(i)
		}
		before := done(prog)
		var n [2]uint64
		for _, c := range f.sink.TakeOwed() {
			if c < 2 {
				n[c]++
			}
			f.sink.Replied(int(c))
		}
		want := n[0] + n[1]
		if mode == load.Lockstep {
			want = 5
		}
		if got := done(prog); before != 0 || got != want {
			t.Errorf("%s: %d done before a reply was sent, %d after; want 0, then %d", mode, before, got, want)
		}
		if err := prog.Close(); err != nil {
			t.Error(err)
		}
		file.Close()
	}
}

// TestStrategyCheck: replies are asked only of strategies that say they reply.
func TestStrategyCheck(t *testing.T) {
	w := record.Workload{ReplyBytes: 5}
	if err := (Strategy{Name: "mute"}).Check(w, nil); err == nil || !strings.Contains(err.Error(), "mute does not reply") {
		t.Errorf("%v", err)
	}
	if err := (Strategy{Replies: true}).Check(w, nil); err != nil {
		t.Error(err)
	}
	if err := (Strategy{}).Check(record.Workload{}, nil); err != nil {
		t.Error(err)
	}
}

// TestUnansweredTrial: a trial is not begun that its strategy would never end,
// and the floor under replies is that of the harness.
func TestUnansweredTrial(t *testing.T) {
	w := workload()
	w.ReplyBytes = 10
	mute := Null
	mute.Family = "socket"
	rec := RunTrial(trialOf("null", w, record.Counting, 10), Registry{mute}, nil)
	if rec.Status != record.Failed || !strings.Contains(rec.Error, "does not reply") {
		t.Errorf("%s: %s", rec.Status, rec.Error)
	}
	if rec := RunTrial(trialOf("null", w, record.Floor, 10), Registry{Null}, nil); rec.Status != record.OK {
		t.Errorf("the floor: %s", rec.Error)
	}
}
