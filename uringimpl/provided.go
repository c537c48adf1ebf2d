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

// provided is what the strategies with registered buffer rings share: a ring, a
// group of buffers a client, and the receive requests. Buffer bid of client c
// has number c*per+bid.
type provided struct {
	sink      *harness.Sink
	ring      *ring.Ring
	fds       []int
	groups    []*ring.BufRing
	mem       []byte
	size      int // bytes of a buffer
	per       int // buffers a client
	multishot bool
	eager     bool
	lazyUnder int       // publish only below this many available; 0: always
	due       [][]int32 // per client: freed, to be handed back
	dirty     []int32   // clients with something due
	unarmed   []int32   // clients without a receive request
	nonEmpty  []bool    // the last receive left bytes in the socket
	count     harness.Counters
	// What strategies do in their own way: hand a buffer to the kernel, and
	// deliver what completions brought.
	add  func(client int, bid uint16) error
	take func([]ring.CQE) error
}

const (
	maxSQEntries = 4096
	minCQEntries = 256
	maxCQEntries = 32768
)

// openRing makes a ring with room for a request of every client and for so many
// completions at once. Completions that do not fit end a multishot receive,
// which must then be asked for again.
func openRing(clients, completions int) (*ring.Ring, error) {
	return ring.New(min(max(clients, 8), maxSQEntries), min(max(completions, clients, minCQEntries), maxCQEntries))
}

// openProvided opens a group of per buffers of size bytes for each client, on a
// ring that takes so many completions at once.
func openProvided(b *harness.Bench, p harness.Values, size, per int, flags uint16, completions int) (*provided, error) {
	clients := len(b.FDs)
	r := &provided{
		sink: b.Sink, fds: b.FDs, size: size, per: per,
		multishot: p.Bool("multishot"), eager: p.Text("reprovide") == "eager",
		due: make([][]int32, clients), nonEmpty: make([]bool, clients),
		dirty: make([]int32, 0, clients), unarmed: make([]int32, 0, clients),
	}
	if p.Text("reprovide") == "lazy" {
		r.lazyUnder = max(per/2, 1)
	}
	var err error
	if r.ring, err = openRing(clients, completions); err != nil {
		return nil, err
	}
	if r.mem, err = harness.MapBuffers(clients * size * per); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	entries := 1
	for entries < per {
		entries *= 2
	}
	b.Sink.Buffers(clients * per)
	for c := range clients {
		g, err := r.ring.NewBufRing(uint16(c), entries, flags, 0)
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		r.groups = append(r.groups, g)
		r.due[c] = make([]int32, 0, per)
		r.unarmed = append(r.unarmed, int32(c))
	}
	return r, nil
}

// provideAll hands every buffer to the kernel. On an error it closes.
func (r *provided) provideAll() error {
	for c, g := range r.groups {
		for bid := range r.per {
			if err := r.add(c, uint16(bid)); err != nil {
				return errors.Join(err, r.Close())
			}
		}
		g.Publish()
	}
	return nil
}

// put adds a buffer at its full size to its group's ring.
func (r *provided) put(client int, bid uint16) error {
	id := client*r.per + int(bid)
	r.sink.Lend(int32(id))
	return r.groups[client].Add(unsafe.Pointer(&r.mem[id*r.size]), uint32(r.size), bid)
}

// recycle hands back the buffers that nobody holds any more.
func (r *provided) recycle() error {
	for _, id := range r.sink.TakeFreed() {
		c := int(id) / r.per
		if len(r.due[c]) == 0 {
			r.dirty = append(r.dirty, int32(c))
		}
		r.due[c] = append(r.due[c], id)
	}
	kept := r.dirty[:0]
	for _, c := range r.dirty {
		if r.lazyUnder > 0 && r.groups[c].Available() >= r.lazyUnder {
			kept = append(kept, c)
			continue
		}
		if err := r.flush(int(c)); err != nil {
			return err
		}
	}
	r.dirty = kept
	return nil
}

func (r *provided) flush(c int) error {
	for _, id := range r.due[c] {
		if err := r.add(c, uint16(int(id)-c*r.per)); err != nil {
			return err
		}
	}
	r.count.Reprovides += uint64(len(r.due[c]))
	r.due[c] = r.due[c][:0]
	r.groups[c].Publish()
	return nil
}

// arm gives every client that lacks one a receive request. A client without a
// buffer left would be refused at once: held messages are let go early for it,
// or it waits for their time.
func (r *provided) arm() error {
	kept := r.unarmed[:0]
	for _, c := range r.unarmed {
		for r.groups[c].Available() == 0 && r.sink.ForceRelease() {
			if err := r.recycle(); err != nil {
				return err
			}
		}
		if r.groups[c].Available() == 0 {
			if r.sink.Holding() == 0 {
				return fmt.Errorf("client %d: an open message fills all %d buffers of %d bytes; raise the budget", c, r.per, r.size)
			}
			kept = append(kept, c)
			continue
		}
		if !r.request(c) {
			kept = append(kept, c)
		}
	}
	r.unarmed = kept
	return nil
}

// request asks for a receive of a client; false means the submission ring is full.
func (r *provided) request(c int32) bool {
	e := r.ring.Next()
	if e == nil {
		return false
	}
	e.Opcode, e.Fd, e.Flags = ring.OpRecv, int32(r.fds[c]), ring.SQEBufferSelect
	e.BufGroup, e.UserData = uint16(c), uint64(c)
	if r.multishot {
		e.Ioprio = ring.RecvMultishot
	} else if !r.nonEmpty[c] {
		e.Ioprio = ring.RecvPollFirst
	}
	return true
}

// wait submits what is pending and waits for a completion, in one call.
func (r *provided) wait() error {
	if a, _ := r.ring.Completions(); len(a) > 0 && r.ring.Pending() == 0 {
		return nil
	}
	r.sink.Gate()
	return r.ring.Enter(1, r.sink.WaitNS(), false)
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
		a, b := r.ring.Completions()
		err := r.take(a)
		if err == nil {
			err = r.take(b)
		}
		r.ring.Seen(len(a) + len(b))
		if err != nil {
			return err
		}
		if r.sink.Holding() > 0 { // reading the clock is not free
			r.sink.ReleaseDue(r.sink.Now())
		}
	}
	return r.sink.Err()
}

// notOurs is the error of a completion that names a buffer which is not in its
// client's ring: no byte received can be trusted then.
func notOurs(client int, bid uint16) error {
	return fmt.Errorf("client %d: a completion names buffer %d, which the kernel does not have", client, bid)
}

// failed handles a completion that brought no bytes.
func (r *provided) failed(client int, res int32) {
	switch {
	case res == 0:
		r.sink.Gone(client, nil)
	case unix.Errno(-res) == unix.ENOBUFS:
		r.count.NoBufs++
	default:
		r.sink.Gone(client, unix.Errno(-res))
	}
}

func (r *provided) Counters() harness.Counters {
	c := r.count
	c.Enters, c.SQEs = r.ring.Enters, r.ring.Submitted
	c.Syscalls += r.ring.Enters
	return c
}

func (r *provided) Memory() harness.Memory {
	m := harness.Memory{Ring: r.ring.Bytes(), Buffers: []residency.Region{region("buffers", r.mem)}}
	for _, g := range r.groups {
		m.Ring += g.Bytes()
	}
	// Ring memory is pinned by the kernel; provided buffers are not.
	m.Pinned = m.Ring
	return m
}

func (r *provided) Notes() []string { return []string{"io_uring " + r.ring.Mode()} }

func (r *provided) Close() error {
	var errs []error
	for _, g := range r.groups {
		errs = append(errs, g.Close())
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
