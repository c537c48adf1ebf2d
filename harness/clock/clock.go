// Package clock stamps events with the time stamp counter where it is
// invariant, and with CLOCK_MONOTONIC where it is not. Stamps of one source are
// comparable between processes on one machine.
package clock

import (
	"fmt"
	"math"
	"time"
)

// Sources of stamps, as stored in a trial.
const (
	SourceTSC       = "tsc"
	SourceMonotonic = "monotonic"
)

// Clock reads one source and turns its ticks into nanoseconds. Make it with New.
type Clock struct {
	Source  string  // SourceTSC or SourceMonotonic
	TicksHz float64 // ticks per second

	tsc        bool
	nsPerTick  float64
	ticksPerNS float64
}

// New returns a clock of source at hz ticks per second. hz is ignored for the
// monotonic source, whose tick is a nanosecond. It is an error to ask for an
// unknown source, for the TSC where there is none, or for a rate that is not a
// positive number.
func New(source string, hz float64) (Clock, error) {
	switch source {
	case SourceMonotonic:
		hz = 1e9
	case SourceTSC:
		if !HasTSC {
			return Clock{}, fmt.Errorf("clock source %q: this architecture has none; use %q", source, SourceMonotonic)
		}
		if !(hz > 0) || math.IsInf(hz, 0) {
			return Clock{}, fmt.Errorf("clock source %q: rate of %v ticks per second; calibrate it first", source, hz)
		}
	default:
		return Clock{}, fmt.Errorf("clock source %q is unknown; use %q or %q", source, SourceTSC, SourceMonotonic)
	}
	return Clock{Source: source, TicksHz: hz, tsc: source == SourceTSC, nsPerTick: 1e9 / hz, ticksPerNS: hz / 1e9}, nil
}

// Choose returns the best clock of the machine whose root directory is root,
// normally "/": the TSC, calibrated for d, when the kernel calls it invariant
// and no skew is seen between CPUs, else CLOCK_MONOTONIC. The text says why.
func Choose(root string, d time.Duration) (Clock, string) {
	mono, _ := New(SourceMonotonic, 0)
	found := Detect(root)
	if found.Source != SourceTSC {
		return mono, found.Reason
	}
	c, err := New(SourceTSC, Calibrate(d))
	if err != nil {
		return mono, err.Error()
	}
	skew, err := c.SyncSkewNS()
	switch {
	case err != nil:
		return c, found.Reason + "; skew between CPUs not measured: " + err.Error()
	case skew > 0:
		return mono, fmt.Sprintf("the TSC of two CPUs differs: it ran %d ns backwards", skew)
	}
	return c, found.Reason + "; no skew seen between CPUs"
}

// Now returns a stamp in ticks of the clock's source. It does not allocate.
func (c *Clock) Now() uint64 {
	if c.tsc {
		return Ticks()
	}
	return Monotonic()
}

// NS turns a difference of two stamps into nanoseconds, rounded to nearest. A
// difference that wrapped below zero comes out negative. It is exact to 1 ns
// up to 2^53 ticks, about a month.
func (c *Clock) NS(delta uint64) int64 {
	return int64(math.RoundToEven(float64(int64(delta)) * c.nsPerTick))
}

// FromNS turns nanoseconds into ticks, rounded to nearest; a negative span
// gives a difference that wraps, the inverse of NS.
func (c *Clock) FromNS(ns int64) uint64 {
	return uint64(int64(math.RoundToEven(float64(ns) * c.ticksPerNS)))
}
