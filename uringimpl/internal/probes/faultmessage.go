package probes

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// A multishot recvmsg puts struct io_uring_recvmsg_out and room for the sender's
// name before each payload.
const (
	recvmsgOut = 16
	nameLen    = 16
	// datagram is such that the fourth meets a tail of 13 bytes in 1024: less than
	// the header.
	datagram     = 305
	datagrams    = 4
	headerBuffer = 1024
	enoughLeft   = recvmsgOut + nameLen
)

// recvMsg asks for a recvmsg into a provided buffer; the header must outlive it.
func (g *rig) recvMsg(fd int, h *unix.Msghdr, multishot uint16, msgFlags uint32) {
	g.submit(func(e *ring.SQE) {
		e.Opcode, e.Flags, e.Fd, e.Ioprio, e.OpFlags = ring.OpRecvMsg, ring.SQEBufferSelect, int32(fd), multishot, msgFlags
		e.Addr, e.Len, e.BufGroup = uint64(uintptr(unsafe.Pointer(h))), 1, rigGroup
	})
}

// collectHeaderTail sends datagrams to a multishot recvmsg until one meets a tail
// too small for its header, without and with a least tail stated.
func collectHeaderTail(t *trace) error {
	for _, minLeft := range []uint32{0, enoughLeft} {
		r := round{Name: "tail smaller than the header", Buffers: 2, Size: headerBuffer, MinLeft: minLeft, Header: recvmsgOut + nameLen, Head: -1}
		g := newRig(2, headerBuffer, ring.PbufInc, minLeft)
		if no, ok := g.err.(refusal); ok && minLeft > 0 {
			r.Refused = no.Error() // before min_left, or without its backport
			g.err = nil
			t.Rounds = append(t.Rounds, r)
			return g.close()
		}
		g.provideAll()
		tx, rx := g.udpPair()
		h := &unix.Msghdr{Namelen: nameLen}
		g.recvMsg(rx, h, ring.RecvMultishot, 0)
		g.lacking("multishot recvmsg", g.reap(1, 0))
		for i := range datagrams {
			g.send(tx, letters(i, datagram))
			r.Sent = append(r.Sent, datagram)
			r.CQEs = append(r.CQEs, g.reap(1, patience)...)
			if n := len(r.CQEs); n > 0 && r.CQEs[n-1].Res < 0 {
				break // it looked for the next before there was one
			}
		}
		r.Runs, r.Slots, r.Head = g.runsOfLetters(), g.slots(), g.head()
		t.Rounds = append(t.Rounds, r)
		err := g.close()
		runtime.KeepAlive(h)
		if err != nil {
			return err
		}
	}
	return nil
}

func judgeHeaderTail(t trace) judgment {
	if len(t.Rounds) != 2 {
		return unclear("%d of 2 rounds ran", len(t.Rounds))
	}
	r, cured := t.Rounds[0], t.Rounds[1]
	cure := "min_left is not known here: " + cured.Refused
	if cured.Refused == "" {
		bad := 0
		for _, c := range cured.CQEs {
			if c.Res < 0 {
				bad++
			}
		}
		cure = fmt.Sprintf("with min_left %d %d of %d failed", cured.MinLeft, bad, len(cured.Sent))
	}
	for i, c := range r.CQEs {
		if c.Res == -int32(unix.EFAULT) {
			left := r.Size - i*(r.Header+r.Sent[0])
			return present("after %d datagrams of %d bytes the receive failed with EFAULT: %d bytes were left of %d, the header takes %d; %s",
				i, r.Sent[0], left, r.Size, r.Header, cure)
		}
	}
	delivered := 0
	for _, c := range r.CQEs {
		if c.buffer() && c.Res > 0 {
			delivered++
		}
	}
	if delivered != datagrams || len(r.CQEs) != datagrams {
		return unclear("%d of %d datagrams came: %s", delivered, datagrams, tell(r.CQEs))
	}
	j := r.judgePlaces("datagrams after a tail smaller than their header")
	if j.Verdict == record.Absent {
		j.Evidence += "; " + cure
	}
	return j
}

// The datagram of the report on truncation, and the buffers it met.
const (
	truncated      = 150
	truncateBuffer = 100
	truncateNext   = 10
)

// collectTruncation receives a datagram larger than a buffer with MSG_TRUNC, and
// a small one after it; by recvmsg, as in the report, and by recv.
func collectTruncation(t *trace) error {
	for _, name := range []string{"recvmsg", "recv"} {
		if err := truncate(t, name); err != nil {
			return err
		}
	}
	return nil
}

func truncate(t *trace, name string) error {
	g := newRig(2, truncateBuffer, ring.PbufInc, 0)
	g.provideAll()
	tx, rx := g.udpPair()
	r := round{Name: name, Buffers: 2, Size: truncateBuffer}
	h := &unix.Msghdr{}
	for i, n := range []int{truncated, truncateNext} {
		g.send(tx, letters(i, n))
		r.Sent = append(r.Sent, n)
		if name == "recvmsg" {
			g.recvMsg(rx, h, 0, unix.MSG_TRUNC)
		} else {
			g.submit(func(e *ring.SQE) {
				e.Opcode, e.Flags, e.Fd, e.OpFlags = ring.OpRecv, ring.SQEBufferSelect, int32(rx), unix.MSG_TRUNC
				e.BufGroup = rigGroup
			})
		}
		r.CQEs = append(r.CQEs, g.reap(1, patience)...)
		if i == 0 {
			r.Before = g.slots()
		}
	}
	r.Runs, r.Slots, r.Head = g.runsOfLetters(), g.slots(), g.head()
	t.Rounds = append(t.Rounds, r)
	err := g.close()
	runtime.KeepAlive(h)
	return err
}

func judgeTruncation(t trace) judgment {
	if len(t.Rounds) == 0 {
		return unclear("nothing was tried")
	}
	all := t.Rounds[0].judgeTruncation()
	for _, r := range t.Rounds[1:] {
		j := r.judgeTruncation()
		switch {
		case j.Verdict == all.Verdict:
			all.Evidence, all.Reason = join(all.Evidence, j.Evidence), join(all.Reason, j.Reason)
		case j.Verdict == record.Present, j.Verdict == record.Inconclusive && all.Verdict == record.Absent:
			all = j
		}
	}
	return all
}

func (r round) judgeTruncation() judgment {
	if len(r.CQEs) != 2 || len(r.Before) != 2 {
		return unclear("%s: the two datagrams did not complete", r.Name)
	}
	next, ok := r.found()[1]
	copied := 0
	for _, x := range r.Runs {
		if x.Message == 0 {
			copied += x.N
		}
	}
	if !ok || copied == 0 {
		return unclear("the datagrams were not found in the buffers: %s", tell(r.CQEs))
	}
	figures := fmt.Sprintf("%s of a datagram of %d bytes into buffers of %d: res %d, %d bytes copied, then %d bytes left in buffer 1, and the next datagram at %v",
		r.Name, r.Sent[0], r.Size, r.CQEs[0].Res, copied, r.Before[1].Len, next)
	switch {
	case next == place{1, 0} && copied <= r.Size:
		return absent("%s", figures)
	case next.bid == 1 && next.at > 0 && copied == r.Size:
		return present("%s", figures)
	}
	return unclear("neither as reported nor as it should be: %s", figures)
}
