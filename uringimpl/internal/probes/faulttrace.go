package probes

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// trace is what one reproduction saw, without any judgment.
type trace struct {
	Kernel  string  `json:"kernel"`
	CPUs    int     `json:"cpus"`
	Refused string  `json:"refused,omitempty"` // what the kernel lacks for it
	Failed  string  `json:"failed,omitempty"`  // what broke on the way
	Rounds  []round `json:"rounds,omitempty"`
}

// round is one try. All offsets and lengths are bytes.
type round struct {
	Name    string `json:"name"`
	Times   int    `json:"times,omitempty"`   // equal rounds that are told as one, where many are tried
	Refused string `json:"refused,omitempty"` // what the kernel refused of this round alone
	Buffers int    `json:"buffers,omitempty"` // provided, in the order of their numbers
	Size    int    `json:"size,omitempty"`    // of each buffer
	MinLeft uint32 `json:"min_left,omitempty"`
	Asked   int    `json:"asked,omitempty"`  // length of each request; 0: none stated
	Header  int    `json:"header,omitempty"` // of a completion's bytes, those before the payload
	Sent    []int  `json:"sent,omitempty"`   // length of each message
	CQEs    []cqe  `json:"cqes,omitempty"`
	Head    int    `json:"head"`             // the kernel's head of the ring at the end; -1: not told
	Slots   []slot `json:"slots,omitempty"`  // the ring's entries at the end
	Before  []slot `json:"before,omitempty"` // and at an earlier point that the judge names
	Runs    []run  `json:"runs,omitempty"`   // where in the buffers the sent bytes lie at the end
	Stream  *flow  `json:"stream,omitempty"` // of a long stream, in place of all its completions
	Ended   bool   `json:"ended,omitempty"`  // the socket itself tells the end of its stream
}

// cqe is a completion as it came.
type cqe struct {
	Data  uint64 `json:"data"`
	Res   int32  `json:"res"`
	Flags uint32 `json:"flags"`
}

// slot is an entry of the buffer ring: where in its buffer the kernel would go on,
// and how much it believes to be left.
type slot struct {
	Bid uint16 `json:"bid"`
	At  int    `json:"at"`
	Len int    `json:"len"`
}

// run is a piece of a message found in a buffer.
type run struct {
	Bid     uint16 `json:"bid"`
	At      int    `json:"at"`
	N       int    `json:"n"`
	Message int    `json:"message"`
	From    int    `json:"from,omitempty"` // offset of its first byte in the message, where the bytes tell
}

// flow is a long stream, compared byte by byte with what was sent where the
// completions said it lies.
type flow struct {
	Sent        int `json:"sent"`
	Compared    int `json:"compared"`
	Wrong       int `json:"wrong"`                 // bytes that differ
	Miscalled   int `json:"miscalled,omitempty"`   // completions whose F_BUF_MORE contradicts what is left of the last buffer
	Strange     int `json:"strange"`               // completions that name another buffer than the next
	Completions int `json:"completions"`           // of data
	FirstWrong  int `json:"first_wrong"`           // offset in the stream, -1: none
	LargestRes  int `json:"largest_res"`           // of a completion
	Interrupted int `json:"interrupted,omitempty"` // receives refused for want of a buffer, and asked for again
}

func (c cqe) buffer() bool     { return c.Flags&ring.CQEBuffer != 0 }
func (c cqe) bid() uint16      { return uint16(c.Flags >> ring.CQEBufferShift) }
func (c cqe) bufferMore() bool { return c.Flags&ring.CQEBufMore != 0 }

func (c cqe) String() string {
	text := fmt.Sprintf("res %d", c.Res)
	if c.Res < 0 {
		text = unix.ErrnoName(unix.Errno(-c.Res))
	}
	if c.buffer() {
		text += fmt.Sprintf(" of buffer %d", c.bid())
	}
	if c.bufferMore() {
		text += " with F_BUF_MORE"
	}
	return text
}

func tell(cqes []cqe) string {
	texts := make([]string, len(cqes))
	for i, c := range cqes {
		texts[i] = c.String()
	}
	return "[" + strings.Join(texts, "; ") + "]"
}

// place is where the contract of incremental consumption puts a completion's bytes.
type place struct {
	bid uint16
	at  int
}

// believed follows the completions as a program must that has nothing else to go
// by: it returns where each that names a buffer put its bytes. With several
// requests of one length each completion is of one buffer.
func (r round) believed() ([]place, error) {
	size := max(1, r.Buffers)
	for size&(size-1) != 0 {
		size++
	}
	f := ring.NewIncFIFO(size, r.MinLeft)
	for bid := range r.Buffers {
		f.Push(uint16(bid), uint32(r.Size))
	}
	var out []place
	for _, c := range r.CQEs {
		if !c.buffer() || c.Res < 0 {
			continue
		}
		got, err := f.Take(c.bid(), uint32(c.Res), c.bufferMore())
		if err != nil {
			return nil, err
		}
		out = append(out, place{got.Bid, int(got.Offset) + r.Header})
	}
	return out, nil
}

// found is where each message begins in the buffers, by number of the message.
func (r round) found() map[int]place {
	out := map[int]place{}
	for _, x := range r.Runs {
		if _, ok := out[x.Message]; !ok && x.From == 0 {
			out[x.Message] = place{x.Bid, x.At}
		}
	}
	return out
}

func (p place) String() string { return fmt.Sprintf("buffer %d at %d", p.bid, p.at) }

func places(list []place) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = p.String()
	}
	return strings.Join(texts, ", ")
}
