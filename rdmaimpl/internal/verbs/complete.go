//go:build cgo && !noverbs

package verbs

// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"fmt"
	"syscall"
	"unsafe"
)

// full is what a complete window adds: receives to land in and completions.
type full struct {
	f         *C.struct_zc_full
	recv      *C.struct_zc_lane
	landing   C.struct_zc_bufs
	latency   []C.uint64_t // C memory
	connected bool
}

func (w *Window) prepareFull() error {
	cfg := w.cfg
	count := nextPowerOfTwo(cfg.Batch)
	var err error
	if w.landing, err = w.ctx.newMemory(count * (cfg.Bytes + lineBytes)); err != nil {
		return err
	}
	fu := &full{landing: w.landing.buffers(cfg.Bytes, count)}
	w.full = fu
	fu.recv = (*C.struct_zc_lane)(C.calloc(1, C.sizeof_struct_zc_lane))
	fu.recv.qp, fu.recv.batch, fu.recv.sges, fu.recv.src = w.peer.q.qp, C.uint32_t(cfg.Batch), 1, fu.landing
	if errno := C.zc_lane_open(fu.recv, C.ZC_RECV_ARRAY_LINKED); errno != 0 {
		return &Error{Op: "prepare receives", Errno: syscall.Errno(errno)}
	}
	room := 2*cfg.Batch + 2
	if w.mode == modeDrained {
		room = (w.segment + 1) * (cfg.Batch + 1)
	}
	fu.f = (*C.struct_zc_full)(C.calloc(1, C.sizeof_struct_zc_full))
	fu.f.device, fu.f.sender, fu.f.receiver, fu.f.recv = w.ctx.dev, w.queue.q, w.peer.q, fu.recv
	fu.f.wcs = (*C.struct_zc_wc)(C.calloc(C.size_t(room), C.sizeof_struct_zc_wc))
	fu.f.wcs_room = C.uint32_t(room)
	fu.f.timeout_ms = C.int32_t(cfg.Deadline.Milliseconds())
	at := (*C.uint64_t)(C.calloc(C.size_t(len(w.laps)), C.sizeof_uint64_t))
	fu.latency = unsafe.Slice(at, len(w.laps))
	return nil
}

func (f *full) close() {
	if f == nil {
		return
	}
	if f.recv != nil {
		C.zc_lane_close(f.recv)
		C.free(unsafe.Pointer(f.recv))
	}
	if f.f != nil {
		C.free(unsafe.Pointer(f.f.wcs))
		C.free(unsafe.Pointer(f.f))
	}
	if len(f.latency) > 0 {
		C.free(unsafe.Pointer(&f.latency[0]))
	}
}

// receives posts receives for n batches.
func (f *full) receives(w *Window, n int) error {
	if errno := syscall.Errno(C.zc_full_receives(f.f, C.uint32_t(n), w.done)); errno != 0 {
		return &Error{Op: fmt.Sprintf("lane %s: post receives for %d batches to the peer", w.cfg.Lane, n), Errno: errno}
	}
	return nil
}

// await waits for the completions of a segment's n batches.
func (f *full) await(w *Window, n int) error {
	why := C.zc_full_await(f.f, w.lane, C.uint32_t(n))
	from := C.zc_ticks(w.tsc)
	C.zc_lane_release(w.lane)
	w.laps[0].drop += C.zc_ticks(w.tsc) - from // of register-each, whose segment is one batch
	if why != C.ZC_DONE {
		return w.waitError(&f.f.wait, 0)
	}
	return w.lengths()
}

// runComplete runs the whole window in one call.
func (w *Window) runComplete(r *Result) error {
	if w.cfg.Totals > 0 {
		return fmt.Errorf("lane %s: complete sends are timed batch by batch, not %d as a whole", w.cfg.Lane, w.cfg.Totals)
	}
	if err := w.full.run(w, w.cfg.Batches, r); err != nil {
		return err
	}
	for i, lap := range w.laps[:w.cfg.Batches] {
		r.Laps = append(r.Laps, lapOf(lap))
		r.Latency = append(r.Latency, uint64(w.full.latency[i]))
	}
	r.Batches = w.cfg.Batches
	w.addFaults(r)
	return nil
}

func (f *full) run(w *Window, n int, r *Result) error {
	if w.cfg.Around != nil && r != nil {
		w.cfg.Around(true)
		defer w.cfg.Around(false)
	}
	C.zc_full_run(w.kind, w.lane, f.f, C.uint32_t(n), &w.laps[0], &f.latency[0], w.tsc, w.done)
	if r != nil {
		r.Wakeups = int(f.f.wakeups)
	}
	if err := w.posted(); err != nil {
		return err
	}
	if err := w.awaited(n); err != nil {
		return err
	}
	return w.lengths()
}

// awaited turns a wait that ended badly into an error.
func (w *Window) awaited(n int) error {
	f, done := w.full.f, int(w.done.batches)
	if done >= n && f.wait.why == C.ZC_DONE {
		return nil
	}
	return w.waitError(&f.wait, done)
}

func (w *Window) waitError(wait *C.struct_zc_wait, batch int) error {
	switch wait.why {
	case C.ZC_DONE:
		return nil
	case C.ZC_WC_FAILED:
		wc := wait.failed
		return &CompletionError{
			Lane: w.cfg.Lane, Batch: batch, WR: uint64(wc.wr_id), Recv: wc.recv != 0, Status: int(wc.status),
			StatusMsg: C.GoString(C.zc_wc_status(C.int(wc.status))), VendorErr: uint32(wc.vendor_err),
		}
	case C.ZC_ASYNC:
		return &AsyncError{
			Lane: w.cfg.Lane, Batch: batch, Event: C.GoString(C.zc_event_name(C.int(wait.detail))), Number: int(wait.detail),
			Seen: int(wait.sent + wait.received), CQE: int(w.queue.q.cqe), SendsAwaited: int(wait.sends), RecvsAwaited: int(wait.recvs),
		}
	case C.ZC_DEADLINE:
		return fmt.Errorf("lane %s, batch %d: %w of %v: %d of %d sends and %d of %d receives completed", w.cfg.Lane, batch,
			ErrDeadline, w.cfg.Deadline, wait.sent, wait.sends, wait.received, wait.recvs)
	}
	return &Error{Op: fmt.Sprintf("lane %s, batch %d: wait for completions", w.cfg.Lane, batch), Errno: syscall.Errno(wait.detail)}
}

// lengths refuses a lane whose receives told of other lengths than were sent.
func (w *Window) lengths() error {
	f := w.full.f
	if f.wrong_len == 0 {
		return nil
	}
	return fmt.Errorf("lane %s is invalid on %s: %d receives had a byte_len other than the %d sent, the first %d",
		w.cfg.Lane, w.ctx.Provider, f.wrong_len, w.cfg.Bytes, f.first_len)
}

// wcAt is a completion of the last batch.
func wcAt(f *C.struct_zc_full, i uint32) C.struct_zc_wc {
	return unsafe.Slice(f.wcs, f.wcs_room)[i]
}
