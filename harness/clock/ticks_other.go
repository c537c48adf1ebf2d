//go:build !amd64

package clock

// HasTSC says whether Ticks reads a time stamp counter on this architecture.
const HasTSC = false

// Ticks returns CLOCK_MONOTONIC in nanoseconds: this architecture has no
// counter this package knows how to read.
func Ticks() uint64 { return Monotonic() }
