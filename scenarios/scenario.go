// Package scenarios holds the scenario files and their format: one question,
// one workload, a baseline and the strategies it compares, how to measure, and
// the claims it decides. It is a leaf: it knows neither the strategies nor the
// metrics, only where in the file each was named.
package scenarios

// SchemaName is the value of the `schema:` key of every scenario file.
const SchemaName = "zcbench/v1"

// Scenario is a parsed file. Sizes are in bytes, times in nanoseconds.
type Scenario struct {
	File string // as given, or the embedded name
	Text string // verbatim
	// Digest is the sha256, in hex, of Text followed by every cdf file it reads.
	Digest string

	Name       string
	Title      string
	Question   string
	Kind       string // one of Kinds
	Workload   Workload
	Strategies []StrategyUse
	Baseline   CaseRef
	Measure    Measure
	Metrics    []string // columns of the table, in order
	Headline   Headline
	Claims     []Claim
	IsSmoke    bool // the smoke overrides are applied
	BuiltIn    bool // no file: it comes with zcbench

	source *source // positions, for errors
}

// Kinds of scenarios: what is measured, and which axes the workload has.
const (
	KindReceive  = "receive"        // messages from sockets
	KindPostRecv = "rdma-post-recv" // batches of receive work requests
	KindPostSend = "rdma-post-send" // batches of send work requests
	KindPayload  = "rdma-payload"   // ways to hand over a small payload
	KindConnect  = "rdma-connect"   // private data of connections
	KindAging    = "alloc-aging"    // the heap under posts among long-lived allocations
)

// Workload holds the axes every strategy sees alike. Lists multiply, in the
// order Axes gives for the kind; axes of other kinds are empty.
type Workload struct {
	// receive
	Transport []string
	Clients   []Clients
	Sizes     []Sizes
	Budget    []int64 // bytes of buffer memory per client
	Load      []Load
	Traffic   []Traffic
	Hold      []Hold
	Assembly  []string // contiguous, vectored
	Touch     []string // header, payload
	Reply     []int64  // bytes sent back for each message

	// rdma-post-recv and rdma-post-send; rdma-payload without SGEs; Batch also
	// alloc-aging
	Batch   []int    // work requests a post
	SGEs    []int    // scatter/gather elements a work request
	Bytes   []int64  // payload bytes a work request
	Buffers []string // hot, cold

	// rdma-connect
	ConnectData []int64 // private data bytes of a connection request
	AcceptData  []int64 // private data bytes of its acceptance

	// alloc-aging
	Live      []int   // long-lived allocations made over the window
	LiveBytes []Sizes // their sizes
}

// Sizes is a distribution of sizes in bytes: of messages, the header included,
// or of allocations.
type Sizes struct {
	Kind   string  // fixed, uniform, lognormal, bimodal, cdf
	Bytes  int64   // fixed
	Min    int64   // uniform; lognormal and cdf: smaller sizes are raised to it, 0: not given, see Floor
	Max    int64   // uniform; lognormal and cdf: larger sizes are cut to it, 0: not given, see Ceiling
	Median int64   // lognormal
	Sigma  float64 // lognormal, of the natural logarithm
	Small  int64   // bimodal
	Large  int64   // bimodal
	Share  float64 // bimodal: of large messages, 0 < Share < 1
	Points []SizePoint
	Name   string // optional label given in the file
}

// SizePoint is one step of a cumulative distribution: the share of sizes of at
// most Bytes. Every size is that of one of the steps.
type SizePoint struct {
	Bytes int64
	Cum   float64
}

// Load is how messages are offered: closed with Depth messages of each client
// outstanding, or open at Fraction of the measured capacity or at RateHz.
type Load struct {
	Mode     string // closed, open
	Depth    int
	Fraction float64
	RateHz   float64
}

// Clients is how many clients there are: N, or with Most as many of N as the
// limits of the machine allow, which the run says where they are fewer.
type Clients struct {
	N    int
	Most bool
}

// Traffic is which clients the messages go to: all alike where Quiet is 0, else
// Quiet of the clients (0 < Quiet < 1) get only Share of the messages
// (0 <= Share < Quiet), each of them alike, and the others the rest.
type Traffic struct {
	Quiet float64
	Share float64
}

// Hold is how long the application keeps a message: a number of messages in
// its hands at once, or a time. Both zero: released at once.
type Hold struct {
	Messages int
	Each     int // messages of each client, its latest
	NS       int64
}

// StrategyUse names a strategy and the values of its params; lists multiply.
type StrategyUse struct {
	Name    string
	Params  map[string][]string // text as written
	Command []string            // of strategy exec
	// Optional says how to get the program of a command that may be missing; the
	// case is then skipped. Empty: a missing program is a fault.
	Optional string
}

// CaseRef names one case: a strategy with the params that pick it out. Its
// params are text as written.
type CaseRef struct {
	Strategy string
	Params   map[string]string
}

// Measure says how much is measured. For the kinds that post, messages are
// posts: batches of work requests; for rdma-connect they are connections.
type Measure struct {
	Blocks           int // of timing trials; 0: there are none
	Messages         int // in the window of a timing trial
	CountingMessages int // in the window of a counting trial
	VerifyMessages   int
	CountingTrials   int     // per case
	Alpha            float64 // family-wise error of the claims
	TimeoutNS        int64   // of one trial
}

// Headline names the figures that answer the question.
type Headline struct {
	A       CaseRef
	B       CaseRef
	Metrics []string
	Plot    string // residency, memory, starvation, waste, latency, effects, pareto
}

// Claim is a sentence the scenario decides; see the design of claims in record.
type Claim struct {
	ID     string
	Text   string
	Source string
	Kind   string // compare, probe, bound
	Metric string
	A      CaseRef
	B      CaseRef
	At     string  // a point id, or all
	Stat   string  // ratio, diff
	Expect string  // less, greater, same
	By     float64 // a share for ratio; seconds, bytes or a plain number for diff
	Needs  string  // class: hardware, soft, guest; empty: any
	Gate   bool
}
