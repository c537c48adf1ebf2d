package uringimpl

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
)

// providedStrategies are those of provided buffers.
func providedStrategies() []harness.Strategy {
	return []harness.Strategy{ringFixed, ringBundle, ringInc, ringIncBundle, provideLegacy}
}

// small are params that leave a strategy few buffers, and the budget they take.
func small(s harness.Strategy) (map[string]string, int64) {
	if strings.HasPrefix(s.Name, "ring-inc") {
		return map[string]string{"entries": "2"}, 40 << 10
	}
	return map[string]string{"chunk": "4KiB", "entries": "6"}, 24 << 10
}

// crossed are all combinations of values of some params.
func crossed(params map[string]string, values map[string][]string) []map[string]string {
	out := []map[string]string{params}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var next []map[string]string
		for _, p := range out {
			for _, v := range values[name] {
				q := maps.Clone(p)
				q[name] = v
				next = append(next, q)
			}
		}
		out = next
	}
	return out
}

// TestProvidedCombinations verifies every byte of each strategy with provided
// buffers, few of them, in each way of grouping, arming and assembling, free and
// with messages held.
func TestProvidedCombinations(t *testing.T) {
	turn, order := 0, []string{"bimodal", "uniform", "lognormal", "fixed"}
	for _, s := range providedStrategies() {
		params, budget := small(s)
		for _, p := range crossed(params, map[string][]string{"group": {"per-client", "shared"}, "multishot": {"true", "false"}}) {
			for _, assembly := range []string{"contiguous", "vectored"} {
				w := wild()
				w.BudgetBytes, w.Assembly = budget, assembly
				for i, held := range holds(w) {
					turn++
					held.Sizes = kinds()[order[turn%len(order)]]
					t.Run(fmt.Sprintf("%s/%v/%s/hold%d", s.Name, p, assembly, i), func(t *testing.T) {
						if !verify(t, s, p, held, 200) {
							t.Error("does not fit")
						}
					})
				}
			}
		}
	}
}

// TestTransports verifies each strategy over each transport. Bundles do not go
// with datagrams.
func TestTransports(t *testing.T) {
	for _, s := range providedStrategies() {
		for _, transport := range []string{"tcp", "unix", "udp"} {
			for _, p := range crossed(map[string]string{}, map[string][]string{"group": {"per-client", "shared"}, "multishot": {"true", "false"}}) {
				t.Run(fmt.Sprintf("%s/%s/%v", s.Name, transport, p), func(t *testing.T) {
					w := wild()
					w.Transport, w.Sizes = transport, record.Sizes{Kind: "uniform", Min: 24, Max: 3000}
					for i, held := range holds(w) {
						if fits := verify(t, s, p, held, 400); fits == (transport == "udp" && strings.Contains(s.Name, "bundle")) {
							t.Errorf("hold %d: fits: %v", i, fits)
						}
					}
				})
			}
		}
	}
}

// TestRecvLimitsPieces: with recv no receive brings more bytes, single and
// multishot, and all still come.
func TestRecvLimitsPieces(t *testing.T) {
	for _, s := range []harness.Strategy{ringInc, ringIncBundle, ringBundle} {
		for _, p := range crossed(map[string]string{"recv": "1500B"}, map[string][]string{"group": {"per-client", "shared"}, "multishot": {"true", "false"}}) {
			t.Run(fmt.Sprintf("%s/%v", s.Name, p), func(t *testing.T) {
				w := wild()
				w.Sizes = record.Sizes{Kind: "fixed", Bytes: 6000}
				if fits := verify(t, s, p, w, 200); !fits && s.Name == ringIncBundle.Name && p["multishot"] == "false" {
					return // the kernel would not keep to it
				} else if !fits {
					t.Fatal("does not fit")
				}
				rec, _ := runTrial(t, newTrial(s.Name, p, w, record.Counting, 200), nil)
				if rec.Status != record.OK {
					t.Fatal(rec.Error)
				}
				if n := rec.Metrics["receives"]; n.Num < 4*n.Den {
					t.Errorf("%d receives for %d messages of 6000 bytes, at most 1500 each", n.Num, n.Den)
				}
			})
		}
	}
}

// TestReplenishCountsRequests: handing chunks back one at a time takes a request
// each, at most as many at a time fewer; a mapped ring takes none.
func TestReplenishCountsRequests(t *testing.T) {
	w := wild()
	w.Sizes = record.Sizes{Kind: "fixed", Bytes: 4000}
	run := func(s harness.Strategy, p map[string]string) (sqes, cqes, reprovides, messages int64) {
		rec, _ := runTrial(t, newTrial(s.Name, p, w, record.Counting, 512), nil)
		if rec.Status != record.OK {
			t.Fatal(rec.Error)
		}
		m := rec.Metrics
		return m["sqes"].Num, m["cqes"].Num, m["reprovides"].Num, m["sqes"].Den
	}
	for _, p := range crossed(map[string]string{}, map[string][]string{
		"group": {"per-client", "shared"}, "replenish": {"1", "32"}, "skip-cqe": {"true", "false"},
	}) {
		sqes, cqes, back, n := run(provideLegacy, p)
		if back < n-4*32 || back > n+4*32 {
			t.Errorf("%v: %d chunks handed back for %d messages", p, back, n)
		}
		if p["replenish"] == "1" && sqes != back || p["replenish"] == "32" && (sqes > back/8 || sqes == 0) {
			t.Errorf("%v: %d requests for %d chunks", p, sqes, back)
		}
		want := n
		if p["skip-cqe"] != "true" {
			want += sqes
		}
		if cqes != want {
			t.Errorf("%v: %d completions, want %d", p, cqes, want)
		}
	}
	for _, p := range crossed(map[string]string{}, map[string][]string{"group": {"per-client", "shared"}, "replenish": {"1", "32"}}) {
		if sqes, cqes, back, n := run(ringFixed, p); sqes != 0 || cqes != n || back < n-4*32 || back > n+4*32 {
			t.Errorf("%v: %d requests, %d completions, %d chunks back for %d messages", p, sqes, cqes, back, n)
		}
	}
}

// TestFitsOfGroups: what a group or a datagram does not allow is refused, with
// what to do.
func TestFitsOfGroups(t *testing.T) {
	for _, c := range []struct {
		strategy, params string
		change           func(*record.Workload)
		want             string // empty: fits
	}{
		{"ring-fixed", "group=shared", func(w *record.Workload) { w.Clients = 512 }, ""},
		{"ring-fixed", "group=shared", func(w *record.Workload) { w.Clients = 513 }, "group: per-client"},
		{"ring-fixed", "", func(w *record.Workload) { w.Clients = 10_000 }, ""},
		{"ring-fixed", "chunk=4KiB", func(w *record.Workload) { w.BudgetBytes = 256 << 20 }, "32768 that a ring takes"},
		{"provide-legacy", "group=shared", func(w *record.Workload) { w.Clients = 1023 }, ""},
		{"provide-legacy", "group=shared", func(w *record.Workload) { w.Clients = 1024 }, "takes 65535"},
		{"ring-inc", "group=shared", func(w *record.Workload) { w.Clients = 16_384 }, ""},
		{"ring-inc-bundle", "group=shared", func(w *record.Workload) { w.Clients = 16_385 }, "fewer clients"},
		{"ring-bundle", "", func(w *record.Workload) { w.Clients = 65_537 }, "group: shared"},
		{"ring-fixed", "chunk=4KiB", func(w *record.Workload) { w.Transport = "udp" }, "would cut datagrams"},
		{"ring-fixed", "chunk=64KiB", func(w *record.Workload) { w.Transport = "udp" }, ""},
		{"provide-legacy", "chunk=4KiB", func(w *record.Workload) { w.Transport = "udp" }, "would cut datagrams"},
		{"ring-inc", "", func(w *record.Workload) { w.Transport = "udp" }, ""},
		{"ring-inc", "entries=8", func(w *record.Workload) { w.Transport = "udp" }, "would cut datagrams"},
		{"ring-inc", "recv=4KiB", func(w *record.Workload) { w.Transport = "udp" }, "recv"},
		{"ring-bundle", "chunk=64KiB", func(w *record.Workload) { w.Transport = "udp" }, "bundles are of streams"},
		{"ring-inc-bundle", "", func(w *record.Workload) { w.Transport = "udp" }, "bundles are of streams"},
	} {
		w := wild()
		c.change(&w)
		given := map[string]string{}
		if k, v, ok := strings.Cut(c.params, "="); ok {
			given[k] = v
		}
		s, _ := registry().Find(c.strategy)
		values, err := s.Complete(given)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Fits(w, values)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s{%s} with %d clients over %s: %v; want %q", c.strategy, c.params, w.Clients, w.Transport, err, c.want)
		}
	}
}
