package harness

import (
	"fmt"
	"math"
	"slices"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// fairness is how a window treated its clients: latencies in nanoseconds, sorted.
type fairness struct {
	quiet, busy []int64 // of the clients of either kind; nil where traffic is even
	spread      float64
	noSpread    string // why it cannot be told
}

// spreadLeast is how many messages of each client a median is taken of at least:
// ten lie above it then.
const spreadLeast = 20

// newFairness splits the latencies of a window by the clients they are of.
func newFairness(w record.Workload, clients []uint32, ns []int64) fairness {
	var f fairness
	if quiet := load.Quiet(w); quiet != nil {
		for i, c := range clients {
			if quiet[c] {
				f.quiet = append(f.quiet, ns[i])
			} else {
				f.busy = append(f.busy, ns[i])
			}
		}
		slices.Sort(f.quiet)
		slices.Sort(f.busy)
	}
	f.spread, f.noSpread = latencySpread(w.Clients, clients, ns)
	return f
}

// latencySpread is the 95th percentile, by nearest rank, of the median latencies
// of the clients over the median of those. Clients that were sent nothing count
// for nothing.
func latencySpread(n int, clients []uint32, ns []int64) (float64, string) {
	of := make([][]int64, n)
	for i, c := range clients {
		of[c] = append(of[c], ns[i])
	}
	var medians []int64
	for c, l := range of {
		switch {
		case len(l) == 0:
			continue
		case len(l) < spreadLeast:
			return 0, fmt.Sprintf("client %d has %d messages in a window, and a median of its latencies takes %d", c, len(l), spreadLeast)
		}
		slices.Sort(l)
		medians = append(medians, l[(len(l)-1)/2])
	}
	if len(medians) < 2 {
		return 0, "there are no two clients to be treated alike"
	}
	slices.Sort(medians)
	rank := int(math.Ceil(.95 * float64(len(medians))))
	return float64(medians[rank-1]) / float64(max(1, medians[(len(medians)-1)/2])), ""
}

// evenTraffic is why figures of quiet clients are missing where there are none.
const evenTraffic = "all clients are sent the same (traffic is even)"

// ofClients is a percentile of the latency of one kind of clients.
func ofClients(pick func(f *fairness) []int64, p float64) func(*Outcome) (record.Value, string) {
	return func(o *Outcome) (record.Value, string) {
		if load.QuietClients(o.Trial.Workload) == 0 {
			return record.Value{}, evenTraffic
		}
		sorted := pick(&o.Fair)
		if len(sorted) == 0 {
			return record.Value{}, "no message of the window goes to such a client"
		}
		ns, reason := quantile(sorted, p)
		return record.Level(float64(ns) / 1e9), reason
	}
}

func quietOnes(f *fairness) []int64 { return f.quiet }
func busyOnes(f *fairness) []int64  { return f.busy }

func clientSpread(o *Outcome) (record.Value, string) {
	return record.Level(o.Fair.spread), o.Fair.noSpread
}

// clientRow is a percentile of the latency of one kind of clients.
func clientRow(name string, pick func(f *fairness) []int64, p float64, of string) row {
	r := timed(name, record.UnitSeconds, "", "fairness", lower, fmt.Sprintf("latency of the messages of %s clients, %g percentile; the median over trials is shown", of, p*100), ofClients(pick, p))
	r.Kind = record.Histogram
	return r
}

// starved is a figure of the verify trial, which runs under the scenario's own load.
func starved(name, help string, from func(*Outcome) (record.Value, string)) row {
	r := varying(counted(name, record.UnitOne, record.PerMessage, "fairness", help, from))
	r.Purpose = record.Verify
	return r
}

// refusals are the receives refused for want of a buffer, and what they are told
// over.
type refusals struct {
	all, quiet    int64
	quietMessages int64
}

func (r refusals) minus(b refusals) refusals {
	return refusals{r.all - b.all, r.quiet - b.quiet, r.quietMessages - b.quietMessages}
}

// refusals adds up what the sink was told. It looks at every client: it is for
// the ends of a window.
func (s *Sink) refusals() (r refusals) {
	for i := range s.conns {
		c := &s.conns[i]
		r.all += int64(c.refused)
		if s.quiet != nil && s.quiet[i] {
			r.quiet += int64(c.refused)
			r.quietMessages += int64(c.count)
		}
	}
	return r
}

func allStarved(o *Outcome) (record.Value, string) {
	return record.Count(o.Refused.all, o.Messages), ""
}

func quietStarved(o *Outcome) (record.Value, string) {
	switch {
	case load.QuietClients(o.Trial.Workload) == 0:
		return record.Value{}, evenTraffic
	case o.Refused.quietMessages == 0:
		return record.Value{}, "no message of the window goes to a quiet client"
	}
	return record.Count(o.Refused.quiet, o.Refused.quietMessages), ""
}
