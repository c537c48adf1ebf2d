package uringimpl

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// repliers are the strategies that answer.
func repliers() []harness.Strategy {
	var out []harness.Strategy
	for _, s := range Strategies() {
		if s.Replies {
			out = append(out, s)
		}
	}
	return out
}

// TestRepliesArrive: every message is answered with the bytes the seed says,
// which the generator checks, whatever the transport, the load and the size:
// larger replies than a socket takes at once among them.
func TestRepliesArrive(t *testing.T) {
	names := map[string]bool{}
	for _, s := range repliers() {
		names[s.Name] = true
		for _, transport := range []string{load.TCP, load.Unix} {
			for _, reply := range []int64{1, 1000, 64 << 10, 6 << 20} {
				for _, depth := range []int{1, 8} {
					t.Run(fmt.Sprintf("%s/%s/%d/depth=%d", s.Name, transport, reply, depth), func(t *testing.T) {
						w := wild()
						w.Transport, w.ReplyBytes, w.Load.Depth = transport, reply, depth
						w.BudgetBytes = max(w.BudgetBytes, reply)
						answered(t, s, w, record.Verify, max(10, min(300, int(32<<20/reply))))
					})
				}
			}
		}
	}
	for _, want := range []string{"slot", "heap", "epoll-read"} {
		if !names[want] {
			t.Errorf("%s does not reply", want)
		}
	}
}

// answered runs a trial with replies, which must pass.
func answered(t *testing.T, s harness.Strategy, w record.Workload, purpose record.Purpose, messages int) record.Record {
	t.Helper()
	values, err := s.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(w, values); err != nil {
		t.Fatal(err)
	}
	tr := newTrial(s.Name, values, w, purpose, messages)
	tr.Peer.Network = w.Transport
	tr.Warmup = min(tr.Warmup, 16)
	rec, _ := runTrial(t, tr, nil)
	if rec.Status != record.OK {
		t.Fatal(rec.Error)
	}
	if want := load.NewSchedule(tr).Fingerprint(tr.Seed); rec.Fingerprint != want {
		t.Errorf("work %+v, want %+v", rec.Fingerprint, want)
	}
	return rec
}

// TestRepliesUnderEveryLoad: open and timed trials are answered too.
func TestRepliesUnderEveryLoad(t *testing.T) {
	for _, s := range repliers() {
		w := wild()
		w.ReplyBytes = 3000
		for _, l := range []record.Load{{Mode: "open", RateHz: 20_000}, {Mode: "closed", Depth: 16}} {
			for _, purpose := range []record.Purpose{record.Timing, record.Verify} {
				t.Run(fmt.Sprintf("%s/%s/%s", s.Name, l.Mode, purpose), func(t *testing.T) {
					w.Load = l
					answered(t, s, w, purpose, 500)
				})
			}
		}
	}
}

// TestSpoiltRepliesFail: a reply of one byte too many or too few fails the trial.
func TestSpoiltRepliesFail(t *testing.T) {
	for _, by := range []int{1, -1} {
		t.Run(fmt.Sprint(by), func(t *testing.T) {
			s := altered(slot, func(r harness.Receiver) harness.Receiver {
				r.(slots).out.reply += by
				return r
			})
			w := wild()
			w.ReplyBytes = 500
			tr := newTrial(s.Name, nil, w, record.Verify, 100)
			tr.Warmup, tr.DeadlineMS = 16, 3000
			if rec, _ := runTrialOf(t, tr, harness.Registry{s}, nil); rec.Status != record.Failed {
				t.Errorf("the trial is %s", rec.Status)
			}
		})
	}
}

// TestReplyCounts: in lockstep a message and its reply cost io_uring two calls
// and three requests at most, epoll three calls, and that repeats.
func TestReplyCounts(t *testing.T) {
	for _, s := range repliers() {
		for _, reply := range []int64{100, 20_000} {
			t.Run(fmt.Sprintf("%s/%d", s.Name, reply), func(t *testing.T) {
				w := wild()
				w.ReplyBytes = reply
				w.Sizes = record.Sizes{Kind: "fixed", Bytes: 3000}
				a := answered(t, s, w, record.Counting, 200)
				b := answered(t, s, w, record.Counting, 200)
				for _, name := range []string{"syscalls", "sqes", "cqes", "receives", "send_pages_end", "send_pages_peak", "reclaims"} {
					if x, y := a.Metrics[name], b.Metrics[name]; x != y {
						t.Errorf("%s is %v, then %v", name, x, y)
					}
				}
				want := int64(2)
				if s.Needs == "" {
					want = 3 // epoll_wait, read, send
				}
				if v := a.Metrics["syscalls"]; v.Num != want*v.Den {
					t.Errorf("%v system calls, want %d", v, want)
				}
			})
		}
	}
}

// TestReplyIsRefused: a strategy that does not answer is not given work to answer.
func TestReplyIsRefused(t *testing.T) {
	w := wild()
	w.ReplyBytes = 100
	for _, s := range Strategies() {
		v, err := s.Complete(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Check(w, v); s.Replies != (err == nil) || err != nil && !strings.Contains(err.Error(), "does not reply") {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	for _, s := range []harness.Strategy{slot, epollRead} {
		v, _ := s.Complete(nil)
		w.ReplyBytes = w.BudgetBytes + 1
		if err := s.Check(w, v); err == nil || !strings.Contains(err.Error(), "send half") {
			t.Errorf("%s: replies larger than its range: %v", s.Name, err)
		}
	}
}

// TestSendHalfPages: to the page, the send half holds what replies touched,
// whatever they are cleared with, and nothing once given back.
func TestSendHalfPages(t *testing.T) {
	for _, s := range []harness.Strategy{slot, epollRead} {
		for _, reclaim := range []string{"none", "memset", "dontneed", "free"} {
			for _, reply := range []int64{100, 4096, 4097, 30_000} {
				t.Run(fmt.Sprintf("%s/%s/%d", s.Name, reclaim, reply), func(t *testing.T) {
					w := still(1000, 64<<10)
					w.ReplyBytes = reply
					tr := newTrial(s.Name, map[string]string{"reclaim": reclaim}, w, record.Counting, 256)
					rec, _ := runTrial(t, tr, nil)
					if rec.Status != record.OK {
						t.Fatal(rec.Error)
					}
					at := slices.IndexFunc(rec.Series, func(s record.Series) bool { return s.Name == "pages:send" })
					if reclaim == "dontneed" {
						if at >= 0 || rec.Metrics["send_pages_peak"].Num != 0 {
							t.Errorf("a send half that is given back holds %v pages: %v", rec.Metrics["send_pages_peak"], rec.Series)
						}
						return
					}
					got := rec.Series[at]
					seen := map[uint32]bool{}
					clients, done := load.NewSchedule(tr).Client, int64(0)
					for i, x := range got.X {
						// Message x is looked at before it is answered.
						for ; done < x-1; done++ {
							seen[clients[done]] = true
						}
						if want := int64(len(seen)) * pagesOf(reply); got.Y[i] != want {
							t.Fatalf("after %d messages %d pages, want %d", x, got.Y[i], want)
						}
					}
					if v := rec.Metrics["send_pages_end"]; v.Num != got.Y[len(got.Y)-1] {
						t.Errorf("send_pages_end is %v", v)
					}
				})
			}
		}
	}
}
