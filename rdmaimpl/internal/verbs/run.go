//go:build cgo && !noverbs

package verbs

// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"fmt"
	"runtime"
	"syscall"

	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// First runs one batch and returns it apart: the first a lane runs in a process
// pays for cold code, a cold allocator and first touches.
func (w *Window) First() (First, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := w.drain(); err != nil {
		return First{}, err
	}
	w.startCounting()
	if err := w.suppressed(func() error { return w.run(1, true) }); err != nil {
		return First{}, err
	}
	f := First{Lap: lapOf(w.laps[0]), MinorFaults: int64(w.done.minor_faults)}
	var err error
	f.Counts, err = w.counts()
	return f, err
}

// Warm runs unrecorded batches through every slot of the queue: how far the
// device made it deeper than asked, its memory is touched first here.
func (w *Window) Warm() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	slots := w.cfg.Depth
	switch {
	case w.mode == modeComplete:
		slots = 1
	case w.queue != nil && !w.ctx.null():
		slots = max(slots, int(w.queue.q.granted.send_wr), int(w.queue.q.granted.recv_wr)) + 1
	}
	return w.suppressed(func() error {
		for done := 0; done < slots; done += w.segment * w.cfg.Batch {
			if err := w.drain(); err != nil {
				return err
			}
			if err := w.run(w.segment, false); err != nil {
				return err
			}
		}
		return nil
	})
}

// Run runs the window: segments of as many batches as the queue takes, each
// timed in parts or as a whole in turn, the queue drained in between.
func (w *Window) Run() (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r := Result{Lane: w.cfg.Lane, PinnedBytes: w.pinned(), ClockTicks: uint64(C.zc_clock_cost(w.tsc))}
	r.Laps = make([]Lap, 0, w.cfg.Batches)
	swallowed := C.zc_doorbells_swallowed()
	w.startCounting()
	if w.golane != nil {
		w.golane.heap = goHeap{}
	}
	start := C.zc_ticks(w.tsc)
	if err := w.suppressed(func() error { return w.segments(&r) }); err != nil {
		return r, err
	}
	r.Elapsed = uint64(C.zc_ticks(w.tsc) - start)
	if w.golane != nil {
		r.GoAllocs, r.GoAllocBytes = w.golane.heap.objects, w.golane.heap.bytes
	}
	r.WRs = r.Batches * w.cfg.Batch
	if w.peer != nil && w.mode == modeReset {
		r.Suppressed = true
		r.Doorbells = uint64(C.zc_doorbells_swallowed() - swallowed)
	}
	var err error
	r.Counts, err = w.counts()
	return r, err
}

func (w *Window) segments(r *Result) error {
	if w.mode == modeComplete {
		return w.runComplete(r)
	}
	parts, wholes := w.cfg.Batches, w.cfg.Totals
	for parts > 0 || wholes > 0 {
		split := parts > 0 && (len(r.Totals)*w.segment >= len(r.Laps) || wholes == 0)
		left := &wholes
		if split {
			left = &parts
		}
		n := min(*left, w.segment)
		*left -= n
		if err := w.drain(); err != nil {
			return err
		}
		if err := w.run(n, split); err != nil {
			return err
		}
		if split {
			for _, lap := range w.laps[:n] {
				r.Laps = append(r.Laps, lapOf(lap))
			}
		} else {
			r.Totals = append(r.Totals, Total{uint64(w.done.ticks), n})
		}
		r.Batches += n
		w.addFaults(r)
	}
	return nil
}

func (w *Window) addFaults(r *Result) {
	r.MinorFaults += int64(w.done.minor_faults)
	r.MajorFaults += int64(w.done.major_faults)
	r.Waits += int64(w.done.waits)
}

// run runs one segment.
func (w *Window) run(n int, split bool) error {
	if w.mode == modeComplete {
		return w.full.run(w, min(n, len(w.laps)), nil)
	}
	if w.mode == modeDrained {
		if err := w.full.receives(w, n); err != nil {
			return err
		}
	}
	if w.cfg.Around != nil {
		w.cfg.Around(true)
	}
	var laps *C.struct_zc_lap
	if split {
		laps = &w.laps[0]
	}
	if w.golane != nil {
		w.golane.run(n, laps)
	} else {
		C.zc_window(w.kind, w.lane, C.uint32_t(n), laps, w.tsc, w.done)
	}
	if w.cfg.Around != nil {
		w.cfg.Around(false)
	}
	if err := w.posted(); err != nil || w.mode == modeReset {
		return err
	}
	return w.full.await(w, n)
}

func lapOf(l C.struct_zc_lap) Lap {
	return Lap{uint64(l.build), uint64(l.post), uint64(l.drop)}
}

// posted turns a refused batch into an error.
func (w *Window) posted() error {
	errno := syscall.Errno(w.done.err)
	if errno == 0 {
		return nil
	}
	return w.refused(errno, int(w.done.bad), int(w.done.batches))
}

func (w *Window) refused(errno syscall.Errno, bad, batch int) error {
	cfg, info := w.cfg, w.cfg.Lane.Info()
	if info.Inline && (errno == syscall.EINVAL || errno == syscall.ENOSPC) {
		granted := int(w.queue.q.granted.inline_bytes)
		if cfg.Bytes > granted {
			return &Unsupported{What: fmt.Sprintf("%d B inline on a queue pair of %s, refused at the post", cfg.Bytes, w.ctx.Name), Limit: granted, Errno: errno}
		}
	}
	e := &Error{Op: fmt.Sprintf("lane %s: post batch %d", cfg.Lane, batch), Errno: errno}
	if bad >= 0 {
		e.Detail = fmt.Sprintf("request %d of %d was refused, those before it were taken", bad, cfg.Batch)
	}
	switch {
	case errno == syscall.ENOMEM && cfg.Lane == RegisterEach:
		e.Detail = fmt.Sprintf("registering payload %d of %d failed", bad, cfg.Batch)
		e.Remedy = memlockRemedy(cfg.Bytes)
	case errno == syscall.ENOMEM:
		granted := w.queue.q.granted.send_wr
		if info.Recv {
			granted = w.queue.q.granted.recv_wr
		}
		e.Remedy = fmt.Sprintf("the queue is full: depth %d was asked, the device granted %d; post less at a time, take completions, or make it deeper", cfg.Depth, granted)
	}
	return e
}

// startCounting sets the thread's counts to zero and follows copies of the
// payload, when the shim is there.
func (w *Window) startCounting() {
	if w.shim == nil {
		return
	}
	w.shim.Reset()
	_ = w.shim.Watch(nil, 0) // forgetting cannot fail
	if !w.cfg.Lane.Info().Recv {
		_ = w.shim.Watch(w.src.at, w.src.bytes) // the first range has room
	}
}

func (w *Window) counts() (*shim.Counts, error) {
	if w.shim == nil {
		return nil, nil
	}
	c, err := w.shim.Counts()
	if err != nil {
		return nil, err
	}
	return &c, nil
}

func (w *Window) pinned() int {
	total := 0
	for _, m := range []*memory{w.src, w.bounce, w.landing} {
		if m != nil && m.mr.mr != nil {
			total += m.bytes
		}
	}
	return total
}
