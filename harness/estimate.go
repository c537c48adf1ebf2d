package harness

import (
	"time"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// What a trial is taken to cost before anything is measured: starting its
// processes, and handing over a message of some bytes through loopback.
const (
	estimateStart   = 70 * time.Millisecond
	estimateMessage = 5 * time.Microsecond
	estimateKiB     = 400 * time.Nanosecond
	estimateClient  = 80 * time.Microsecond  // connecting and closing one, and its share of a ring
	estimateLock    = 15 * time.Microsecond  // more, in lockstep
	estimatePosts   = 150 * time.Millisecond // a whole trial of posts, in a guest
)

// Estimate is about how long the plan takes to run.
func (p *Plan) Estimate() time.Duration {
	var total time.Duration
	for _, t := range p.Trials {
		total += estimate(t)
	}
	return total
}

func estimate(t record.Trial) time.Duration {
	if t.Workload.Kind != record.KindReceive {
		return estimatePosts
	}
	n := time.Duration(t.Warmup + t.Messages)
	each := estimateMessage + time.Duration(load.Mean(t.Workload.Sizes, 256)/1024*float64(estimateKiB))
	l := t.Workload.Load
	switch {
	case t.Purpose == record.Floor:
		each = 0
	case l.Mode == load.Lockstep:
		each += estimateLock
	case l.Mode == "open" && l.RateHz > 0:
		each = max(each, time.Duration(float64(time.Second)/l.RateHz))
	case l.Mode == "open":
		each = time.Duration(float64(each) / l.Fraction)
	}
	if t.Purpose == record.Floor {
		return estimateStart + n*each
	}
	return estimateStart + time.Duration(t.Workload.Clients)*estimateClient + n*each
}
