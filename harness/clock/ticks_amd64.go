package clock

// HasTSC says whether Ticks reads a time stamp counter on this architecture.
const HasTSC = true

// Ticks reads the time stamp counter of the CPU it runs on, fenced on both
// sides: RDTSCP then LFENCE (Intel SDM vol. 2B, RDTSCP; AMD APM vol. 3). The
// unit is TSC ticks, not cycles. Earlier stores need not be visible to other
// CPUs yet; that is the same at both ends of an interval. The CPU must have
// rdtscp, which Detect checks.
//
//go:noescape
func Ticks() uint64
