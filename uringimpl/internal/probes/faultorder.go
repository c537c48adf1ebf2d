package probes

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// The stream of the reports on order: 1 MiB through four buffers of 1 KiB.
const (
	orderBytes   = 1 << 20
	orderBuffers = 4
	orderSize    = 1024
	orderTries   = 8
	// orderStuck bounds the waits in vain of one stream.
	orderStuck = 10
)

var errNoBundles = errors.New("no IORING_FEAT_RECVSEND_BUNDLE")

func collectOrder(flags uint16) func(*trace) error {
	return func(t *trace) error {
		for range orderTries {
			r, err := oneStream(flags)
			if err != nil {
				return err
			}
			t.fold(r)
			if r.Stream.Wrong > 0 {
				break // the rest of such a stream tells nothing
			}
		}
		return nil
	}
}

// fold adds a round, or counts it with an equal one.
func (t *trace) fold(r round) {
	for i := range t.Rounds {
		if t.Rounds[i].same(r) {
			t.Rounds[i].Times++
			return
		}
	}
	r.Times = 1
	t.Rounds = append(t.Rounds, r)
}

// same tells whether two rounds tell the same story; of a stream that came right
// the number of completions is chance.
func (r round) same(o round) bool {
	if (r.Stream == nil) != (o.Stream == nil) || r.Name != o.Name || r.Ended != o.Ended || len(r.CQEs) != len(o.CQEs) {
		return false
	}
	for i, c := range r.CQEs {
		if c != o.CQEs[i] {
			return false
		}
	}
	if r.Stream == nil {
		return true
	}
	a, b := *r.Stream, *o.Stream
	return a.Wrong == 0 && b.Wrong == 0 && a.Strange == b.Strange && a.Miscalled == b.Miscalled && a.Compared == b.Compared
}

// cursor is where the next byte of the stream lies.
type cursor struct {
	slot uint16 // in the order of providing, which is that of the numbers
	at   int
}

// oneStream sends a megabyte to one multishot receive of bundles over TCP and
// compares every byte where the completions put it.
func oneStream(flags uint16) (round, error) {
	g := newRig(orderBuffers, orderSize, flags, 0)
	g.needBundles()
	g.provideAll()
	tx, rx := g.tcpPair()
	r := round{Name: "stream through bundles", Buffers: orderBuffers, Size: orderSize, Sent: []int{orderBytes}, Head: -1,
		Stream: &flow{FirstWrong: -1, Sent: orderBytes}}
	stop := g.pour(tx)
	var at cursor
	armed, idle := false, 0
	for g.err == nil && r.Stream.Compared < orderBytes && r.Stream.Wrong == 0 && idle < orderStuck {
		if !armed {
			g.read(ring.OpRecv, rx, 0, ring.RecvMultishot|ring.RecvBundle, 0)
			armed = true
		}
		got := g.reap(1, patience)
		idle++
		for _, c := range got {
			idle = 0
			armed = c.Flags&ring.CQEMore != 0
			g.follow(&r, &at, c, flags&ring.PbufInc != 0)
		}
	}
	stop()
	return r, g.close()
}

// pour sends the stream from a thread of its own; the function it returns ends it.
func (g *rig) pour(fd int) (stop func()) {
	var done sync.WaitGroup
	if g.err != nil {
		return func() {}
	}
	done.Add(1)
	go func() {
		defer done.Done()
		p := make([]byte, 4096)
		for off := 0; off < orderBytes; off += len(p) {
			for i := range p {
				p[i] = streamByte(off + i)
			}
			for rest := p; len(rest) > 0; {
				n, err := unix.Write(fd, rest)
				if err != nil && err != unix.EINTR {
					return // the receiver gave up
				}
				rest = rest[max(n, 0):]
			}
		}
	}()
	return func() {
		_ = unix.Shutdown(fd, unix.SHUT_RDWR)
		done.Wait()
	}
}

// streamByte tells neighbours, kilobytes and buffers apart.
func streamByte(off int) byte { return byte(off) ^ byte(off>>8*7+off>>10*31) }

// follow compares one completion's bytes and hands the buffers it used up back.
func (g *rig) follow(r *round, at *cursor, c cqe, inc bool) {
	s := r.Stream
	if c.Res == -int32(unix.ENOBUFS) {
		s.Interrupted++
		return
	}
	if c.Res <= 0 || !c.buffer() {
		g.lacking("multishot receives of bundles", []cqe{c})
		g.fail("stream", unix.Errno(-min(c.Res, 0)))
		return
	}
	s.Completions++
	s.LargestRes = max(s.LargestRes, int(c.Res))
	if c.bid() != at.slot%orderBuffers {
		s.Strange++
		at.slot, at.at = c.bid(), 0 // what it says is believed
	}
	for left := int(c.Res); left > 0; {
		bid := at.slot % orderBuffers
		n := min(left, orderSize-at.at)
		for i, b := range g.buffer(bid)[at.at:][:n] {
			if b != streamByte(s.Compared+i) {
				if s.FirstWrong < 0 {
					s.FirstWrong = s.Compared + i
				}
				s.Wrong++
			}
		}
		s.Compared += n
		left -= n
		at.at += n
		if !inc || at.at == orderSize {
			at.slot, at.at = at.slot+1, 0
			if !g.group.Retire(bid) {
				s.Strange++
				return
			}
			g.provide(bid)
		}
	}
	if inc && c.bufferMore() != (at.at > 0) {
		s.Miscalled++
	}
}

func judgeOrder(t trace) judgment {
	rounds, bytes, completions, largest := 0, 0, 0, 0
	for _, r := range t.Rounds {
		s := r.Stream
		if s == nil {
			return unclear("a round without a stream")
		}
		if s.Wrong > 0 || s.Strange > 0 {
			return present("%d bytes through %d buffers of %d: from byte %d on %d bytes are not those sent, and %d of %d completions name another buffer than the next",
				s.Sent, r.Buffers, r.Size, s.FirstWrong, s.Wrong, s.Strange, s.Completions)
		}
		if s.Miscalled > 0 {
			return present("%d bytes through %d buffers of %d: %d of %d completions call the last buffer used up that is not, or the other way round: the first after it is believed to lie elsewhere",
				s.Sent, r.Buffers, r.Size, s.Miscalled, s.Completions)
		}
		if s.Compared < s.Sent {
			return unclear("the stream stopped at byte %d of %d", s.Compared, s.Sent)
		}
		rounds += r.Times
		bytes += s.Compared * r.Times
		completions += s.Completions
		largest = max(largest, s.LargestRes)
	}
	switch {
	case rounds == 0:
		return unclear("no stream was sent")
	case largest <= orderSize:
		return unclear("no completion spanned two buffers, the largest brought %d bytes: nothing was bundled", largest)
	}
	return absent("%d streams in order, %d bytes compared, bundles of up to %d bytes", rounds, bytes, largest)
}
