package uringimpl

import (
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"golang.org/x/sys/unix"
)

// reclaimer does with the pages of consumed memory what param reclaim says.
type reclaimer struct {
	how  string
	unit int // bytes: what is touched at once
	stopwatch
}

// newReclaimer reclaims by whole pages, or where memory is advised to be in huge
// pages by those: to give back a part of one splits it, and what becomes of the
// rest is the kernel's affair.
func newReclaimer(sink *harness.Sink, how string, huge bool, count *harness.Counters) reclaimer {
	unit := unix.Getpagesize()
	if huge {
		unit = hugeBytes
	}
	return reclaimer{how: how, unit: unit, stopwatch: newStopwatch(sink, count)}
}

// giveBack reclaims the pages of which the first bytes of mem were touched. mem
// ends with a page.
func (r *reclaimer) giveBack(mem []byte, touched int) error {
	if r.how == "none" || r.how == "" || touched == 0 {
		return nil
	}
	whole := mem[:min((touched+r.unit-1)/r.unit*r.unit, len(mem))]
	r.count.Reclaims++
	begin := r.start()
	var err error
	switch r.how {
	case "memset":
		clear(mem[:touched])
	case "dontneed":
		r.count.Syscalls++
		err = unix.Madvise(whole, unix.MADV_DONTNEED)
	default:
		r.count.Syscalls++
		err = unix.Madvise(whole, unix.MADV_FREE)
	}
	r.stop(begin)
	if err != nil {
		return fmt.Errorf("give back %d bytes (%s): %w", len(whole), r.how, err)
	}
	return nil
}

// stopwatch times one reclaim call in stopwatchEvery with the trial's clock,
// whose own cost is subtracted: to time each would add two clock reads to a call
// that may take no longer.
type stopwatch struct {
	sink  *harness.Sink
	count *harness.Counters
	cost  uint64 // ticks of two reads of the clock with nothing between
	calls uint32
}

// stopwatchEvery is no multiple of the numbers of clients that are likely, so
// that all clients are timed in turn.
const stopwatchEvery = 7

func newStopwatch(sink *harness.Sink, count *harness.Counters) stopwatch {
	w := stopwatch{sink: sink, count: count, cost: 1 << 62}
	for range 64 {
		begin := sink.Now()
		w.cost = min(w.cost, sink.Now()-begin)
	}
	return w
}

// start returns the tick at which a timed call begins, or 0 for one that is not.
func (w *stopwatch) start() uint64 {
	w.calls++
	if w.calls%stopwatchEvery != 1 {
		return 0
	}
	return w.sink.Now()
}

// stop notes the end of the call that began at a tick.
func (w *stopwatch) stop(begin uint64) {
	if begin == 0 {
		return
	}
	if d := w.sink.Now() - begin; d > w.cost {
		w.count.ReclaimTicks += d - w.cost
	}
	w.count.ReclaimsTimed++
}
