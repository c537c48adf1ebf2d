package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// arming is who needs a receive request.
type arming struct {
	unarmed []int32
	// starved are the clients of a shared group whose receives were refused for
	// want of a buffer, longest first. Bytes wait for most of them: no more are
	// asked for at a time than there are buffers, or all but a few would be
	// refused again, each time.
	starved []int32
	hurry   bool // somebody could be armed at once: do not sleep
}

func newArming(clients int) arming {
	a := arming{unarmed: make([]int32, clients), starved: make([]int32, 0, clients)}
	for c := range a.unarmed {
		a.unarmed[c] = int32(c)
	}
	return a
}

// refused notes a client whose receive met an empty group.
func (a *arming) refused(client int, shared bool) {
	if shared {
		a.starved = append(a.starved, int32(client))
	} else {
		a.unarmed = append(a.unarmed, int32(client))
	}
}

// arm gives the clients that lack one a receive request. A client without a
// buffer left would be refused at once: held messages are let go early for it,
// or it waits for their time.
func (r *provided) arm() error {
	r.hurry = false
	if r.shared {
		return r.armShared()
	}
	kept := r.unarmed[:0]
	for i, c := range r.unarmed {
		some, err := r.buffersFor(int(c))
		if err != nil {
			return err
		}
		if !some {
			kept = append(kept, c)
			continue
		}
		if !r.request(c) {
			kept, r.hurry = append(kept, r.unarmed[i:]...), true
			break
		}
	}
	r.unarmed = kept
	return nil
}

// armShared is arm where all clients share the buffers.
func (r *provided) armShared() error {
	if len(r.unarmed)+len(r.starved) == 0 {
		return nil
	}
	if some, err := r.buffersFor(0); !some {
		return err
	}
	r.unarmed = r.unarmed[:copy(r.unarmed, r.unarmed[r.requests(r.unarmed):])]
	few := r.starved[:min(len(r.starved), r.back.available(0))]
	r.starved = r.starved[:copy(r.starved, r.starved[r.requests(few):])]
	r.hurry = len(r.unarmed)+len(r.starved) > 0
	return nil
}

// requests asks for a receive of each of some clients, and returns how many the
// submission ring had room for.
func (r *provided) requests(clients []int32) int {
	for i, c := range clients {
		if !r.request(c) {
			return i
		}
	}
	return len(clients)
}

// buffersFor reports whether the kernel has a buffer for a client, once held
// messages have been let go as far as they may.
func (r *provided) buffersFor(client int) (bool, error) {
	g := r.group(client)
	for r.back.available(g) == 0 && r.sink.ForceRelease() {
		if err := r.recycle(); err != nil {
			return false, err
		}
	}
	if r.back.available(g) > 0 {
		return true, nil
	}
	// Buffers may still be on their way back: the submission ring was full.
	if r.sink.Holding() > 0 || len(r.groups[g].bids) > 0 {
		r.hurry = r.hurry || len(r.groups[g].bids) > 0
		return false, nil
	}
	if r.shared {
		return false, fmt.Errorf("open messages fill all %d buffers of %d bytes that the clients share; raise the budget, or use group: per-client or assembly: contiguous", r.per, r.size)
	}
	return false, fmt.Errorf("client %d: an open message fills all %d buffers of %d bytes; raise the budget", client, r.per, r.size)
}

// request asks for a receive of a client; false means the submission ring is full.
func (r *provided) request(c int32) bool {
	e := r.ring.Next()
	if e == nil {
		return false
	}
	e.Opcode, e.Fd, e.Flags = ring.OpRecv, int32(r.fds[c]), ring.SQEBufferSelect
	e.BufGroup, e.UserData = uint16(r.group(int(c))), uint64(c)
	e.Ioprio, e.Len = r.ioprio, r.pieces
	if r.ioprio&ring.RecvMultishot == 0 && !r.nonEmpty[c] {
		e.Ioprio |= ring.RecvPollFirst
	}
	return true
}
