package verbs

import (
	"time"

	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// Defaults of a queue pair.
const (
	DefaultMinRNRTimer = 12 // 0.64 ms; 0 would mean 655 ms
	DefaultRNRRetry    = 7  // without end
	DefaultDeadline    = 10 * time.Second
	DefaultColdBytes   = 64 << 20 // beyond what a last-level cache slice holds
	defaultDepth       = 1024
)

// Config is one window: a lane and the work every lane of its point gets.
type Config struct {
	Lane  Lane
	Batch int // work requests a batch
	SGEs  int // SGEs a request, or slices of an inline list; 0 is 1; at most 4
	Bytes int // payload of a send, or size of a receive buffer

	Batches int // batches timed in parts: build, post, drop
	Totals  int // batches timed only as a whole, in turn with the others

	// Cold hands over buffers in turn from ColdBytes of memory, so that each has
	// left the cache; otherwise one buffer is used again and again.
	Cold      bool
	ColdBytes int // 0 is DefaultColdBytes

	// Monotonic times by CLOCK_MONOTONIC in ns instead of the TSC in ticks.
	Monotonic bool

	// Ring sends for real in a window that would suppress the doorbell, as windows
	// do anyway where it cannot be suppressed: a segment's completions are then
	// awaited, untimed, before the next.
	Ring bool

	// CountGo counts what lanes in Go allocate in Go. It stops the world around
	// each segment: for counting trials.
	CountGo bool

	Depth int // of the queue posted to, in requests; 0 chooses
	CQE   int // entries of a completion queue; 0 chooses

	RNRRetry    int // 0 is DefaultRNRRetry; NoRetry is none
	MinRNRTimer int // 0 is DefaultMinRNRTimer
	Deadline    time.Duration

	// Around, if set, is called before and after each timed segment, between
	// which nothing but the lane runs: true before, false after.
	Around func(begins bool)
}

// NoRetry as Config.RNRRetry gives up at once.
const NoRetry = -1

// Lap is one batch in parts, in ticks. Build is all a lane does before the
// provider's post, the pass that links the arrays included; Post is the call of
// the provider alone; Drop is what comes after it.
type Lap struct {
	Build, Post, Drop uint64
}

// Total is a run of batches timed as a whole, with no reading of the clock inside.
type Total struct {
	Ticks   uint64
	Batches int
}

// Result is what a window measured.
type Result struct {
	Lane    Lane
	Batches int // all of them, timed either way
	WRs     int
	Laps    []Lap
	Totals  []Total
	Latency []uint64 // ticks from the start of a post to its last completion; full sends only
	Elapsed uint64   // ticks of the whole window, drains and waits included
	Wakeups int      // completion events waited for

	// Faults and waits of the thread inside the segments.
	MinorFaults, MajorFaults, Waits int64

	Suppressed bool   // the provider's doorbell was swallowed: nothing was sent
	Doorbells  uint64 // how many were

	Counts       *shim.Counts // nil when the shim is not preloaded
	GoAllocs     uint64       // of lanes in Go, with Config.CountGo
	GoAllocBytes uint64
	PinnedBytes  int // registered with the device

	ClockTicks uint64 // what one reading of the clock costs, in ticks: part of every span of a Lap
}

// First is the first batch a lane ran in this process.
type First struct {
	Lap         Lap
	MinorFaults int64
	Counts      *shim.Counts
}

// Device is what is known of an RDMA device.
type Device struct {
	Name     string
	Provider string // file of the provider's code
	Library  string // file of libibverbs
	Firmware string

	Port      int
	Active    bool
	LinkLayer string // Ethernet or InfiniBand
	MTU       int    // bytes
	GIDIndex  int
	GID       string // as written, IPv4 where it is mapped
	GIDType   string // RoCE v1, RoCE v2, IB/RoCE v1, or empty

	MaxQPWR, MaxSGE, MaxCQE, MaxMR int
}

// Soft says whether the provider runs on a software device.
func (d Device) Soft() bool {
	return isProvider(d.Provider, "rxe") || isProvider(d.Provider, "siw")
}

// Suppressible says whether the provider's doorbell can be suppressed.
func (d Device) Suppressible() bool { return isProvider(d.Provider, "rxe") }

// AgingConfig is a heap to age: Slots long-lived blocks of MinBytes to MaxBytes,
// of which Replace are replaced while each batch is held. Batches are of 1 to
// MaxBatch requests, drawn from Seed. The control draws and replaces the same
// and posts nothing.
type AgingConfig struct {
	Lane     Lane
	Control  bool
	Seed     uint64
	MaxBatch int
	Bytes    int // of a request
	Slots    int
	Replace  int
	MinBytes int
	MaxBytes int
}

// Setters says whether the provider's ibv_wr_* setters for lists send what they
// are given. rdma-core before 64 on rxe sent no bytes for inline lists and
// corrupted SGE lists of unequal lengths, both with a successful completion.
type Setters struct {
	InlineList, SGEList error // nil when right
}

// Seen is what the null device's queue was given since it was last asked.
type Seen struct {
	Posts, WRs, SGEs, Bytes uint64
	IDs                     uint64 // sum of wr_id
	Payload                 uint64 // sum of the bytes given inline
}
