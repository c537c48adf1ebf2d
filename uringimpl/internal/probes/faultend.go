package probes

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

const (
	endTries   = 400
	endMessage = 123
	// endBudget bounds the tries by time, endLost by how many ends were lost: each
	// of those costs a wait.
	endBudget = 5 * time.Second
	endLost   = 10
)

// collectLostEnd has a peer send and shut down at once while a multishot receive
// waits, many times: from another thread, in a race with the receive, and from the
// receiver's own, which no race decides where completions are deferred.
func collectLostEnd(t *trace) error {
	lost := 0
	for i, stop := 0, time.Now().Add(endBudget); i < endTries && lost < endLost && time.Now().Before(stop); i++ {
		r, err := oneEnd(i)
		if err != nil {
			return err
		}
		if !r.told() {
			lost++
		}
		t.fold(r)
	}
	return nil
}

// told reports whether a completion told the end of the stream.
func (r round) told() bool {
	for _, c := range r.CQEs {
		if c.Res == 0 {
			return true
		}
	}
	return false
}

func oneEnd(try int) (round, error) {
	g := newRig(4, 256, 0, 0)
	g.provideAll()
	a, b := g.unixPair()
	r := round{Buffers: 4, Size: 256, Sent: []int{endMessage}, Head: -1}
	g.read(ring.OpRecv, b, 0, ring.RecvMultishot, 0)
	g.lacking("multishot receives", g.reap(1, 0))
	if g.err != nil {
		return r, g.close()
	}
	if try%2 == 0 {
		r.Name = endDeferred
		if !g.ring.Deferred() {
			r.Name = endOneThread
		}
		g.fail("send and shut down", sendAndShut(a, 0))
		r.CQEs = g.reap(2, patience)
	} else {
		r.Name = endRace
		r.CQEs = g.raceEnd(a, [...]int{0, 100, 400, 1600}[try/2%4])
	}
	if !r.told() && g.err == nil {
		// What is late is not lost.
		r.CQEs = append(r.CQEs, g.reap(1, patience)...)
		n, _, err := unix.Recvfrom(b, make([]byte, 1), unix.MSG_PEEK|unix.MSG_DONTWAIT)
		r.Ended = n == 0 && err == nil
	}
	return r, g.close()
}

const (
	endDeferred  = "send and shutdown before the receiver looks"
	endOneThread = "send and shutdown by the receiver's thread"
	endRace      = "send and shutdown while the receiver waits"
)

// sendAndShut sends the message and ends the stream, with a pause between.
func sendAndShut(fd, spins int) error {
	if _, err := unix.Write(fd, letters(0, endMessage)); err != nil {
		return err
	}
	var spun atomic.Int64
	for range spins {
		spun.Add(1)
	}
	return unix.Shutdown(fd, unix.SHUT_WR)
}

// raceEnd has another thread send and shut down while this one waits.
func (g *rig) raceEnd(fd, spins int) []cqe {
	var start atomic.Bool
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for !start.Load() {
			runtime.Gosched()
		}
		done <- sendAndShut(fd, spins)
	}()
	start.Store(true)
	got := g.reap(2, patience)
	g.fail("send and shut down", <-done)
	return got
}

func judgeLostEnd(t trace) judgment {
	tries, lost, unknown, deferred := 0, 0, 0, 0
	var last []cqe
	var how string
	for _, r := range t.Rounds {
		tries += r.Times
		if r.Name == endDeferred {
			deferred += r.Times
		}
		switch {
		case r.told():
		case r.Ended:
			lost += r.Times
			last, how = r.CQEs, r.Name
		default:
			unknown += r.Times
			last = r.CQEs
		}
	}
	switch {
	case lost > 0:
		return present("in %d of %d tries no completion told the end of the stream, though the socket does (%s: %s)", lost, tries, how, tell(last))
	case unknown > 0:
		return unclear("in %d of %d tries neither completions nor the socket told the end: %s", unknown, tries, tell(last))
	case tries == 0:
		return unclear("nothing was tried in time")
	case deferred == 0 && t.CPUs < 2:
		return judgment{Verdict: record.Untestable, Reason: fmt.Sprintf("the end was told in %d of %d tries, but on one CPU and without deferred completions the two calls hardly race with the receive", tries, tries)}
	}
	return absent("the end was told in %d of %d tries, %d of them with both calls before the receiver looked", tries, tries, deferred)
}
