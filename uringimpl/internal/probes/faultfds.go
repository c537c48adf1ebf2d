package probes

import (
	"golang.org/x/sys/unix"
)

// pipe returns the reading and the writing end.
func (g *rig) pipe() (r, w int) {
	p := []int{-1, -1}
	if g.err == nil {
		err := unix.Pipe2(p, unix.O_CLOEXEC)
		g.fail("pipe", err)
		if err == nil {
			g.fds = append(g.fds, p...)
		}
	}
	return p[0], p[1]
}

// hangUp closes a descriptor before its time.
func (g *rig) hangUp(fd int) {
	for i, x := range g.fds {
		if x == fd {
			g.fds = append(g.fds[:i], g.fds[i+1:]...)
			g.fail("close", unix.Close(fd))
			return
		}
	}
}

// file is a file in memory: a regular file, which cannot be polled.
func (g *rig) file(content []byte) int {
	if g.err != nil {
		return -1
	}
	fd, err := unix.MemfdCreate("probe", unix.MFD_CLOEXEC)
	g.fail("memfd_create", err)
	if err != nil {
		return -1
	}
	g.fds = append(g.fds, fd)
	_, err = unix.Pwrite(fd, content, 0)
	g.fail("write the file", err)
	return fd
}

// unixPair is a connected pair of local stream sockets.
func (g *rig) unixPair() (a, b int) {
	if g.err != nil {
		return -1, -1
	}
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	g.fail("socketpair", err)
	if err != nil {
		return -1, -1
	}
	g.fds = append(g.fds, fds[:]...)
	return fds[0], fds[1]
}

// udpPair is a sender connected to a receiver on loopback.
func (g *rig) udpPair() (tx, rx int) {
	rx, at := g.bound(unix.SOCK_DGRAM)
	tx = g.connected(unix.SOCK_DGRAM, at)
	return tx, rx
}

// tcpPair is a connection over loopback, the connecting side first.
func (g *rig) tcpPair() (a, b int) {
	ln, at := g.bound(unix.SOCK_STREAM)
	if g.err == nil {
		g.fail("listen", unix.Listen(ln, 1))
	}
	a = g.connected(unix.SOCK_STREAM, at)
	if g.err != nil {
		return -1, -1
	}
	b, _, err := unix.Accept4(ln, unix.SOCK_CLOEXEC)
	g.fail("accept", err)
	if err != nil {
		return -1, -1
	}
	g.fds = append(g.fds, b)
	g.hangUp(ln)
	return a, b
}

func (g *rig) socket(kind int) int {
	if g.err != nil {
		return -1
	}
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, 0)
	g.fail("socket", err)
	if err != nil {
		return -1
	}
	g.fds = append(g.fds, fd)
	return fd
}

// bound is a socket on a free port of the loopback address.
func (g *rig) bound(kind int) (int, unix.Sockaddr) {
	fd := g.socket(kind)
	if g.err != nil {
		return -1, nil
	}
	g.fail("bind", unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	at, err := unix.Getsockname(fd)
	g.fail("getsockname", err)
	return fd, at
}

func (g *rig) connected(kind int, to unix.Sockaddr) int {
	fd := g.socket(kind)
	if g.err == nil {
		g.fail("connect", unix.Connect(fd, to))
	}
	return fd
}

// send writes all of p, in one piece where the descriptor keeps pieces.
func (g *rig) send(fd int, p []byte) {
	for g.err == nil && len(p) > 0 {
		n, err := unix.Write(fd, p)
		if err == unix.EINTR {
			continue
		}
		g.fail("send", err)
		p = p[max(n, 0):]
	}
}
