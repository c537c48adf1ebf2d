package load

import (
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// maxCallers is how many connections are waited for at a time to say who they
// are. One more, and the oldest is given up: whatever strangers do, they take
// fewer files than there are to spare.
const maxCallers = SpareFiles / 2

// greeter takes a listener's connections and hears out all of them at once, so
// that one that says nothing, or little by little, keeps no client waiting.
type greeter struct {
	l        *Listener
	token    []byte
	deadline time.Time
	callers  []caller // the oldest first
	polled   []unix.PollFd
}

// caller is a connection that has not said yet who it is.
type caller struct {
	fd    int
	until time.Time
	said  [HelloBytes]byte
	n     int // bytes said
}

func (l *Listener) greet(token []byte, deadline time.Time) *greeter {
	return &greeter{l: l, token: token, deadline: deadline}
}

// close hangs up on those who have not said who they are.
func (g *greeter) close() {
	for i := range g.callers {
		unix.Close(g.callers[i].fd)
	}
	g.callers = nil
}

// known returns the next connection that has the token, non-blocking, and the
// client it says it is. All others are closed.
func (g *greeter) known() (fd int, client uint32, err error) {
	for {
		if fd, client = g.hear(); fd >= 0 {
			return fd, client, nil
		}
		if err := g.wait(); err != nil {
			return -1, 0, err
		}
		if err := g.take(); err != nil {
			return -1, 0, err
		}
	}
}

// hear reads what callers have said. It returns the first with the token, or -1.
func (g *greeter) hear() (fd int, client uint32) {
	now := time.Now()
	for i := 0; i < len(g.callers); {
		c := &g.callers[i]
		err := c.listen()
		switch {
		case err == nil && c.n == HelloBytes && subtle.ConstantTimeCompare(c.said[:len(g.token)], g.token) == 1:
			fd, client = c.fd, binary.LittleEndian.Uint32(c.said[len(g.token):])
			g.forget(i)
			return fd, client
		case err != nil || c.n == HelloBytes || now.After(c.until):
			unix.Close(c.fd)
			g.forget(i)
		default:
			i++
		}
	}
	return -1, 0
}

func (g *greeter) forget(i int) { g.callers = append(g.callers[:i], g.callers[i+1:]...) }

// errHungUp is a caller that went away.
var errHungUp = errors.New("the connection has ended")

// listen takes in what a caller has said since, up to all of it.
func (c *caller) listen() error {
	for c.n < HelloBytes {
		n, err := unix.Read(c.fd, c.said[c.n:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return nil
		case err != nil:
			return err
		case n == 0:
			return errHungUp
		default:
			c.n += n
		}
	}
	return nil
}

// wait waits until something has come, or a caller's time is up.
func (g *greeter) wait() error {
	left := time.Until(g.deadline)
	if left <= 0 {
		return fmt.Errorf("no connection at %s before the trial's deadline", g.l.addr)
	}
	g.polled = append(g.polled[:0], unix.PollFd{Fd: int32(g.l.fd), Events: unix.POLLIN})
	for i := range g.callers {
		g.polled = append(g.polled, unix.PollFd{Fd: int32(g.callers[i].fd), Events: unix.POLLIN})
	}
	if len(g.callers) > 0 {
		left = min(left, max(time.Until(g.callers[0].until), 0))
	}
	if _, err := unix.Poll(g.polled, int(min(left.Milliseconds()+1, 1000))); err != nil && err != unix.EINTR {
		return err
	}
	return nil
}

// take accepts a connection if there is one.
func (g *greeter) take() error {
	fd, _, err := unix.Accept4(g.l.fd, unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK)
	switch err {
	case nil:
	case unix.EAGAIN, unix.EINTR, unix.ECONNABORTED:
		return nil
	case unix.EMFILE, unix.ENFILE:
		return fmt.Errorf("%w: the limit of open files is too low: %s", err, RaiseFiles)
	default:
		return err
	}
	if len(g.callers) == maxCallers {
		unix.Close(g.callers[0].fd)
		g.forget(0)
	}
	g.callers = append(g.callers, caller{fd: fd, until: time.Now().Add(helloTime)})
	return nil
}

// block makes a connection block, each of its reads no longer than until the
// deadline.
func block(fd int, deadline time.Time) error {
	// No time at all would mean for ever.
	tv := unix.NsecToTimeval(max(time.Until(deadline), time.Millisecond).Nanoseconds())
	return errors.Join(unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv), unix.SetNonblock(fd, false))
}
