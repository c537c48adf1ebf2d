package verbs

import "fmt"

// Lane is one way of building and posting a batch of work requests.
type Lane int

// Lanes. The order up to WQECopy is that of enum zc_kind in hot.h.
const (
	RecvGuard         Lane = iota // arrays grow from nothing each batch and are freed after the post
	RecvGuardReserved             // the same, room asked for at the start
	RecvGuardReused               // the same, emptied and kept
	RecvArray                     // arrays made once, filled and linked each batch
	RecvArrayStack                // arrays on the stack, cleared, filled and linked each batch
	RecvArrayLinked               // linked once; ids and addresses written each batch
	RecvBare                      // a plain C loop that does what RecvArrayLinked does
	SendGuard
	SendArray
	SendArrayLinked
	SendWREx // ibv_wr_* setters
	InlineOwned
	InlineOwnedList
	InlineBorrowed
	InlineEx
	InlineExList
	SGE
	SGEBounce
	RegisterEach
	WQECopy      // a model of the provider's copy, no device
	RecvGoAppend // Go slices grown by append, pinned, one cgo call a batch
	RecvGoArray  // Go slices made and pinned once
	laneCount
)

// Until says when a caller may use the payload's buffer again.
type Until int

// Ends of a buffer's loan.
const (
	UntilBuilt     Until = iota // the lane, or the setter, has copied it
	UntilPosted                 // the provider's post has copied it
	UntilCompleted              // the device has read it
)

// LaneInfo describes a lane.
type LaneInfo struct {
	Name    string
	Recv    bool
	Payload bool // about the payload rather than the arrays
	Inline  bool // its size is bounded by the device's inline limit
	Ex      bool // needs ibv_wr_*
	Go      bool // allocates or fills in Go
	Model   bool // no device behind it
	Single  bool // takes one SGE a request
	Blocked Until
}

var laneInfo = [laneCount]LaneInfo{
	RecvGuard:         {Name: "guard", Recv: true},
	RecvGuardReserved: {Name: "guard-reserved", Recv: true},
	RecvGuardReused:   {Name: "guard-reused", Recv: true},
	RecvArray:         {Name: "array", Recv: true},
	RecvArrayStack:    {Name: "array-stack", Recv: true},
	RecvArrayLinked:   {Name: "array-linked", Recv: true},
	RecvBare:          {Name: "bare", Single: true, Recv: true},
	SendGuard:         {Name: "guard", Blocked: UntilCompleted},
	SendArray:         {Name: "array", Blocked: UntilCompleted},
	SendArrayLinked:   {Name: "array-linked", Blocked: UntilCompleted},
	SendWREx:          {Name: "wr-ex", Ex: true, Blocked: UntilCompleted},
	InlineOwned:       {Name: "inline-owned", Single: true, Payload: true, Inline: true},
	InlineOwnedList:   {Name: "inline-owned-list", Payload: true, Inline: true},
	InlineBorrowed:    {Name: "inline-borrowed", Payload: true, Inline: true, Blocked: UntilPosted},
	InlineEx:          {Name: "inline-ex", Single: true, Payload: true, Inline: true, Ex: true},
	InlineExList:      {Name: "inline-ex-list", Payload: true, Inline: true, Ex: true},
	SGE:               {Name: "sge", Payload: true, Blocked: UntilCompleted},
	SGEBounce:         {Name: "sge-bounce", Single: true, Payload: true},
	RegisterEach:      {Name: "register-each", Single: true, Payload: true, Blocked: UntilCompleted},
	WQECopy:           {Name: "wqe-copy-model", Single: true, Payload: true, Model: true, Blocked: UntilPosted},
	RecvGoAppend:      {Name: "go-append", Single: true, Recv: true, Go: true},
	RecvGoArray:       {Name: "go-array", Single: true, Recv: true, Go: true},
}

// Info describes the lane.
func (l Lane) Info() LaneInfo {
	if l < 0 || l >= laneCount {
		return LaneInfo{Name: fmt.Sprintf("lane %d", int(l))}
	}
	return laneInfo[l]
}

func (l Lane) String() string {
	i := l.Info()
	switch {
	case i.Recv:
		return "receive " + i.Name
	case i.Payload:
		return "payload " + i.Name
	}
	return "send " + i.Name
}

// Lanes returns every lane in order.
func Lanes() []Lane {
	all := make([]Lane, laneCount)
	for i := range all {
		all[i] = Lane(i)
	}
	return all
}
