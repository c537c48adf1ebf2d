//go:build cgo && !noverbs

package verbs

// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"fmt"
	"runtime"
	"syscall"
	"unsafe"
)

// Aging is a heap with long-lived blocks that posts are made amongst.
type Aging struct {
	cfg AgingConfig
	w   *Window
	a   *C.struct_zc_aging
}

// OpenAging prepares a heap. Its blocks are empty until the first Step.
func (c *Context) OpenAging(cfg AgingConfig) (*Aging, error) {
	if cfg.Slots < 1 || cfg.Replace < 0 || cfg.MinBytes < 4 || cfg.MaxBytes < cfg.MinBytes {
		return nil, fmt.Errorf("heap aging: %d slots of %d to %d bytes, %d replaced: slots and at least 4 bytes each are needed", cfg.Slots, cfg.MinBytes, cfg.MaxBytes, cfg.Replace)
	}
	switch cfg.Lane {
	case RecvGuard, RecvGuardReserved, RecvGuardReused, RecvArray, SendGuard, SendArray, InlineOwned, InlineBorrowed:
	default:
		return nil, fmt.Errorf("heap aging: lane %s cannot vary its batch", cfg.Lane)
	}
	w, err := c.OpenWindow(Config{Lane: cfg.Lane, Batch: cfg.MaxBatch, Bytes: cfg.Bytes})
	if err != nil {
		return nil, err
	}
	a := (*C.struct_zc_aging)(C.calloc(1, C.sizeof_struct_zc_aging))
	*a = C.struct_zc_aging{
		slot: (*unsafe.Pointer)(C.calloc(C.size_t(cfg.Slots), C.size_t(unsafe.Sizeof(uintptr(0))))), slots: C.uint32_t(cfg.Slots),
		replace: C.uint32_t(cfg.Replace), min_bytes: C.uint32_t(cfg.MinBytes), max_bytes: C.uint32_t(cfg.MaxBytes),
		max_batch: C.uint32_t(cfg.MaxBatch), random: C.uint64_t(cfg.Seed | 1),
	}
	return &Aging{cfg, w, a}, nil
}

// Step runs batches until the queue is full, or would be: for the control the
// queue is as deep. Between steps the caller may sample the heap.
func (g *Aging) Step() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := g.w.drain(); err != nil {
		return err
	}
	posts := C.int(1)
	if g.cfg.Control {
		posts = 0
	}
	if errno := C.zc_aging_run(g.w.kind, g.w.lane, g.a, C.uint32_t(g.w.cfg.Depth), posts, g.w.done); errno != 0 {
		return g.w.refused(syscall.Errno(errno), int(g.w.done.bad), int(g.w.done.batches))
	}
	return nil
}

// Requests are the work requests so far; LiveBytes is what the long-lived blocks
// were asked for. Both are equal with and without posts.
func (g *Aging) Requests() uint64 { return uint64(g.a.requests) }

// LiveBytes is what the long-lived blocks hold, as asked for.
func (g *Aging) LiveBytes() uint64 { return uint64(g.a.live_bytes) }

// Close frees the blocks and the queue.
func (g *Aging) Close() error {
	C.zc_aging_free(g.a)
	C.free(unsafe.Pointer(g.a))
	return g.w.Close()
}
