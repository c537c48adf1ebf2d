package uringimpl

import (
	"runtime"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// BenchmarkRing gives, for each strategy, what a message costs in a timing trial
// run as zcbench runs it, in processes of its own, under a closed load of wildly
// varying sizes: wall time (ns/op), CPU time (cpu-ns/op), and from a counting
// trial the Go heap (B/op, allocs/op) and the system calls of a message.
//
//	go test ./uringimpl -run '^$' -bench Ring
func BenchmarkRing(b *testing.B) {
	for _, s := range Strategies() {
		b.Run(s.Name, func(b *testing.B) {
			w := wild()
			w.Clients = 16
			n := max(b.N, 20_000) // messages; fewer would measure the start
			b.ReportAllocs()
			timing := newTrial(s.Name, nil, w, record.Timing, n)
			timing.CPU, timing.OtherCPU = 0, 1%runtime.NumCPU()
			timed := runChild(b, timing)
			counts := runChild(b, newTrial(s.Name, nil, w, record.Counting, min(n, 4000)))
			b.ReportMetric(float64(timed.Window.NS)/float64(n), "ns/op")
			b.ReportMetric(timed.Metrics["cpu_per_msg"].Float64()*1e9, "cpu-ns/op")
			b.ReportMetric(counts.Metrics["go_alloc_bytes"].Float64(), "B/op")
			b.ReportMetric(counts.Metrics["go_allocs"].Float64(), "allocs/op")
			if calls, ok := counts.Metrics["syscalls"]; ok { // not known of go-net
				b.ReportMetric(calls.Float64(), "calls/op")
			}
		})
	}
}
