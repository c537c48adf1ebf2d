package uringimpl

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
	"golang.org/x/sys/unix"
)

// handback is how buffers get to the kernel: by a mapped ring, or by requests.
// Groups are numbered from 0.
type handback interface {
	// give hands buffers of a group to the kernel and returns how many it took:
	// fewer than all only while the submission ring has no room.
	give(group int, bids []uint16) (int, error)
	// retire notes that a completion used a buffer; false: the kernel had no such.
	retire(group int, bid uint16) bool
	// available is how many buffers of a group the kernel has.
	available(group int) int
	// waitFor is how many completions of hand-backs themselves are to come.
	waitFor() uint32
	bytes() int64
	close() error
}

// pool is the memory that buffers lie in: buffer bid of a group is number
// group*per+bid and lies at that many times size.
type pool struct {
	mem  []byte
	size int // bytes of a buffer
	per  int // buffers a group
}

func (p *pool) at(group int, bid uint16) unsafe.Pointer {
	return unsafe.Pointer(&p.mem[(group*p.per+int(bid))*p.size])
}

// mapped hands buffers back by writing them into registered rings.
type mapped struct {
	*pool
	rings  []*ring.BufRing
	fifos  []*ring.IncFIFO // of incrementally consumed buffers, or nil
	atOnce int             // buffers published together; 0: all
}

// newMapped registers a ring for each group.
func newMapped(r *ring.Ring, p *pool, groups int, s setup) (*mapped, error) {
	entries := 1
	for entries < p.per {
		entries *= 2
	}
	m := &mapped{pool: p, atOnce: s.atOnce, rings: make([]*ring.BufRing, 0, groups)}
	for g := range groups {
		b, err := r.NewBufRing(uint16(g), entries, s.flags, s.minLeft)
		if err != nil {
			return nil, errors.Join(s.explain(err), m.close())
		}
		m.rings = append(m.rings, b)
		if s.flags&ring.PbufInc != 0 {
			m.fifos = append(m.fifos, ring.NewIncFIFO(entries, s.minLeft))
		}
	}
	return m, nil
}

func (m *mapped) give(group int, bids []uint16) (int, error) {
	b := m.rings[group]
	for i, bid := range bids {
		if err := b.Add(m.at(group, bid), uint32(m.size), bid); err != nil {
			return i, err
		}
		if m.fifos != nil {
			m.fifos[group].Push(bid, uint32(m.size))
		}
		if m.atOnce > 0 && (i+1)%m.atOnce == 0 {
			b.Publish()
		}
	}
	b.Publish()
	return len(bids), nil
}

func (m *mapped) retire(group int, bid uint16) bool { return m.rings[group].Retire(bid) }
func (m *mapped) available(group int) int           { return m.rings[group].Available() }
func (m *mapped) waitFor() uint32                   { return 0 }

func (m *mapped) bytes() int64 {
	var n int64
	for _, b := range m.rings {
		n += b.Bytes()
	}
	return n
}

func (m *mapped) close() error {
	var errs []error
	for _, b := range m.rings {
		errs = append(errs, b.Close())
	}
	m.rings = nil
	return errors.Join(errs...)
}

// setup is what a strategy wants of its groups.
type setup struct {
	size    int    // bytes of a buffer
	per     int    // buffers a client
	flags   uint16 // of a mapped ring
	minLeft uint32 // of incremental consumption
	legacy  bool   // no mapped ring: PROVIDE_BUFFERS
	bundle  bool
	atOnce  int // buffers handed back together; 0: all that are due
	// completions is the most completions there can be at once.
	completions int
}

// explain makes of a refused ring a skip where the kernel lacks what it takes.
func (s setup) explain(err error) error {
	if !errors.Is(err, unix.EINVAL) {
		return err
	}
	switch {
	case s.minLeft > 0:
		return &harness.Skip{
			Reason: fmt.Sprintf("datagrams need what is left of a buffer to take the largest one, which this kernel does not promise (min_left of %d): %v", s.minLeft, err),
			Remedy: "use ring-fixed or provide-legacy, or a newer kernel",
		}
	case s.flags&ring.PbufInc != 0:
		return &harness.Skip{Reason: fmt.Sprintf("this kernel has no incremental consumption: %v", err), Remedy: "it came with Linux 6.12"}
	}
	return &harness.Skip{Reason: fmt.Sprintf("this kernel has no buffer rings: %v", err), Remedy: "they came with Linux 5.19; provide-legacy does without"}
}
