package uringimpl

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

const scalePairs = 20 // an even number: each side goes first as often as the other

// side is one of two things compared: a case under a workload.
type side struct {
	strategy harness.Strategy
	params   map[string]string
	w        record.Workload
	messages int
}

// cost is the CPU time of a message of a side, in seconds, from a timing trial in
// processes of its own.
func (s side) cost(b *testing.B, seed int) float64 {
	b.Helper()
	tr := newTrial(s.strategy.Name, s.params, s.w, record.Timing, s.messages)
	// Each client's buffers are touched once: nothing faults in the window.
	tr.Warmup = min(tr.Warmup, s.w.Clients*(int(s.w.BudgetBytes/load.Largest(s.w.Sizes))+2))
	tr.Seed, tr.CPU, tr.OtherCPU = uint64(seed), 0, 1%runtime.NumCPU()
	return runChild(b, tr).Metrics["cpu_per_msg"].Float64()
}

// compareSides runs two sides in pairs that take turns at going first and gives
// the ratio of their CPU time a message, x over y, with its exact 95 % interval.
func compareSides(b *testing.B, x, y side) {
	b.Helper()
	sides, last := [...]side{x, y}, [2]float64{}
	var sums [2]float64
	var logs []float64
	for pair := range scalePairs {
		first := pair % 2
		for _, i := range [...]int{first, 1 - first} {
			last[i] = sides[i].cost(b, pair)
			sums[i] += last[i]
		}
		logs = append(logs, math.Log(last[0]/last[1]))
	}
	e := analyze.HodgesLehmann(logs, 0.05)
	b.ReportMetric(math.Exp(e.Value), "ratio")
	b.ReportMetric(math.Exp(e.Lo), "ratio-low")
	b.ReportMetric(math.Exp(e.Hi), "ratio-high")
	b.ReportMetric(sums[0]/scalePairs*1e9, "cpu-ns/msg")
	b.ReportMetric(sums[1]/scalePairs*1e9, "cpu-ns/msg-base")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkClients gives what a message costs with 2048 clients over what it costs
// with 64, under one rate for all of them. Run it on a quiet machine:
//
//	go test ./uringimpl -run '^$' -bench Clients -benchtime 1x
func BenchmarkClients(b *testing.B) {
	for _, s := range append(providedStrategies(), slot, epollRead) {
		for _, p := range groupings(s) {
			b.Run(fmt.Sprintf("%s/group=%s", s.Name, p["group"]), func(b *testing.B) {
				many := record.Workload{
					Kind: "receive", Transport: "tcp", Clients: 2048, Sizes: record.Sizes{Kind: "fixed", Bytes: 1000},
					BudgetBytes: 32 << 10, Load: record.Load{Mode: "open", RateHz: 50_000}, Assembly: "contiguous", Touch: "header",
				}
				few := many
				few.Clients = 64
				for range b.N {
					compareSides(b, side{s, p, many, 20_000}, side{s, p, few, 20_000})
				}
			})
		}
	}
}

// BenchmarkBytes gives the CPU time of a byte received with each strategy over
// that of single-shot receives into chunks of 4 KiB, under a closed load that
// always has bytes waiting.
func BenchmarkBytes(b *testing.B) {
	w := record.Workload{
		Kind: "receive", Transport: "tcp", Clients: 16, Sizes: record.Sizes{Kind: "fixed", Bytes: 64 << 10},
		BudgetBytes: 1 << 20, Load: record.Load{Mode: "closed", Depth: 8}, Assembly: "vectored", Touch: "header",
	}
	base := side{ringFixed, map[string]string{"chunk": "4KiB", "multishot": "false"}, w, 20_000}
	for _, c := range []struct {
		strategy harness.Strategy
		params   map[string]string
	}{
		{ringFixed, map[string]string{"chunk": "4KiB"}},
		{ringBundle, map[string]string{"chunk": "4KiB", "multishot": "false"}},
		{ringBundle, map[string]string{"chunk": "4KiB"}},
		{ringInc, map[string]string{"multishot": "false"}},
		{ringInc, nil},
		{ringIncBundle, nil},
	} {
		b.Run(fmt.Sprintf("%s/%v", c.strategy.Name, c.params), func(b *testing.B) {
			for range b.N {
				compareSides(b, side{c.strategy, c.params, w, 20_000}, base)
			}
		})
	}
}
