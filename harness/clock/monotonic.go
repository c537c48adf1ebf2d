package clock

import _ "unsafe" // for go:linkname

// nanotime is CLOCK_MONOTONIC through the vDSO. time.Since reads the same clock
// but counts from the start of the process, and stamps here are compared
// between processes; x/sys makes a real system call of it. The runtime
// promises to keep this name and signature.
//
//go:linkname nanotime runtime.nanotime
//go:noescape
func nanotime() int64

// Monotonic returns CLOCK_MONOTONIC in nanoseconds (clock_gettime(2)).
func Monotonic() uint64 { return uint64(nanotime()) }
