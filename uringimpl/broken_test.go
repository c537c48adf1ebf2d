package uringimpl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// altered is a strategy of this package whose opened receiver is changed before
// it is used.
func altered(s harness.Strategy, change func(harness.Receiver) harness.Receiver) harness.Strategy {
	open := s.Open
	s.Open = func(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
		r, err := open(b, p)
		if err != nil {
			return nil, err
		}
		return change(r), nil
	}
	return s
}

// handsBackEarly gives every buffer back as soon as the kernel has retired it,
// whoever still holds a message in it.
func handsBackEarly(r *provided, fifos []*ring.IncFIFO, retired func(ring.CQE) bool) {
	take := r.take
	r.take = func(cqes []ring.CQE) error {
		if err := take(cqes); err != nil {
			return err
		}
		for _, c := range cqes {
			if c.Res <= 0 || !retired(c) {
				continue
			}
			client, bid := int(c.UserData), c.BufferID()
			if fifos != nil {
				fifos[client].Push(bid, uint32(r.size))
			}
			at := (client*r.per + int(bid)) * r.size
			if err := r.groups[client].Add(unsafe.Pointer(&r.mem[at]), uint32(r.size), bid); err != nil {
				return err
			}
			r.groups[client].Publish()
		}
		return nil
	}
	// When the last holder lets go, the buffer is back already.
	r.add = func(int, uint16) error { return nil }
}

// brokenStrategies have one mistake each that only a held message suffers from.
func brokenStrategies() map[string]harness.Strategy {
	return map[string]harness.Strategy{
		"chunks handed back while held": altered(ringFixed, func(r harness.Receiver) harness.Receiver {
			handsBackEarly(r.(fixed).provided, nil, func(ring.CQE) bool { return true })
			return r
		}),
		"INC buffers handed back while held": altered(ringInc, func(r harness.Receiver) harness.Receiver {
			inc := r.(*incremental)
			handsBackEarly(inc.provided, inc.fifos, func(c ring.CQE) bool { return c.Flags&ring.CQEBufMore == 0 })
			return r
		}),
		"INC offsets one byte off": altered(ringInc, func(r harness.Receiver) harness.Receiver {
			inc := r.(*incremental)
			inc.mem = inc.mem[1:]
			return unshifted{inc}
		}),
		"slot reused while held": altered(slot, func(r harness.Receiver) harness.Receiver {
			s := r.(slots)
			s.single.took = func(c, n int) error {
				err := s.private.took(c, n)
				if s.ranges[c].cursor > s.private.size/2 && s.single.sink.OpenBytes(c) == 0 {
					s.ranges[c].cursor = 0
				}
				return err
			}
			return s
		}),
	}
}

// unshifted closes what "INC offsets one byte off" moved.
type unshifted struct{ *incremental }

func (u unshifted) Close() error {
	u.mem = unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&u.mem[0]), -1)), len(u.mem)+1)
	return u.incremental.Close()
}

func TestBrokenStrategiesFail(t *testing.T) {
	for name, s := range brokenStrategies() {
		for _, assembly := range []string{"contiguous", "vectored"} {
			t.Run(fmt.Sprintf("%s/%s", name, assembly), func(t *testing.T) {
				w := wild()
				w.BudgetBytes, w.HoldMessages, w.Assembly = 64<<10, 400, assembly
				w.Sizes = record.Sizes{Kind: "uniform", Min: 24, Max: 3000}
				tr := newTrial(s.Name, nil, w, record.Verify, 800)
				rec, _ := runTrialOf(t, tr, harness.Registry{s}, nil)
				if rec.Status != record.Failed {
					t.Fatalf("the trial is %s", rec.Status)
				}
				for _, words := range found {
					if strings.Contains(rec.Error, words) {
						return
					}
				}
				t.Errorf("failed for another reason: %s", rec.Error)
			})
		}
	}
}

// flooded does not reap until its completion ring has overflowed.
type flooded struct {
	fixed
	begun bool
}

var errNoOverflow = errors.New("the completion ring did not overflow")

func (f *flooded) Receive(target uint64) error {
	for stop := time.Now().Add(10 * time.Second); !f.begun; f.begun = f.ring.Overflowed() {
		if err := errors.Join(f.recycle(), f.arm(), f.ring.Enter(0, 0, false)); err != nil {
			return err
		}
		if time.Now().After(stop) {
			return errNoOverflow
		}
	}
	return f.fixed.Receive(target)
}

// TestLoopSurvivesOverflow (FACTS 2.20): when completions overflow, the kernel
// ends the multishot receive; the loop fetches them and asks again.
func TestLoopSurvivesOverflow(t *testing.T) {
	var f *flooded
	s := ringFixed
	s.Open = func(b *harness.Bench, p harness.Values) (harness.Receiver, error) {
		r, err := newFixed(b, p, 64, 2048, 256)
		if err != nil {
			return nil, err
		}
		f = &flooded{fixed: r.(fixed)}
		return f, nil
	}
	w := wild()
	w.Clients, w.Load.Depth, w.Sizes = 1, 4000, record.Sizes{Kind: "fixed", Bytes: 40}
	w.BudgetBytes = 128 << 10
	tr := newTrial(s.Name, nil, w, record.Verify, 2000)
	tr.Warmup = 4000
	rec, _ := runTrialOf(t, tr, harness.Registry{s}, nil)
	if rec.Status != record.OK {
		t.Fatal(rec.Error)
	}
	if n := f.Counters().SQEs; n < 2 {
		t.Errorf("%d receive requests: the multishot was not asked for again", n)
	}
}
