//go:build cgo && !noverbs

package verbs

// #include "hot.h"
import "C"

import "time"

// What tests do to a window to bring about the faults users meet.

// pauseBeforeAwait lets completions pile up.
func (w *Window) pauseBeforeAwait(d time.Duration) {
	w.full.f.pause_us = C.uint32_t(d.Microseconds())
}

// unsignal asks for no completion of the sends.
func (w *Window) unsignal() { w.lane.last_flags &^= sendSignaled; w.relink() }

// withholdReceives sends to a peer that has posted none.
func (w *Window) withholdReceives() { w.full.f.withhold = 1 }

// asLane runs another lane over the same queue and arrays; it must prepare them
// alike.
func (w *Window) asLane(l Lane) { w.cfg.Lane, w.kind = l, C.enum_zc_kind(l) }

// relink prepares the lane's arrays again after its flags changed.
func (w *Window) relink() {
	C.zc_lane_close(w.lane)
	C.zc_lane_open(w.lane, w.kind)
}
