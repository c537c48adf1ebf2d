package uringimpl

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/residency"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// provided is what the strategies with provided buffers share: a ring, groups of
// buffers, and the receive requests. A group belongs to one client, or the only
// one to all clients.
type provided struct {
	pool
	sink   *harness.Sink
	ring   *ring.Ring
	fds    []int
	shared bool
	eager  bool
	ioprio uint16 // of a receive request
	pieces uint32 // most bytes of a receive; 0: no limit
	back   handback
	dues
	arming
	nonEmpty []bool // by client: the last receive left bytes in the socket
	count    harness.Counters
	// take delivers what completions brought.
	take func([]ring.CQE) error
}

const (
	maxSQEntries = 4096
	minCQEntries = 256
	maxCQEntries = 32768
)

// openRing makes a ring with room for so many requests and completions at once.
// Completions that do not fit end a multishot receive, which must then be asked
// for again.
func openRing(requests, completions int) (*ring.Ring, error) {
	return ring.New(min(max(requests, 8), maxSQEntries), min(max(completions, requests, minCQEntries), maxCQEntries))
}

// openProvided opens the groups of a strategy's clients; no buffer is provided
// yet.
func openProvided(b *harness.Bench, p harness.Values, s setup) (*provided, error) {
	clients, groups := len(b.FDs), len(b.FDs)
	r := &provided{
		sink: b.Sink, fds: b.FDs, shared: isShared(p), eager: p.Text("reprovide") == "eager",
		pool: pool{size: s.size, per: s.per}, pieces: uint32(p.Bytes("recv", 0)), nonEmpty: make([]bool, clients),
	}
	if r.shared {
		groups, r.per = 1, s.per*clients
	}
	if p.Bool("multishot") {
		r.ioprio |= ring.RecvMultishot
	}
	if s.bundle {
		r.ioprio |= ring.RecvBundle
	}
	r.dues = newDues(groups, r.per, p)
	r.arming = newArming(clients)
	var err error
	requests := clients
	if s.legacy {
		requests += clients * s.per // a hand-back each, at worst
	}
	if r.ring, err = openRing(requests, s.completions); err != nil {
		return nil, err
	}
	if err := r.supported(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if r.mem, err = harness.MapBuffers(clients * s.size * s.per); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	b.Sink.Buffers(clients * s.per)
	if s.legacy {
		r.back = newLegacy(r.ring, &r.pool, groups, p.Bool("skip-cqe"))
		return r, nil
	}
	m, err := newMapped(r.ring, &r.pool, groups, s)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.back = m
	return r, nil
}

// supported refuses receives that this kernel does not do.
func (r *provided) supported() error {
	if r.ioprio&ring.RecvBundle != 0 && r.ring.Features()&ring.FeatBundle == 0 {
		return &harness.Skip{Reason: "this kernel has no receive bundles", Remedy: "they came with Linux 6.10"}
	}
	if r.pieces == 0 || r.ioprio&ring.RecvMultishot == 0 {
		return nil
	}
	ok, err := r.ring.TakesMultishotLength()
	if err == nil && !ok {
		err = &harness.Skip{Reason: "this kernel takes no length with a multishot receive", Remedy: "Linux 6.17 does; before, use multishot: false or recv: auto"}
	}
	return err
}

// provideAll hands every buffer to the kernel. On an error it closes.
func (r *provided) provideAll() error {
	all := make([]uint16, r.per)
	for bid := range all {
		all[bid] = uint16(bid)
	}
	for g := range r.groups {
		for left := all; len(left) > 0; {
			n, err := r.give(g, left)
			if left = left[n:]; err == nil && len(left) > 0 {
				err = r.settle()
			}
			if err != nil {
				return errors.Join(err, r.Close())
			}
		}
	}
	if r.back.waitFor() == 0 {
		return nil
	}
	if err := r.settle(); err != nil {
		return errors.Join(err, r.Close())
	}
	return nil
}

// settle has the kernel take what is submitted, and answers what comes of it,
// before any receive is asked for.
func (r *provided) settle() error {
	if err := r.ring.Enter(r.back.waitFor(), 1e9, false); err != nil {
		return err
	}
	return errors.Join(r.ring.Reap(r.take), r.sink.Err())
}

// give hands buffers to the kernel, which holds each once from then on.
func (r *provided) give(group int, bids []uint16) (int, error) {
	n, err := r.back.give(group, bids)
	for _, bid := range bids[:n] {
		r.sink.Lend(r.number(group, bid))
	}
	return n, err
}

// group is the group of a client.
func (r *provided) group(client int) int {
	if r.shared {
		return 0
	}
	return client
}

// number is the number of a buffer over all groups.
func (r *provided) number(group int, bid uint16) int32 { return int32(group*r.per + int(bid)) }

// wait submits what is pending and waits for a completion, in one call.
func (r *provided) wait() error {
	if a, _ := r.ring.Completions(); len(a) > 0 && r.ring.Pending() == 0 {
		return nil
	}
	r.sink.Gate()
	if r.hurry {
		return r.ring.Enter(0, 0, false)
	}
	return r.ring.Enter(1+r.back.waitFor(), r.sink.WaitNS(), false)
}

// Receive is the loop of all strategies with provided buffers.
func (r *provided) Receive(target uint64) error {
	for r.sink.More(target) {
		if err := r.recycle(); err != nil {
			return err
		}
		if err := r.arm(); err != nil {
			return err
		}
		if err := r.wait(); err != nil {
			return err
		}
		if err := r.ring.Reap(r.take); err != nil {
			return err
		}
		if r.sink.Holding() > 0 { // reading the clock is not free
			r.sink.ReleaseDue(r.sink.Now())
		}
	}
	return r.sink.Err()
}

// begin does what all completions of receives ask for and returns whose it is;
// false: it brought no bytes.
func (r *provided) begin(c ring.CQE) (client int, ok bool) {
	client = int(c.UserData)
	r.nonEmpty[client] = c.Flags&ring.CQESockNonEmpty != 0
	if c.Res > 0 {
		if c.Flags&ring.CQEMore == 0 {
			r.unarmed = append(r.unarmed, int32(client))
		}
		r.count.Receives++
		return client, true
	}
	r.failed(client, c.Res)
	return client, false
}

// failed handles a completion that brought no bytes: it was the last one of its
// request.
func (r *provided) failed(client int, res int32) {
	switch errno := unix.Errno(-res); {
	case res == 0:
		r.sink.Gone(client, nil)
	case errno == unix.ENOBUFS:
		r.count.NoBufs++
		r.sink.Refused(client)
		r.refused(client, r.shared)
	default:
		r.sink.Gone(client, errno)
	}
}

// retire notes that the kernel has left a buffer, of which wasted bytes went
// unused, and that the strategy is done with it.
func (r *provided) retire(client, group int, bid uint16, wasted uint32) error {
	if !r.back.retire(group, bid) {
		return notOurs(client, bid)
	}
	r.count.Wasted += uint64(wasted)
	r.sink.Unref(r.number(group, bid))
	r.check(group, r.back.available(group))
	return nil
}

// notOurs is the error of a completion that names a buffer which is not in its
// client's ring: no byte received can be trusted then.
func notOurs(client int, bid uint16) error {
	return fmt.Errorf("client %d: a completion names buffer %d, which the kernel does not have", client, bid)
}

func (r *provided) Counters() harness.Counters {
	c := r.count
	c.Enters, c.SQEs = r.ring.Enters, r.ring.Submitted
	c.Syscalls += r.ring.Enters
	return c
}

func (r *provided) Memory() harness.Memory {
	m := harness.Memory{Ring: r.ring.Bytes() + r.back.bytes(), Buffers: []residency.Region{region("buffers", r.mem)}}
	// Ring memory is pinned by the kernel; provided buffers are not.
	m.Pinned = m.Ring
	return m
}

func (r *provided) Notes() []string { return []string{"io_uring " + r.ring.Mode()} }

func (r *provided) Close() error {
	var errs []error
	if r.back != nil {
		errs = append(errs, r.back.close())
	}
	if r.ring != nil {
		errs = append(errs, r.ring.Close())
	}
	if r.mem != nil {
		errs = append(errs, unix.Munmap(r.mem))
	}
	return errors.Join(errs...)
}

func region(name string, mem []byte) residency.Region {
	return residency.Region{Name: name, Addr: uintptr(unsafe.Pointer(&mem[0])), Len: uintptr(len(mem))}
}

// Kept is all of a buffer: none is given back in parts.
func (r *provided) Kept(int32) int64 { return int64(r.size) }
