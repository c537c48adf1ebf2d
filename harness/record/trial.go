// Package record holds what a run writes down: the Trial a child is asked to
// run, the Record it answers with, the metrics and the environment they were
// measured in, and the result file that keeps them. It imports the standard
// library only.
package record

// Schema is the version of every type in this package as stored on disk.
const Schema = 1

// Purpose says what a trial is for. A timing trial does nothing but the work;
// a counting trial also counts; a verify trial checks every payload byte.
type Purpose string

// Purposes of a trial. Capacity and Floor are timing trials of the harness
// itself: the closed-loop capacity open loads are fractions of, and the null
// strategy's cost.
const (
	Timing   Purpose = "timing"
	Counting Purpose = "counting"
	Verify   Purpose = "verify"
	Capacity Purpose = "capacity"
	Floor    Purpose = "floor"
)

// SizePoint is one step of a cumulative size distribution.
type SizePoint struct {
	Bytes int64   `json:"bytes"`
	Cum   float64 `json:"cum"` // share of messages of at most Bytes, 0 < Cum <= 1
}

// Sizes is a distribution of message sizes in bytes, header included.
type Sizes struct {
	Kind   string      `json:"kind"`             // fixed, uniform, lognormal, bimodal, cdf
	Bytes  int64       `json:"bytes,omitempty"`  // fixed
	Min    int64       `json:"min,omitempty"`    // uniform; floor of the others
	Max    int64       `json:"max,omitempty"`    // uniform; ceiling of the others
	Median int64       `json:"median,omitempty"` // lognormal
	Sigma  float64     `json:"sigma,omitempty"`  // lognormal, of the natural logarithm
	Small  int64       `json:"small,omitempty"`  // bimodal
	Large  int64       `json:"large,omitempty"`  // bimodal
	Share  float64     `json:"share,omitempty"`  // bimodal: share of large messages
	Points []SizePoint `json:"points,omitempty"` // cdf, rising
}

// Load says how messages are offered. Closed keeps Depth messages of each
// client outstanding; open sends at RateHz whatever the receiver does;
// lockstep keeps one message in flight over all clients.
type Load struct {
	Mode     string  `json:"mode"`               // closed, open, lockstep
	Depth    int     `json:"depth,omitempty"`    // closed
	Fraction float64 `json:"fraction,omitempty"` // open: of the measured capacity
	RateHz   float64 `json:"rate_hz,omitempty"`  // open: messages per second, filled in when known
}

// Workload is one point of the workload axes: what every strategy sees alike.
// Which members matter depends on the kind.
type Workload struct {
	Kind         string `json:"kind"`                // receive, rdma-post-recv, ...
	Transport    string `json:"transport,omitempty"` // tcp, unix, udp
	Clients      int    `json:"clients,omitempty"`
	Sizes        Sizes  `json:"sizes"`
	BudgetBytes  int64  `json:"budget_bytes,omitempty"` // buffer memory per client
	Load         Load   `json:"load"`
	HoldMessages int    `json:"hold_messages,omitempty"` // messages in the application's hands at once
	HoldEach     int    `json:"hold_each,omitempty"`     // or of each client, its latest
	HoldNS       int64  `json:"hold_ns,omitempty"`       // or how long each is kept
	Assembly     string `json:"assembly,omitempty"`      // contiguous, vectored
	Touch        string `json:"touch,omitempty"`         // header, payload
	// QuietShare of the clients get only QuietTraffic of the messages; both 0:
	// all clients get the same.
	QuietShare   float64 `json:"quiet_share,omitempty"`
	QuietTraffic float64 `json:"quiet_traffic,omitempty"`
	ReplyBytes   int64   `json:"reply_bytes,omitempty"` // sent back for each message

	Batch       int    `json:"batch,omitempty"`        // work requests a post
	SGEs        int    `json:"sges,omitempty"`         // of a work request
	Bytes       int64  `json:"bytes,omitempty"`        // payload of a work request
	Buffers     string `json:"buffers,omitempty"`      // hot, cold
	ConnectData int64  `json:"connect_data,omitempty"` // private data bytes sent with a connection request
	AcceptData  int64  `json:"accept_data,omitempty"`  // and with its acceptance
	Live        int    `json:"live,omitempty"`         // long-lived allocations among the posts
	LiveBytes   *Sizes `json:"live_bytes,omitempty"`   // and their sizes
}

// Held is how many messages are in the application's hands at most; 0 under a hold
// by time, which does not tell.
func (w Workload) Held() int { return max(w.HoldMessages, w.HoldEach*w.Clients) }

// KindReceive is the kind of workloads in which messages are received; the
// others post, connect or allocate.
const KindReceive = "receive"

// Peer is how a trial reaches its load generator.
type Peer struct {
	Network string `json:"network"` // tcp, unix, udp
	Address string `json:"address"` // 127.0.0.1:PORT; of unix the abstract name, its leading NUL byte as @
	Token   string `json:"token"`   // 32 hex digits, sent first on each connection
}

// Clock says how timestamps in message headers are taken.
type Clock struct {
	Source  string  `json:"source"`   // tsc, monotonic
	TicksHz float64 `json:"ticks_hz"` // ticks per second of Source
}

// Trial is the specification of one measured run of one case, given to the
// child as one JSON object on standard input.
type Trial struct {
	Schema     int               `json:"schema"`
	ID         string            `json:"id"` // unique in the run
	Scenario   string            `json:"scenario"`
	Case       string            `json:"case"`
	Point      string            `json:"point"`
	Strategy   string            `json:"strategy"`
	Params     map[string]string `json:"params,omitempty"`  // canonical text, defaults filled in
	Command    []string          `json:"command,omitempty"` // of strategy exec: the program run as the child, and its arguments
	Workload   Workload          `json:"workload"`
	Purpose    Purpose           `json:"purpose"`
	Build      string            `json:"build,omitempty"` // label of the binary under --ab
	Block      int               `json:"block"`
	Order      int               `json:"order"`            // position in the run
	Repeat     int               `json:"repeat,omitempty"` // of counting trials
	Attempt    int               `json:"attempt,omitempty"`
	Seed       uint64            `json:"seed,string"`
	Warmup     int               `json:"warmup"`   // messages before the window
	Messages   int               `json:"messages"` // messages in the window
	Samples    int               `json:"samples,omitempty"`
	Peer       Peer              `json:"peer"`
	Clock      Clock             `json:"clock"`
	CPU        int               `json:"cpu"` // of the measured thread; -1: not pinned
	OtherCPU   int               `json:"other_cpu"`
	DeadlineMS int64             `json:"deadline_ms"`
	Device     string            `json:"device,omitempty"` // RDMA device; empty: the first active one
	// PlantNS is CPU time burnt for each message on purpose, to find out whether
	// a regression of that size is found.
	PlantNS int64 `json:"plant_ns,omitempty"`
	// ReserveBytes is address space that the strategy reserves beyond its budget
	// and need not touch.
	ReserveBytes int64 `json:"reserve_bytes,omitempty"`
	// SpawnedNS is CLOCK_MONOTONIC when the child was started; 0: unknown.
	SpawnedNS int64 `json:"spawned_ns,omitempty"`
}

// Fingerprint is the work a trial did. All cases of one point, purpose and
// block must report the same.
type Fingerprint struct {
	Ops   int64  `json:"ops"`
	Bytes int64  `json:"bytes"`
	Sum   uint64 `json:"sum,string"` // order-independent sum over messages
}

// Status is the outcome of a trial.
type Status string

// Outcomes of a trial.
const (
	OK      Status = "ok"
	Failed  Status = "failed"
	Skipped Status = "skipped"
)

// Series is a time line of a trial. X is the number of messages received since
// the trial began, Y the sampled level.
type Series struct {
	Name string  `json:"name"`
	Unit string  `json:"unit"`
	X    []int64 `json:"x"`
	Y    []int64 `json:"y"`
}

// Window is what happened around the measured messages.
type Window struct {
	NS          int64 `json:"ns"`
	MinorFaults int64 `json:"minor_faults"`
	MajorFaults int64 `json:"major_faults"`
	Syscalls    int64 `json:"syscalls"`
	Voluntary   int64 `json:"voluntary_switches"`
	Involuntary int64 `json:"involuntary_switches"`
	StealNS     int64 `json:"steal_ns"`
}

// Record is what a child reports of one trial, as one JSON object on fd 3.
type Record struct {
	Schema      int               `json:"schema"`
	Trial       string            `json:"trial"` // the id it was given
	Status      Status            `json:"status"`
	Error       string            `json:"error,omitempty"`
	Remedy      string            `json:"remedy,omitempty"` // of a skip
	Fingerprint Fingerprint       `json:"fingerprint"`
	Window      Window            `json:"window"`
	Metrics     map[string]Value  `json:"metrics,omitempty"`
	Unavailable map[string]string `json:"unavailable,omitempty"` // metric -> reason
	// Histograms by metric name: HdrHistogram V2 compressed, base64, in nanoseconds.
	Histograms map[string]string `json:"histograms,omitempty"`
	Series     []Series          `json:"series,omitempty"`
	WarmupEnd  int64             `json:"warmup_end,omitempty"` // X at which the window began
	Placement  string            `json:"placement,omitempty"`  // which CPU ran what
	Notes      []string          `json:"notes,omitempty"`      // e.g. ring flags in use
	SetupNS    int64             `json:"setup_ns,omitempty"`   // process start to first message
}

// Generator is what the load generator says of the same window.
type Generator struct {
	CPUNS        int64   `json:"cpu_ns"`
	WallNS       int64   `json:"wall_ns"`
	Messages     int64   `json:"messages"`
	Bytes        int64   `json:"bytes"`
	OfferedHz    float64 `json:"offered_hz,omitempty"`
	AchievedHz   float64 `json:"achieved_hz"`
	LateP50NS    int64   `json:"late_p50_ns"` // send start after intended, its own doing
	LateP99NS    int64   `json:"late_p99_ns"`
	BlockedNS    int64   `json:"blocked_ns"`    // time with a full socket while something was due
	BlockedSends int64   `json:"blocked_sends"` // messages that met a full socket
	IdleNS       int64   `json:"idle_ns"`       // time with nothing to send
	Limited      string  `json:"limited"`       // none, generator, receiver
	Error        string  `json:"error,omitempty"`
}
