package harness

// Keeper is a receiver that says how much memory a buffer keeps from new data
// while any message lies in it: all of a chunk, the consumed part of a buffer
// that is still being filled, the filled part of a private range.
type Keeper interface {
	Kept(id int32) int64 // bytes of buffer id
}

// stranded finds out what messages in the application's hands, and those not
// yet complete, keep from being used again beyond their own bytes: the
// fragmentation that a buffer's last holder causes.
type stranded struct {
	keeper Keeper // nil: the strategy does not say
	seen   []bool // buffers met in this look
	found  []int32
}

func newStranded(r Receiver, buffers int) *stranded {
	s := &stranded{seen: make([]bool, buffers), found: resident[int32](buffers)}
	s.keeper, _ = r.(Keeper)
	clear(s.seen)
	return s
}

// look returns the bytes of messages that lie in buffers, and the bytes these
// buffers keep.
func (s *stranded) look(sink *Sink) (messages, kept int64) {
	if s.keeper == nil {
		return 0, 0
	}
	for at := sink.hold.oldest; at != noPlace; at = sink.hold.places[at].younger {
		messages += s.add(sink.hold.places[at].pieces)
	}
	for i := range sink.conns {
		messages += s.add(sink.conns[i].pend)
	}
	for _, id := range s.found {
		kept += s.keeper.Kept(id)
		s.seen[id] = false
	}
	s.found = s.found[:0]
	return messages, max(kept, messages)
}

func (s *stranded) add(pieces []piece) (bytes int64) {
	for _, p := range pieces {
		if p.buf < 0 { // made contiguous: no buffer is kept
			continue
		}
		bytes += int64(p.n)
		if !s.seen[p.buf] {
			s.seen[p.buf] = true
			s.found = append(s.found, p.buf)
		}
	}
	return bytes
}
