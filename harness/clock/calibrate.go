package clock

import (
	"math"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// anchor pairs a stamp with CLOCK_MONOTONIC_RAW, both read at nearly one time.
type anchor struct {
	ticks uint64
	ns    int64
}

// anchorTries is how often an anchor is taken to find one nothing interrupted.
const anchorTries = 64

// takeAnchor reads the raw clock between two stamps and keeps the tightest of
// many tries, whose error is at most half its bracket.
func takeAnchor() anchor {
	var best anchor
	least := uint64(math.MaxUint64)
	for range anchorTries {
		var ts unix.Timespec
		before := Ticks()
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC_RAW, &ts); err != nil {
			continue // Calibrate then sees no time pass
		}
		after := Ticks()
		if width := after - before; width < least {
			least = width
			best = anchor{before + width/2, ts.Nano()}
		}
	}
	return best
}

// calibrateParts is how many spans the calibration time is cut into.
const calibrateParts = 5

// Calibrate measures ticks per second against CLOCK_MONOTONIC_RAW, which no
// time daemon slews, over about d. It takes the median rate of the spans
// between one anchor and those at the end of each later part, so that one bad
// anchor does no harm. It returns 0 if the raw clock cannot be read.
func Calibrate(d time.Duration) (hz float64) {
	first := takeAnchor()
	rates := make([]float64, 0, calibrateParts)
	for i := range calibrateParts {
		time.Sleep(d / calibrateParts)
		a := takeAnchor()
		if i < calibrateParts/2 || a.ns <= first.ns {
			continue // short spans only add error
		}
		rates = append(rates, float64(a.ticks-first.ticks)*1e9/float64(a.ns-first.ns))
	}
	if len(rates) == 0 {
		return 0
	}
	slices.Sort(rates)
	return rates[len(rates)/2]
}

const (
	costBatch   = 256 // calls per batch
	costBatches = 63
)

// Cost returns what one Ticks() costs in nanoseconds: the median of batches, by
// CLOCK_MONOTONIC.
func Cost() (ns float64) {
	return batchMedianNS(func() {
		for range costBatch {
			Ticks()
		}
	})
}

// CostNS returns what one Now() of this clock costs in nanoseconds.
func (c *Clock) CostNS() float64 {
	return batchMedianNS(func() {
		for range costBatch {
			c.Now()
		}
	})
}

func batchMedianNS(batch func()) float64 {
	spans := make([]uint64, costBatches)
	for i := range spans {
		start := Monotonic()
		batch()
		spans[i] = Monotonic() - start
	}
	slices.Sort(spans)
	return float64(spans[costBatches/2]) / costBatch
}
