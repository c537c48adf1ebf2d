// Package harness turns a scenario into a plan of trials, runs each in a
// process of its own and writes down what happened. It knows no strategy: the
// packages that hold them hand it a list.
package harness

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
	"github.com/zcbench/zcbench/scenarios"
)

// Capabilities a strategy may need of the machine, as named by --require.
const (
	NeedsUring = "uring"
	NeedsRDMA  = "rdma"
)

// Strategy is one way of handling buffers: what a scenario names, and how to
// open it. Adding one is a value of this type in its own file and a line in its
// package's list.
type Strategy struct {
	Name    string
	Family  string // uring, socket, rdma, null
	Summary string // one line for `zcbench list`
	Needs   string // a capability, or empty
	Params  []Param
	// Allocates is set for strategies that are about Go allocation: garbage
	// collection then stays on and its CPU is charged.
	Allocates bool
	// Replies is set for receive strategies that can answer each message, see
	// Sink.ReplyBytes.
	Replies bool
	// Fits refuses a workload the strategy cannot take, saying why. Optional.
	Fits func(w record.Workload, p Values) error
	// Pins returns the bytes a strategy pins with the kernel, which count against
	// RLIMIT_MEMLOCK. Optional; nil: none.
	Pins func(w record.Workload, p Values) int64
	// Open opens a receive strategy. Strategies of the other kinds have Run.
	Open func(b *Bench, p Values) (Receiver, error)
	// Reserves returns the bytes of address space a strategy reserves beyond the
	// budget of its clients, touched or not. Optional.
	Reserves func(w record.Workload, p Values) int64
	// Kinds are the kinds of workload the strategy is for; none: receive.
	Kinds []string
	// Run measures a whole trial of a kind that does not receive and leaves its
	// figures in o. A nil error with o.Skip set is a skip.
	Run func(t record.Trial, p Values, o *Outcome) error
}

// Check refuses a workload the strategy cannot take, saying why.
func (s Strategy) Check(w record.Workload, p Values) error {
	if w.ReplyBytes > 0 && !s.Replies {
		return s.noReply(w)
	}
	if s.Fits == nil {
		return nil
	}
	return s.Fits(w, p)
}

// Does reports whether a strategy is for a kind of workload.
func (s Strategy) Does(kind string) bool {
	if len(s.Kinds) == 0 {
		return kind == record.KindReceive
	}
	return slices.Contains(s.Kinds, kind)
}

// Bench is what the harness hands an opened strategy.
type Bench struct {
	Trial record.Trial
	FDs   []int // connected non-blocking sockets, one a client
	Sink  *Sink
}

// Receiver is an opened strategy. Its methods run on the measured thread.
type Receiver interface {
	// Receive takes in messages until the sink has target of them, or failed.
	Receive(target uint64) error
	// Counters returns the counts so far; the harness takes differences.
	Counters() Counters
	// Memory says what the strategy holds.
	Memory() Memory
	Close() error
}

// Counters are the events of a receive strategy since it was opened.
type Counters struct {
	Enters     uint64 // io_uring_enter calls
	Syscalls   uint64 // all system calls of the measured path, enters included
	SQEs       uint64
	CQEs       uint64
	Receives   uint64 // receives that brought bytes
	NoBufs     uint64 // receives refused for want of a buffer
	Reprovides uint64 // buffers handed back to the kernel
	Wasted     uint64 // bytes of consumed buffers that never held a message
	Copied     uint64 // bytes the strategy copied itself
	Reclaims   uint64 // calls that gave pages back or cleared them
	// Of so many of these calls, the clock ticks they took together.
	ReclaimsTimed, ReclaimTicks uint64
}

func (c Counters) minus(b Counters) Counters {
	return Counters{
		c.Enters - b.Enters, c.Syscalls - b.Syscalls, c.SQEs - b.SQEs, c.CQEs - b.CQEs,
		c.Receives - b.Receives, c.NoBufs - b.NoBufs, c.Reprovides - b.Reprovides,
		c.Wasted - b.Wasted, c.Copied - b.Copied, c.Reclaims - b.Reclaims,
		c.ReclaimsTimed - b.ReclaimsTimed, c.ReclaimTicks - b.ReclaimTicks,
	}
}

// Memory is what a receive strategy holds besides sockets and page tables.
type Memory struct {
	Buffers []residency.Region // where message bytes may live
	GoHeap  bool               // buffers live in the Go heap: its growth is theirs
	Ring    int64              // bytes of rings shared with the kernel, whole pages
	Pinned  int64              // bytes registered with and pinned by the kernel
}

// ParamKind says what values a param takes.
type ParamKind int

// Kinds of params.
const (
	ParamText  ParamKind = iota // one of Values
	ParamBytes                  // a size such as 64KiB
	ParamInt                    // a positive whole number
	ParamBool                   // true or false
	ParamName                   // any text
)

// Param describes one of a strategy's own settings.
type Param struct {
	Name    string
	Kind    ParamKind
	Default string   // canonical text; "auto" is worked out from the workload
	Values  []string // of ParamText
	Help    string
}

// Auto is the default of params that follow from the workload.
const Auto = "auto"

// Canonical checks a value as written and returns its one true spelling.
func (p Param) Canonical(text string) (string, error) {
	if text == Auto && p.Default == Auto {
		return text, nil
	}
	switch p.Kind {
	case ParamBytes:
		n, err := scenarios.ParseBytes(text)
		if err != nil {
			return "", err
		}
		if n <= 0 {
			return "", fmt.Errorf("%s: must be at least one byte", text)
		}
		return scenarios.FormatBytes(n), nil
	case ParamInt:
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil || n <= 0 {
			return "", fmt.Errorf("%q is not a positive whole number", text)
		}
		return strconv.FormatInt(n, 10), nil
	case ParamBool:
		if text != "true" && text != "false" {
			return "", fmt.Errorf("%q is neither true nor false", text)
		}
		return text, nil
	case ParamName:
		if text == "" {
			return "", fmt.Errorf("the text is empty")
		}
		return text, nil
	default:
		if !slices.Contains(p.Values, text) {
			return "", fmt.Errorf("%q is not one of %v", text, p.Values)
		}
		return text, nil
	}
}

// Values are the params of a trial, canonical and complete.
type Values map[string]string

// Bytes returns a size; auto gives def.
func (v Values) Bytes(name string, def int64) int64 {
	if v[name] == Auto {
		return def
	}
	n, err := scenarios.ParseBytes(v[name])
	if err != nil {
		return def
	}
	return n
}

// Int returns a whole number; auto gives def.
func (v Values) Int(name string, def int) int {
	n, err := strconv.Atoi(v[name])
	if err != nil {
		return def
	}
	return n
}

// Bool returns a switch.
func (v Values) Bool(name string) bool { return v[name] == "true" }

// Text returns the canonical text.
func (v Values) Text(name string) string { return v[name] }

// Registry is the list of all strategies by name.
type Registry []Strategy

// Find returns the strategy of a name.
func (r Registry) Find(name string) (Strategy, bool) {
	for _, s := range r {
		if s.Name == name {
			return s, true
		}
	}
	return Strategy{}, false
}

// Names lists the strategies for a kind of workload, in order.
func (r Registry) Names(kind string) []string {
	var out []string
	for _, s := range r {
		if s.Does(kind) {
			out = append(out, s.Name)
		}
	}
	return out
}

// Param returns the description of a param.
func (s Strategy) Param(name string) (Param, bool) {
	for _, p := range s.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}

// Complete returns given params made canonical, with defaults filled in.
func (s Strategy) Complete(given map[string]string) (Values, error) {
	out := Values{}
	for _, p := range s.Params {
		out[p.Name] = p.Default
	}
	for name, text := range given {
		p, ok := s.Param(name)
		if !ok {
			return nil, fmt.Errorf("strategy %s has no param %q", s.Name, name)
		}
		c, err := p.Canonical(text)
		if err != nil {
			return nil, fmt.Errorf("param %s of %s: %w", name, s.Name, err)
		}
		out[name] = c
	}
	return out, nil
}
