package uringimpl

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// must are the counts that repeat exactly between two trials of one seed.
var must = []string{
	"syscalls", "enters", "sqes", "cqes", "receives", "enobufs", "reprovides", "reclaims", "forced_releases",
	"wasted_bytes", "copied_bytes", "buffer_pages_mean", "buffer_pages_peak", "buffer_pages_end",
	"go_allocs", "go_alloc_bytes", "ring_bytes", "pinned_bytes",
}

// collected are those among them that garbage collection has a hand in: it comes
// when it comes, moves pages, and its workers allocate a little themselves.
var collected = []string{"buffer_pages_mean", "buffer_pages_peak", "buffer_pages_end", "go_allocs", "go_alloc_bytes"}

// counted is a case whose counts are looked at, in processes as zcbench has them.
type counted struct {
	strategy string
	params   map[string]string
	change   func(w *record.Workload)
}

func countedCases() []counted {
	held := func(w *record.Workload) { w.HoldMessages = 24 }
	vectored := func(w *record.Workload) { w.Assembly = "vectored" }
	return []counted{
		{ringFixed.Name, nil, nil},
		{ringFixed.Name, map[string]string{"chunk": "16KiB", "reprovide": "lazy"}, held},
		{ringFixed.Name, map[string]string{"multishot": "false", "reprovide": "eager"}, vectored},
		{ringFixed.Name, map[string]string{"chunk": "4KiB", "entries": "10"}, held},
		{ringInc.Name, nil, nil},
		{ringInc.Name, map[string]string{"zap": "prefix", "entries": "4"}, held},
		{ringFixed.Name, map[string]string{"group": "shared", "replenish": "8"}, held},
		{ringInc.Name, map[string]string{"group": "shared", "zap": "prefix"}, nil},
		{ringInc.Name, map[string]string{"recv": "1500B", "multishot": "false"}, vectored},
		{ringBundle.Name, nil, nil},
		{ringBundle.Name, map[string]string{"group": "shared", "multishot": "false"}, held},
		{ringIncBundle.Name, nil, vectored},
		{ringIncBundle.Name, map[string]string{"group": "shared", "zap": "prefix"}, held},
		{provideLegacy.Name, nil, nil},
		{provideLegacy.Name, map[string]string{"group": "shared", "replenish": "1"}, vectored},
		{provideLegacy.Name, map[string]string{"multishot": "false", "skip-cqe": "true"}, held},
		{slot.Name, nil, nil},
		{slot.Name, map[string]string{"reclaim": "dontneed"}, held},
		{heap.Name, nil, nil},
		{epollRead.Name, nil, vectored},
		{epollRead.Name, map[string]string{"read": "4KiB"}, held},
	}
}

// TestCountsRepeat runs each case twice with one seed, and checks what the
// counts themselves must satisfy.
func TestCountsRepeat(t *testing.T) {
	for _, c := range countedCases() {
		w := wild()
		w.Sizes.Max, w.BudgetBytes = 16<<10, 64<<10
		if c.change != nil {
			c.change(&w)
		}
		t.Run(fmt.Sprintf("%s%v/hold=%d/%s", c.strategy, slices.Sorted(maps.Values(c.params)), w.HoldMessages, w.Assembly), func(t *testing.T) {
			tr := newTrial(c.strategy, c.params, w, record.Counting, 400)
			a, b := runChild(t, tr), runChild(t, tr)
			s, _ := registry().Find(c.strategy)
			for _, name := range must {
				if s.Allocates && slices.Contains(collected, name) {
					continue
				}
				x, ok := a.Metrics[name]
				if !ok {
					t.Errorf("%s: %s", name, a.Unavailable[name])
				}
				if y := b.Metrics[name]; x != y {
					t.Errorf("%s is %v, then %v", name, x, y)
				}
			}
			if !s.Allocates {
				checkFrugal(t, a)
			}
			checkCalls(t, s.Needs, a)
		})
	}
}

// checkFrugal: the measured loop allocates nothing in Go.
func checkFrugal(t *testing.T, rec record.Record) {
	t.Helper()
	for _, name := range []string{"go_allocs", "go_alloc_bytes"} {
		if v := rec.Metrics[name]; v.Num != 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
}

// checkCalls: in lockstep there is one wake-up for a message and one call for a
// wake-up, but for receives that begin anew: after ENOBUFS, for each piece where
// requests are single, and after 32 pieces of a multishot, when the kernel lets
// others go first (MULTISHOT_MAX_RETRY in io_uring/net.c).
func checkCalls(t *testing.T, needs string, rec record.Record) {
	t.Helper()
	m := func(name string) int64 { return rec.Metrics[name].Num }
	messages := rec.Metrics["enters"].Den
	most := messages + m("enobufs") + max(m("sqes")-messages, 0) + (m("receives")+31)/32
	if m("enters") > most {
		t.Errorf("%d calls for %d messages (%d requests, %d receives, %d ENOBUFS): want at most %d",
			m("enters"), messages, m("sqes"), m("receives"), m("enobufs"), most)
	}
	if needs != "" && m("enters") < messages {
		t.Errorf("%d calls for %d messages in lockstep", m("enters"), messages)
	}
}
