package probes

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// feature is something a machine may have. try uses it and checks what came of
// it: a refusal means that it is not there, any other error that it went wrong.
type feature struct {
	name   string
	source string
	help   string
	try    func() (evidence string, err error)
}

func (f feature) check(family string, memory int64) probe.Check {
	return probe.Check{
		Sort: record.FeatureFound, Family: family, Name: f.name, Source: f.source, Help: f.help, MemoryBytes: memory,
		Run: func() record.Finding { return featureFinding(f.try()) },
	}
}

func featureFinding(evidence string, err error) record.Finding {
	var no refusal
	switch {
	case errors.As(err, &no) && !errors.Is(err, unix.ENOMEM):
		return record.Finding{Verdict: record.Unsupported, Reason: no.Error()}
	case err != nil:
		return record.Finding{Verdict: record.Inconclusive, Reason: err.Error(), Evidence: evidence}
	}
	return record.Finding{Verdict: record.Supported, Evidence: evidence}
}

// refusedAs makes the kernel's refusal of what out of an error that is one.
func refusedAs(what string, err error) error {
	for _, no := range []error{unix.EINVAL, unix.EOPNOTSUPP, unix.ENOSYS, unix.EPERM, unix.EACCES, unix.ENOTTY, unix.EBADFD} {
		if errors.Is(err, no) {
			return refusal{what, no}
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// openRig is a rig with a ring of these set-up flags and no buffers.
func openRig(what string, sq, cq int, flags uint32) *rig {
	g := &rig{}
	r, err := ring.Open(sq, cq, flags)
	if err != nil {
		g.err = refusedAs(what, err)
		return g
	}
	g.ring = r
	return g
}

// plainRig is a rig without buffers on the ring that strategies use.
func plainRig() *rig {
	g := &rig{}
	r, err := newRing(16, 64)
	if err != nil {
		g.err = refusal{"io_uring", err}
		return g
	}
	g.ring = r
	return g
}

// memory maps n zeroed bytes that live as long as the rig.
func (g *rig) memory(n int) []byte {
	if g.err != nil {
		return nil
	}
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	g.fail("map memory", err)
	g.mem = mem
	return mem
}

func addressOf(p []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(p)))) }

// one waits for a single completion, which must not be an error; what names the
// request.
func (g *rig) one(what string) cqe {
	got := g.reap(1, patience*4)
	if g.err != nil {
		return cqe{}
	}
	if len(got) != 1 {
		g.err = fmt.Errorf("%s: %d completions instead of 1", what, len(got))
		return cqe{}
	}
	if got[0].Res < 0 {
		g.err = refusedAs(what, unix.Errno(-got[0].Res))
	}
	return got[0]
}

// expect checks a fact of a completion or of what arrived.
func (g *rig) expect(ok bool, format string, args ...any) {
	if !ok && g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}

// arrived reads n bytes at the other end of a connection.
func (g *rig) arrived(fd, n int) []byte {
	p := make([]byte, n)
	if g.err != nil {
		return p
	}
	g.fail("set a time limit", unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}))
	for at := 0; g.err == nil && at < n; {
		k, err := unix.Read(fd, p[at:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			g.err = fmt.Errorf("read what was sent: %w", err)
		case k == 0:
			g.err = fmt.Errorf("the connection ended after %d of %d bytes", at, n)
		default:
			at += k
		}
	}
	return p
}

// ended closes the rig and returns the evidence with what stuck.
func (g *rig) ended(evidence string) (string, error) {
	if err := g.close(); err != nil {
		return "", err
	}
	return evidence, nil
}

// receives has a request fill memory with a message that waits in a socket.
func (g *rig) receives(what string, op uint8, fill func(e *ring.SQE)) {
	const size = 300
	a, b := g.tcpPair()
	mem := g.memory(4096)
	g.send(a, counting(200))
	g.submit(func(e *ring.SQE) {
		e.Opcode, e.Fd, e.Len = op, int32(b), size
		if mem != nil {
			e.Addr = addressOf(mem)
		}
		if fill != nil {
			fill(e)
		}
	})
	c := g.one(what)
	g.expect(c.Res == 200, "%s: %d of 200 bytes", what, c.Res)
	g.expect(g.err != nil || string(mem[:200]) == string(counting(200)), "%s: other bytes than were sent", what)
}
