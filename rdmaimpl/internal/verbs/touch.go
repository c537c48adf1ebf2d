//go:build cgo && !noverbs

package verbs

// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"syscall"
	"unsafe"
)

// touchBatch is how many requests are posted at a time to touch a queue.
const touchBatch = 32

// touchQueue posts once through every slot of the queue, by a plain lane that
// allocates nothing, so that the first batch of the lane under test pays for its
// own first touches and not for those of the queue's memory.
func (w *Window) touchQueue() error {
	if w.queue == nil || w.ctx.null() || w.mode != modeReset {
		return w.drain()
	}
	kind := C.enum_zc_kind(C.ZC_SEND_ARRAY)
	granted := int(w.queue.q.granted.send_wr)
	switch i := w.cfg.Lane.Info(); {
	case i.Recv:
		kind, granted = C.ZC_RECV_ARRAY_LINKED, int(w.queue.q.granted.recv_wr)
	case i.Ex:
		kind = C.ZC_SEND_WR_EX
	}
	batch := min(touchBatch, w.cfg.Depth)
	l := (*C.struct_zc_lane)(C.calloc(1, C.sizeof_struct_zc_lane))
	defer C.free(unsafe.Pointer(l))
	l.qp, l.ex, l.batch, l.sges, l.src = w.queue.q.qp, w.queue.q.ex, C.uint32_t(batch), 1, w.src.buffers(1, 1)
	if errno := C.zc_lane_open(l, kind); errno != 0 {
		return &Error{Op: "touch the queue", Errno: syscall.Errno(errno)}
	}
	defer C.zc_lane_close(l)
	fill := w.cfg.Depth / batch
	return w.suppressed(func() error {
		for slots := 0; slots <= granted; slots += fill * batch {
			if err := w.drain(); err != nil {
				return err
			}
			if errno := C.zc_plain(kind, l, C.uint32_t(fill)); errno != 0 {
				return &Error{Op: "touch the queue", Errno: syscall.Errno(errno)}
			}
		}
		return w.drain()
	})
}
