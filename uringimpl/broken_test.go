package uringimpl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

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
func handsBackEarly(r *provided) {
	r.back = early{r.back}
}

type early struct{ handback }

func (e early) retire(group int, bid uint16) bool {
	if !e.handback.retire(group, bid) {
		return false
	}
	_, err := e.handback.give(group, []uint16{bid})
	return err == nil
}

// give does nothing: when the last holder lets go, the buffer is back already.
func (e early) give(_ int, bids []uint16) (int, error) { return len(bids), nil }

// offByOne has every INC offset one byte off, within the buffer.
func offByOne(inc *incremental) {
	account := inc.account
	inc.account = func(f *ring.IncFIFO, bid uint16, n uint32, more bool) (ring.Consumed, uint32, error) {
		got, rest, err := account(f, bid, n, more)
		if got.Offset+n-rest < uint32(inc.size) {
			got.Offset++
		} else if got.Offset > 0 {
			got.Offset--
		}
		return got, rest, err
	}
}

// providedBy is what an opened strategy has of provided buffers; nil: it names its
// memory itself.
func providedBy(r harness.Receiver) *provided {
	switch v := r.(type) {
	case fixed:
		return v.provided
	case legacyFixed:
		return v.provided
	case bundled:
		return v.provided
	case *incremental:
		return v.provided
	}
	return nil
}

// brokenStrategies have one mistake each that only a held message suffers from.
func brokenStrategies() map[string]harness.Strategy {
	early := func(r harness.Receiver) harness.Receiver {
		handsBackEarly(providedBy(r))
		return r
	}
	shifted := func(r harness.Receiver) harness.Receiver {
		offByOne(r.(*incremental))
		return r
	}
	return map[string]harness.Strategy{
		"chunks handed back while held":              altered(ringFixed, early),
		"bundled chunks handed back while held":      altered(ringBundle, early),
		"chunks handed back by request while held":   altered(provideLegacy, early),
		"INC buffers handed back while held":         altered(ringInc, early),
		"bundled INC buffers handed back while held": altered(ringIncBundle, early),
		"INC offsets one byte off":                   altered(ringInc, shifted),
		"INC offsets of a bundle one byte off":       altered(ringIncBundle, shifted),
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

func TestBrokenStrategiesFail(t *testing.T) {
	for name, s := range brokenStrategies() {
		for _, assembly := range []string{"contiguous", "vectored"} {
			for _, params := range groupings(s) {
				t.Run(fmt.Sprintf("%s/%s/%v", name, assembly, params), func(t *testing.T) {
					breaks(t, s, params, assembly)
				})
			}
		}
	}
}

// groupings are the params of a strategy for each way of grouping its buffers.
func groupings(s harness.Strategy) []map[string]string {
	if _, ok := s.Param("group"); !ok {
		return []map[string]string{nil}
	}
	return []map[string]string{{"group": "per-client"}, {"group": "shared"}}
}

// breaks runs a verify trial of a broken strategy, which must find what is wrong.
func breaks(t *testing.T, s harness.Strategy, params map[string]string, assembly string) {
	t.Helper()
	w := wild()
	w.BudgetBytes, w.HoldMessages, w.Assembly = 64<<10, 400, assembly
	w.Sizes = record.Sizes{Kind: "uniform", Min: 24, Max: 3000}
	tr := newTrial(s.Name, params, w, record.Verify, 800)
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
		r, err := newFixed(b, p, setup{size: 64, per: 2048, completions: 256})
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
