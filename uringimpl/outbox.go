package uringimpl

import (
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// outbox is the send side of strategies that answer: which replies are due, where
// they are composed, and how far they are sent. Each client has one send at a
// time, of all replies composed by then: bytes of two sends on one socket could
// change places when the first is cut short.
type outbox struct {
	sink  *harness.Sink
	reply int // bytes; 0: nothing is answered
	to    []letter
	due   []int32 // clients with something to send and no send under way
	// room returns the memory in which a client's next replies are composed, with
	// room for at least one; done is told when all that was composed there is sent.
	room func(client int) []byte
	done func(client, composed int) error
}

// letter is what is under way to one client: mem[sent:composed] of its replies.
type letter struct {
	mem      []byte
	sent     int
	composed int
	owed     int  // replies due beyond those composed
	listed   bool // in due, or with a send under way
}

func newOutbox(b *harness.Bench) outbox {
	o := outbox{sink: b.Sink, reply: b.Sink.ReplyBytes()}
	if o.reply > 0 {
		o.to, o.due = make([]letter, len(b.FDs)), make([]int32, 0, len(b.FDs))
	}
	return o
}

// collect notes the replies that became due.
func (o *outbox) collect() {
	if o.reply == 0 {
		return
	}
	for _, c := range o.sink.TakeOwed() {
		l := &o.to[c]
		l.owed++
		if !l.listed {
			l.listed = true
			o.due = append(o.due, c)
		}
	}
}

// next returns what a client of due is to be sent now, composing replies where
// nothing is left to send.
func (o *outbox) next(c int) []byte {
	l := &o.to[c]
	if l.composed == 0 {
		l.mem = o.room(c)
		for l.owed > 0 && l.composed+o.reply <= len(l.mem) {
			o.sink.Compose(c, l.mem[l.composed:l.composed+o.reply])
			l.composed += o.reply
			l.owed--
		}
	}
	return l.mem[l.sent:l.composed]
}

// wrote notes that n bytes of what next returned are sent, and reports whether
// there is more to send to the client.
func (o *outbox) wrote(c, n int) (more bool, err error) {
	l := &o.to[c]
	whole := l.sent / o.reply
	l.sent += n
	for range l.sent/o.reply - whole {
		o.sink.Replied(c)
	}
	if l.sent < l.composed {
		return true, nil
	}
	composed := l.composed
	l.mem, l.sent, l.composed = nil, 0, 0
	if err := o.done(c, composed); err != nil {
		return false, err
	}
	l.listed = l.owed > 0
	return l.listed, nil
}

// idle reports whether nothing is due and nothing under way.
func (o *outbox) idle() bool { return o.reply == 0 || o.sink.Owing() == 0 }

// sendRequest marks the completions of sends in their user data.
const sendRequest = 1 << 32

// submit asks the ring for the sends that are due, as far as it has room.
func (o *outbox) submit(r *ring.Ring, fds []int) {
	kept := o.due[:0]
	for _, c := range o.due {
		if r.Full() {
			kept = append(kept, c)
			continue
		}
		p := o.next(int(c))
		e := r.Next()
		e.Opcode, e.Fd, e.UserData = ring.OpSend, int32(fds[c]), uint64(c)|sendRequest
		e.Addr, e.Len = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))), uint32(len(p))
		// With MSG_WAITALL the kernel itself goes on with a send that was cut
		// short (5.19); without, it is asked for again.
		e.OpFlags = unix.MSG_WAITALL | unix.MSG_NOSIGNAL
	}
	o.due = kept
}

// sent takes the completion of a send.
func (o *outbox) sent(c int, res int32) error {
	if res <= 0 {
		o.sink.Gone(c, unix.Errno(-res))
		return nil
	}
	more, err := o.wrote(c, int(res))
	if more {
		o.due = append(o.due, int32(c))
	}
	return err
}
