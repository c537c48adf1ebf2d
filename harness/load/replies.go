package load

import (
	"errors"
	"fmt"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// ReplyKey is the key of the bytes one client is answered with, its replies one
// after the other: another stream than the one it is sent.
func ReplyKey(seed uint64, client int) uint64 { return mix(StreamKey(seed, client) + golden) }

// replyReader takes in what the receiver answers, so that no reply waits for
// room in a socket, and checks its bytes in verify trials. It reads what is there
// and never waits.
type replyReader struct {
	seed   uint64
	bytes  uint64 // of a reply
	verify bool
	ep     int
	fds    []int
	got    []uint64 // per client: bytes received
	want   []uint64 // per client: bytes due for the messages sent
	behind int      // clients of whom more is due
	events []unix.EpollEvent
	buf    []byte
}

// replyReadBytes is how much is read at once.
const replyReadBytes = 256 << 10

// newReplyReader returns nil for a trial without replies.
func newReplyReader(t record.Trial, fds []int) (*replyReader, error) {
	if t.Workload.ReplyBytes == 0 {
		return nil, nil
	}
	if t.Workload.Transport == "udp" {
		return nil, errors.New("replies over udp: a lost one would hold up the trial for good; use tcp or unix")
	}
	r := &replyReader{
		seed: t.Seed, bytes: uint64(t.Workload.ReplyBytes), verify: t.Purpose == record.Verify,
		fds: fds, got: make([]uint64, len(fds)), want: make([]uint64, len(fds)),
		events: make([]unix.EpollEvent, min(len(fds), 512)), buf: make([]byte, replyReadBytes),
	}
	var err error
	if r.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create for replies: %w", err)
	}
	for c, fd := range fds {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c)}
		if err := unix.EpollCtl(r.ep, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return nil, errors.Join(fmt.Errorf("epoll_ctl for replies: %w", err), r.close())
		}
	}
	return r, nil
}

// sent notes that a message to a client is wholly sent, so that a reply is due.
func (r *replyReader) sent(client int) {
	if r == nil {
		return
	}
	if r.got[client] == r.want[client] {
		r.behind++
	}
	r.want[client] += r.bytes
}

// outstanding tells whether replies are due that have not come.
func (r *replyReader) outstanding() bool { return r != nil && r.behind > 0 }

// drain reads what has come.
func (r *replyReader) drain() error {
	if !r.outstanding() {
		return nil
	}
	n, err := unix.EpollWait(r.ep, r.events, 0)
	if err == unix.EINTR {
		return nil
	}
	if err != nil {
		return fmt.Errorf("wait for replies: %w", err)
	}
	for _, ev := range r.events[:n] {
		if err := r.read(int(ev.Fd)); err != nil {
			return err
		}
	}
	return nil
}

// read takes in one buffer of a client's replies; level triggering tells of the
// rest.
func (r *replyReader) read(c int) error {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(r.fds[c]), bytesPtr(r.buf), uintptr(len(r.buf)), unix.MSG_DONTWAIT, 0, 0)
	switch {
	case errno == unix.EAGAIN || errno == unix.EINTR:
		return nil
	case errno == unix.ECONNRESET || errno == 0 && n == 0:
		return r.ended(c)
	case errno != 0:
		return fmt.Errorf("receive the replies of client %d: %w", c, errno)
	}
	if r.verify {
		if i := Mismatch(r.buf[:n], ReplyKey(r.seed, c), r.got[c]); i >= 0 {
			return fmt.Errorf("client %d: byte %d of its replies is wrong", c, r.got[c]+uint64(i))
		}
	}
	r.got[c] += uint64(n)
	switch {
	case r.got[c] > r.want[c]:
		return fmt.Errorf("client %d was answered with %d bytes, only %d are due", c, r.got[c], r.want[c])
	case r.got[c] == r.want[c]:
		r.behind--
	}
	return nil
}

// ended is told that a client's connection is closed, which is its right once
// it has answered everything.
func (r *replyReader) ended(c int) error {
	if r.got[c] < r.want[c] {
		return fmt.Errorf("client %d sent %d of %d bytes of replies: %w", c, r.got[c], r.want[c], errGone)
	}
	if err := unix.EpollCtl(r.ep, unix.EPOLL_CTL_DEL, r.fds[c], nil); err != nil {
		return fmt.Errorf("forget client %d, which has closed: %w", c, err)
	}
	return nil
}

func (r *replyReader) close() error {
	if r == nil {
		return nil
	}
	return unix.Close(r.ep)
}

func (g *generator) fds() []int {
	fds := make([]int, len(g.out))
	for i := range g.out {
		fds[i] = g.out[i].fd
	}
	return fds
}

// awaitReplies returns when every message sent is answered.
func (g *generator) awaitReplies() error {
	for spins := 0; g.replies.outstanding(); spins++ {
		if err := g.replies.drain(); err != nil {
			return err
		}
		// A receiver may go right after its last reply, which is then on its way:
		// who goes before that is told by the reader.
		if err := g.pause(spins); err != nil && err != errGone {
			return err
		}
	}
	return nil
}
