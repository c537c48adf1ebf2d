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

// The two sides number the times of a change alike.
const (
	_ = uint(BetweenBuildAndPost-C.ZC_POKE_BUILT) * uint(C.ZC_POKE_BUILT-BetweenBuildAndPost)
	_ = uint(AfterPost-C.ZC_POKE_POSTED) * uint(C.ZC_POKE_POSTED-AfterPost)
)

// Truth changes a byte of the caller's buffer after a lane's build or after its
// post, and says whether the change reached the peer: when the lane, or the
// device behind it, really reads the buffer. The receive is posted last, so that
// a device that reads at the transfer does so after the change.
func (c *Context) Truth(lane Lane, bytes int, when When) (changed bool, err error) {
	w, err := c.OpenComplete(Config{Lane: lane, Batch: 1, Bytes: bytes, Batches: 1})
	if err != nil {
		return false, err
	}
	defer func() {
		if e := w.Close(); err == nil {
			err = e
		}
	}()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	src, landing := at(&w.lane.src, uint32(w.lane.cursor)), at(&w.full.landing, 0)
	for i := range src {
		src[i] = Pattern(1, 0, i)
	}
	old := src[bytes/2]
	clear(landing)
	if w.lane.hold = 1; C.zc_poked(w.kind, w.lane, w.full.f, (*C.uint8_t)(&src[bytes/2]), C.int(when), w.done) != C.ZC_DONE {
		if err := w.posted(); err != nil {
			return false, err
		}
		return false, w.waitError(&w.full.f.wait, 0)
	}
	for i, b := range landing {
		if i != bytes/2 && b != Pattern(1, 0, i) {
			return false, fmt.Errorf("lane %s: byte %d arrived as %#02x", lane, i, b)
		}
	}
	switch landing[bytes/2] {
	case old:
		return false, nil
	case ^old:
		return true, nil
	}
	return false, fmt.Errorf("lane %s: the changed byte arrived as %#02x, neither old nor new", lane, landing[bytes/2])
}
