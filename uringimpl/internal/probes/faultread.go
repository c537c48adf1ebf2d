package probes

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// collectFailedReads has two reads wait for the one buffer of a group, and then
// fail both by resetting their connections.
func collectFailedReads(t *trace) error {
	g := newRig(1, 64, 0, 0)
	g.provideAll()
	r := round{Name: "two reads of one buffer, both reset", Buffers: 1, Size: 64}
	var peers []int
	for i := range 2 {
		a, b := g.tcpPair()
		peers = append(peers, a)
		g.read(ring.OpRead, b, 0, 0, uint64(i))
	}
	for _, fd := range peers {
		if g.err == nil {
			g.fail("SO_LINGER", unix.SetsockoptLinger(fd, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}))
		}
		g.hangUp(fd)
	}
	r.CQEs = g.reap(2, patience)
	r.Slots, r.Head = g.slots(), g.head()
	t.Rounds = append(t.Rounds, r)
	return g.close()
}

func judgeFailedReads(t trace) judgment {
	if len(t.Rounds) != 1 || len(t.Rounds[0].CQEs) != 2 {
		return unclear("the two reads did not both complete")
	}
	r := t.Rounds[0]
	named := 0
	for _, c := range r.CQEs {
		if c.Res >= 0 {
			return unclear("a read of a reset connection did not fail: %s", tell(r.CQEs))
		}
		if c.buffer() {
			named++
		}
	}
	head := fmt.Sprintf("the kernel's head is at %d", r.Head)
	if r.Head < 0 {
		head = "the kernel does not tell its head"
	}
	switch {
	case named == 2 || named > 0 && r.Head == 0:
		return present("%d of 2 failed reads name a buffer, of the one there is: %s; %s", named, tell(r.CQEs), head)
	case named == 0:
		return absent("no failed read names a buffer: %s; %s", tell(r.CQEs), head)
	case r.Head == 1 || r.refused() == 1:
		return absent("one failed read names the buffer that it took, the other none: %s; %s", tell(r.CQEs), head)
	}
	return unclear("one failed read names the buffer: %s; %s", tell(r.CQEs), head)
}

// refused counts the requests that found no buffer.
func (r round) refused() (n int) {
	for _, c := range r.CQEs {
		if c.Res == -int32(unix.ENOBUFS) {
			n++
		}
	}
	return n
}

// The messages of the two rounds on multishot reads.
const (
	lastSize     = 64
	lastMessages = 12
	lastMessage  = 8
	lastRoom     = 4 // completions, in the round that overflows
)

// collectLastBuffer has multishot reads end with bytes in a buffer: of a terminal,
// which cannot be read without waiting, so that a worker reads once and the
// multishot is over; and of a pipe, when the completions overflow.
func collectLastBuffer(t *trace) error {
	if err := readTerminal(t); err != nil {
		return err
	}
	return readOverflow(t)
}

func readTerminal(t *trace) error {
	g := newRig(16, lastSize, 0, 0)
	g.provideAll()
	r := round{Name: "terminal, by a worker", Buffers: 16, Size: lastSize, Head: -1}
	master, slave, err := g.terminal()
	if err != nil {
		r.Refused = err.Error()
	} else {
		g.send(master, letters(0, lastMessage))
		r.Sent = []int{lastMessage}
		g.submit(func(e *ring.SQE) {
			e.Opcode, e.Flags, e.Fd = ring.OpReadMultishot, ring.SQEBufferSelect|ring.SQEAsync, int32(slave)
			e.BufGroup = rigGroup
		})
		r.CQEs = g.reap(1, patience)
		g.lacking("multishot reads", r.CQEs)
		r.Runs, r.Head = g.runsOfLetters(), g.head()
	}
	t.Rounds = append(t.Rounds, r)
	return g.close()
}

func readOverflow(t *trace) error {
	g := newRigOf(4, lastRoom, 16, lastSize, 0, 0)
	g.provideAll()
	r := round{Name: "more than the completion ring holds", Buffers: 16, Size: lastSize}
	rd, wr := g.pipe()
	g.read(ring.OpReadMultishot, rd, 0, 0, 0)
	g.lacking("multishot reads", g.reap(1, 0))
	for i := range lastMessages {
		g.send(wr, letters(i, lastMessage))
		r.Sent = append(r.Sent, lastMessage)
		if g.err == nil {
			g.fail("enter", g.ring.Enter(0, 0, true))
		}
	}
	r.CQEs = g.reap(lastMessages, patience/3) // those that do not fit are not coming
	r.Runs, r.Head = g.runsOfLetters(), g.head()
	t.Rounds = append(t.Rounds, r)
	return g.close()
}

// terminal opens a pseudo terminal in raw mode.
func (g *rig) terminal() (master, slave int, err error) {
	if g.err != nil {
		return -1, -1, g.err
	}
	if master, err = unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err != nil {
		return -1, -1, err
	}
	g.fds = append(g.fds, master)
	if err = unix.IoctlSetPointerInt(master, unix.TIOCSPTLCK, 0); err != nil {
		return -1, -1, err
	}
	fd, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC)
	if errno != 0 {
		return -1, -1, errno
	}
	slave = int(fd)
	g.fds = append(g.fds, slave)
	attr, err := unix.IoctlGetTermios(slave, unix.TCGETS)
	if err != nil {
		return -1, -1, err
	}
	attr.Lflag &^= unix.ICANON | unix.ECHO
	return master, slave, unix.IoctlSetTermios(slave, unix.TCSETS, attr)
}

func judgeLastBuffer(t trace) judgment {
	data, nameless, ends := 0, 0, 0
	var bad cqe
	where := ""
	for _, r := range t.Rounds {
		for _, c := range r.CQEs {
			if c.Res <= 0 {
				continue
			}
			data++
			if c.Flags&ring.CQEMore == 0 {
				ends++
			}
			if !c.buffer() {
				nameless++
				bad, where = c, r.Name
			}
		}
	}
	switch {
	case data == 0:
		return unclear("no read brought bytes")
	case nameless > 0:
		return present("%d of %d completions of a multishot read that brought bytes name no buffer (%s: %v)", nameless, data, where, bad)
	case ends == 0:
		return unclear("no multishot read ended with bytes, in %d completions", data)
	}
	return absent("%d of %d completions of multishot reads that brought bytes name their buffer, among them %d that ended the read", data, data, ends)
}
