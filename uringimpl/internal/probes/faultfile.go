package probes

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// The file of the report on lengths: shorter than the reads of it.
const (
	shortFile = 12
	longRead  = 16
)

// collectReadLength reads a short file with a longer length three times into an
// incrementally consumed buffer.
func collectReadLength(t *trace) error {
	g := newRig(2, 256, ring.PbufInc, 0)
	g.provideAll()
	r := round{Name: "reads longer than the file", Buffers: 2, Size: 256, Asked: longRead}
	for i := range 3 {
		fd := g.file(letters(i, shortFile))
		g.read(ring.OpRead, fd, longRead, 0, uint64(i))
		r.CQEs = append(r.CQEs, g.reap(1, patience)...)
		r.Sent = append(r.Sent, shortFile)
	}
	r.Runs, r.Slots, r.Head = g.runsOfLetters(), g.slots(), g.head()
	t.Rounds = append(t.Rounds, r)
	return g.close()
}

func judgeReadLength(t trace) judgment {
	if len(t.Rounds) != 1 || len(t.Rounds[0].CQEs) != 3 {
		return unclear("the reads did not complete: %d rounds", len(t.Rounds))
	}
	r := t.Rounds[0]
	for _, c := range r.CQEs {
		if c.Res == -int32(unix.EINVAL) {
			return absent("a read with a stated length into an incrementally consumed buffer is refused: %v", c)
		}
	}
	if found := r.found(); found[1].bid == found[0].bid && found[1].at-found[0].at == longRead {
		// Also where F_BUF_MORE is lost, so that nothing can be said of the contract.
		return present("reads of %d bytes from a file of %d: the second lies %d bytes behind the first, which brought %d: found %v, %v, %v",
			longRead, shortFile, found[1].at-found[0].at, r.CQEs[0].Res, found[0], found[1], found[2])
	}
	return r.judgePlaces("reads of %d bytes from a file of %d", longRead, shortFile)
}

// reused is the first buffer that a completion called used up and that the kernel
// went on to fill though nobody handed it back.
func (r round) reused() (bid uint16, ok bool) {
	ended := map[uint16]bool{}
	for _, c := range dataOf(r.CQEs) {
		if c.Res > 0 && ended[c.bid()] {
			return c.bid(), true
		}
		ended[c.bid()] = ended[c.bid()] || !c.bufferMore()
	}
	return 0, false
}

// judgePlaces compares where the completions put the messages with where they lie.
func (r round) judgePlaces(format string, args ...any) judgment {
	if bid, ok := r.reused(); ok {
		return unclear("F_BUF_MORE cannot be relied on here: buffer %d was called used up, and then filled on: %s", bid, tell(r.CQEs))
	}
	want, err := r.believed()
	if err != nil {
		return unclear("the completions do not fit the buffers provided: %v: %s", err, tell(r.CQEs))
	}
	found := r.found()
	if len(found) == 0 || len(found) != len(r.Sent) {
		return unclear("%d of %d messages were found in the buffers: %s", len(found), len(r.Sent), tell(r.CQEs))
	}
	var at, believed []place
	wrong := 0
	message := 0
	for i, c := range dataOf(r.CQEs) {
		if c.Res == 0 {
			continue // the end of a stream: a place, but no bytes
		}
		if message >= len(r.Sent) {
			return unclear("%d messages were sent, but more completions came: %s", len(r.Sent), tell(r.CQEs))
		}
		at, believed = append(at, found[message]), append(believed, want[i])
		if found[message] != want[i] {
			wrong++
		}
		message++
	}
	if message != len(r.Sent) {
		return unclear("%d of %d messages completed: %s", message, len(r.Sent), tell(r.CQEs))
	}
	what := fmt.Sprintf(format, args...)
	if wrong > 0 {
		return present("%s: %d of %d lie elsewhere than the completions say: found %s; by the completions %s",
			what, wrong, len(at), places(at), places(believed))
	}
	return absent("%s: %d of %d lie where the completions say: %s", what, len(at), len(at), places(at))
}

// dataOf are the completions that name a buffer, as believed counts them.
func dataOf(cqes []cqe) []cqe {
	var out []cqe
	for _, c := range cqes {
		if c.buffer() && c.Res >= 0 {
			out = append(out, c)
		}
	}
	return out
}

// collectLostMore reads to the end of a pipe, and goes on with another; then reads
// a file piece by piece.
func collectLostMore(t *trace) error {
	const size, piece = 256, 10
	g := newRig(2, size, ring.PbufInc, 0)
	g.provideAll()
	r := round{Name: "end of a pipe", Buffers: 2, Size: size}
	for i := range 2 {
		rd, wr := g.pipe()
		g.send(wr, letters(i, piece))
		g.hangUp(wr)
		for range 2 - i { // the end is read of the first pipe only
			g.read(ring.OpRead, rd, 0, 0, uint64(i))
			r.CQEs = append(r.CQEs, g.reap(1, patience)...)
		}
		r.Sent = append(r.Sent, piece)
	}
	r.Runs, r.Slots, r.Head = g.runsOfLetters(), g.slots(), g.head()
	t.Rounds = append(t.Rounds, r)
	if err := g.close(); err != nil {
		return err
	}

	g = newRig(2, size, ring.PbufInc, 0)
	g.provideAll()
	r = round{Name: "file read in pieces", Buffers: 2, Size: size, Asked: piece}
	for i := range 3 {
		fd := g.file(letters(i, piece))
		g.read(ring.OpRead, fd, piece, 0, uint64(i))
		r.CQEs = append(r.CQEs, g.reap(1, patience)...)
		r.Sent = append(r.Sent, piece)
	}
	r.Runs, r.Slots, r.Head = g.runsOfLetters(), g.slots(), g.head()
	t.Rounds = append(t.Rounds, r)
	return g.close()
}

func judgeLostMore(t trace) judgment {
	if len(t.Rounds) != 2 {
		return unclear("%d of 2 rounds ran", len(t.Rounds))
	}
	var last judgment
	for _, r := range t.Rounds {
		if bid, ok := r.reused(); ok {
			return present("%s: buffer %d of %d bytes was called used up, and then filled on: %s", r.Name, bid, r.Size, tell(r.CQEs))
		}
		j := r.judgePlaces("%s", r.Name)
		if j.Verdict != record.Absent {
			return j
		}
		if last.Evidence != "" {
			j.Evidence = last.Evidence + "; " + j.Evidence
		}
		last = j
	}
	return last
}
