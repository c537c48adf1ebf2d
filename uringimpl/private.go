package uringimpl

import (
	"errors"
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/residency"
	"golang.org/x/sys/unix"
)

// private is the memory of strategies that give each client a range of its own:
// bytes go to the range's cursor, which returns to the start as soon as no
// message lies in the range. Range c has buffer number c.
type private struct {
	sink    *harness.Sink
	mem     []byte
	size    int // bytes of a range
	ranges  []span
	reclaim string
	count   harness.Counters
}

// span is where one client's next bytes go: mem[cursor:limit] of its range.
type span struct {
	cursor int
	limit  int
	high   int // bytes from the start that may be touched
}

func openPrivate(b *harness.Bench, p harness.Values, size int) (*private, error) {
	page := unix.Getpagesize()
	size = (size + page - 1) / page * page
	r := &private{sink: b.Sink, size: size, ranges: make([]span, len(b.FDs)), reclaim: p.Text("reclaim")}
	var err error
	if r.mem, err = harness.MapBuffers(len(b.FDs) * size); err != nil {
		return nil, err
	}
	if p.Text("thp") == "always" {
		if err := unix.Madvise(r.mem, unix.MADV_HUGEPAGE); err != nil {
			return nil, errors.Join(fmt.Errorf("advise huge pages: %w", err), unix.Munmap(r.mem))
		}
	}
	b.Sink.Buffers(len(b.FDs))
	for c := range r.ranges {
		r.ranges[c].limit = size
		b.Sink.Lend(int32(c))
	}
	return r, nil
}

// room returns where a client's next bytes go. When its range is full it waits
// (nil) for held messages, letting them go early if it may, and goes on at the
// start once only an open message is left at the end.
func (r *private) room(c int) ([]byte, error) {
	s := &r.ranges[c]
	for s.cursor == s.limit {
		open := r.sink.OpenBytes(c)
		switch {
		case !r.sink.Held(int32(c)):
			if err := r.rewind(c); err != nil {
				return nil, err
			}
		case r.sink.HeldBy(int32(c)) == 1 && open > 0 && open < r.size:
			// Only the open message is there, in one piece that ends at the
			// cursor: all the rest of the range is free.
			if s.cursor < r.size {
				s.limit = r.size
			} else {
				s.cursor, s.limit = 0, r.size-open
			}
		case r.sink.ForceRelease():
		case r.sink.Holding() > 0:
			return nil, nil
		default:
			return nil, fmt.Errorf("client %d: an open message fills its range of %d bytes; raise the budget", c, r.size)
		}
	}
	base := c * r.size
	return r.mem[base+s.cursor : base+s.limit], nil
}

// took delivers n bytes that came to a client's cursor.
func (r *private) took(c, n int) error {
	s := &r.ranges[c]
	base := c * r.size
	p := r.mem[base+s.cursor : base+s.cursor+n]
	s.cursor += n
	s.high = max(s.high, s.cursor)
	r.count.Receives++
	r.sink.Deliver(c, p, int32(c), r.sink.Now())
	if !r.sink.Held(int32(c)) {
		return r.rewind(c)
	}
	return nil
}

// rewind starts a client's range again, and gives back what it touched.
func (r *private) rewind(c int) error {
	s := &r.ranges[c]
	touched := r.mem[c*r.size : c*r.size+s.high]
	*s = span{limit: r.size}
	if r.reclaim == "none" || r.reclaim == "" || len(touched) == 0 {
		return nil
	}
	r.count.Reclaims++
	page := unix.Getpagesize()
	whole := r.mem[c*r.size:][:min((len(touched)+page-1)/page*page, r.size)]
	switch r.reclaim {
	case "memset":
		clear(touched)
		return nil
	case "dontneed":
		r.count.Syscalls++
		return advise(whole, unix.MADV_DONTNEED)
	default:
		r.count.Syscalls++
		return advise(whole, unix.MADV_FREE)
	}
}

func advise(mem []byte, how int) error {
	if err := unix.Madvise(mem, how); err != nil {
		return fmt.Errorf("give back %d bytes: %w", len(mem), err)
	}
	return nil
}

func (r *private) memory() harness.Memory {
	return harness.Memory{Buffers: []residency.Region{region("buffers", r.mem)}}
}
