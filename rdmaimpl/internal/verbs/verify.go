//go:build cgo && !noverbs

package verbs

// #include "hot.h"
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// Verify sends batches of a lane through to their completions with another
// payload in every message, and checks every byte and every byte_len that
// arrives. It returns how many messages were right; the error names the first
// that was not.
func (c *Context) Verify(cfg Config, seed uint64) (messages int, err error) {
	batches := cfg.Batches
	cfg.Batches, cfg.Cold, cfg.ColdBytes = 1, true, 4*cfg.Batch*(cfg.Bytes+lineBytes)
	w, err := c.OpenComplete(cfg)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := w.Close(); err == nil {
			err = e
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for range batches {
		if err := w.verifyBatch(seed); err != nil {
			return messages, err
		}
		messages += w.cfg.Batch
	}
	return messages, nil
}

func (w *Window) verifyBatch(seed uint64) error {
	first := uint64(w.lane.wr_id)
	from := uint32(w.lane.cursor)
	into := uint32(w.full.recv.cursor)
	for i := range w.cfg.Batch {
		buf := at(&w.lane.src, from+uint32(i))
		for j := range buf {
			buf[j] = Pattern(seed, first+uint64(i), j)
		}
		clear(at(&w.full.landing, into+uint32(i)))
	}
	if err := w.full.run(w, 1, nil); err != nil {
		return err
	}
	for i := range w.cfg.Batch {
		got := at(&w.full.landing, into+uint32(i))
		for j, b := range got {
			if want := Pattern(seed, first+uint64(i), j); b != want {
				return fmt.Errorf("lane %s on %s: message %d is wrong from byte %d on: %#02x instead of %#02x", w.cfg.Lane, w.ctx.Name, first+uint64(i), j, b, want)
			}
		}
	}
	return nil
}

// at is the i-th of buffers, as Go sees it.
func at(b *C.struct_zc_bufs, i uint32) []byte {
	p := uintptr(b.base) + uintptr(i&uint32(b.mask))*uintptr(b.stride)
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&p))), int(b.len)) // C memory: no Go pointer is made up
}
