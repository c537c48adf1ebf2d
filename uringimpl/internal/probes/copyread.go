package probes

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// stretch is the stream of one try at the peer: a backlog, and the message.
type stretch struct {
	g       *copyRig
	backlog int // bytes before the message
	taken   int
	message []byte // what of it arrived
	behind  int    // bytes sent behind it
}

// chunk is how much the peer reads at a time while a request waits.
const chunk = 4096

var errNotThere = errors.New("nothing to read")

// read takes up to n bytes of what is there.
func (s *stretch) read(n int) error {
	p := make([]byte, n)
	got, _, err := unix.Recvfrom(s.g.rx, p, unix.MSG_DONTWAIT)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return errNotThere
	case err != nil:
		return fmt.Errorf("read at the peer: %w", err)
	case got == 0:
		return errors.New("read at the peer: the connection ended")
	}
	from, to := s.backlog-s.taken, s.backlog+copyMessage-s.taken
	s.message = append(s.message, p[min(max(from, 0), got):min(max(to, 0), got)]...)
	s.taken += got
	return nil
}

// completion waits for one; where the peer's buffer is in its way the peer reads.
func (s *stretch) completion(notice bool) (cqe, error) {
	g := s.g
	for stop := time.Now().Add(2 * time.Second); time.Now().Before(stop); {
		if got := g.one(); got != nil {
			return *got, g.err
		}
		if g.err != nil {
			return cqe{}, g.err
		}
		waits := g.state != withRoom && s.taken < s.backlog
		if !waits && notice && s.behind == 0 {
			s.behind = g.nudge()
		}
		if waits {
			if err := s.read(min(chunk, s.backlog-s.taken)); err != nil && !errors.Is(err, errNotThere) {
				return cqe{}, err
			}
		} else if err := g.ring.Enter(1, 1e6, true); err != nil {
			return cqe{}, err
		}
	}
	return cqe{}, fmt.Errorf("%s: no completion, with %d bytes read of %d before it", g.call.source, s.taken, s.backlog)
}

// one takes one completion if there is one.
func (g *copyRig) one() *cqe {
	a, _ := g.ring.Completions()
	if len(a) == 0 {
		g.fail("enter", g.ring.Enter(0, 0, true))
		if a, _ = g.ring.Completions(); len(a) == 0 {
			return nil
		}
	}
	c := cqe{a[0].UserData, a[0].Res, a[0].Flags}
	g.ring.Seen(1)
	return &c
}

// readTo reads until n bytes were taken in all.
func (s *stretch) readTo(n int) error {
	for stop := time.Now().Add(2 * time.Second); s.taken < n; {
		err := s.read(min(64<<10, n-s.taken))
		if errors.Is(err, errNotThere) {
			if time.Now().After(stop) {
				return fmt.Errorf("%d of %d bytes arrived", s.taken, n)
			}
			_, err = unix.Poll([]unix.PollFd{{Fd: int32(s.g.rx), Events: unix.POLLIN}}, 10)
			if err == unix.EINTR {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// waitReadable waits until the peer's socket holds n bytes.
func (s *stretch) waitReadable(n int) error {
	for stop := time.Now().Add(2 * time.Second); time.Now().Before(stop); {
		have, err := unix.IoctlGetInt(s.g.rx, unix.TIOCINQ)
		if err != nil {
			return fmt.Errorf("ask for what is there to read: %w", err)
		}
		if have >= n {
			return nil
		}
		time.Sleep(20 * time.Microsecond)
	}
	return fmt.Errorf("the peer does not have %d bytes", n)
}
