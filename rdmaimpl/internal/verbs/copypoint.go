//go:build cgo && !noverbs

package verbs

// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"
)

// The two sides number the times of a change alike.
const (
	_ = uint(whenCount-C.ZC_TIMES) * uint(C.ZC_TIMES-whenCount)
	_ = uint(AfterPost-C.ZC_AFTER_POST) * uint(C.ZC_AFTER_POST-AfterPost)
)

// CopySend sends n messages for each time of a change, each one batch of one
// request of the lane between a connected pair of queues, and counts the changes
// that reach the peer. On an error the counts are those so far.
func (c *Context) CopySend(cfg Config, n int) (times Times, err error) {
	cfg.Batch, cfg.Batches, cfg.Cold, cfg.MinRNRTimer = 1, 1, false, 1
	w, err := c.OpenComplete(cfg)
	if err != nil {
		return times, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	spare := C.malloc(C.size_t(cfg.Bytes))
	defer C.free(spare)
	changed := unsafe.Slice((*byte)(spare), cfg.Bytes)
	for when := range whenCount {
		for i := range n {
			if err := w.copyOnce(when, i, changed, &times[when]); err != nil {
				return times, fmt.Errorf("lane %s, change %d of message %d: %w", cfg.Lane, when, i, err)
			}
		}
	}
	return times, nil
}

// copyOnce sends one message that is changed at one time.
func (w *Window) copyOnce(when When, message int, changed []byte, a *Arrivals) error {
	src, landing := at(&w.lane.src, 0), at(&w.full.landing, 0)
	oldBytes(src, changed, when, message)
	old := make([]byte, len(src))
	copy(old, src)
	for i := range landing {
		landing[i] = old[i] ^ 0x0f // neither: what does not arrive is noticed
	}
	change := C.struct_zc_change{
		at: unsafe.Pointer(&src[0]), to: unsafe.Pointer(&changed[0]), len: C.uint32_t(len(src)), when: C.int32_t(when),
	}
	if C.zc_changed(w.kind, w.lane, w.full.f, &change, w.done) != C.ZC_DONE {
		if err := w.posted(); err != nil {
			return err
		}
		return w.waitError(&w.full.f.wait, 0)
	}
	if err := w.lengths(); err != nil {
		return err
	}
	return a.note(old, landing)
}

// CopyPrivate makes n connections for each time of a change of the call's private
// data, and counts the changes that reach the peer. It fills the times of a call:
// before it, after it, and after the connection is established. wait bounds each
// wait for an event.
func (c *Context) CopyPrivate(call Call, n int, wait time.Duration) (times Times, err error) {
	spare := C.malloc(C.size_t(call.Room()))
	defer C.free(spare)
	changed := unsafe.Slice((*byte)(spare), call.Room())
	cfg := ConnectConfig{Connect: make([]byte, MaxConnectPrivate), Accept: make([]byte, MaxAcceptPrivate), Deadline: wait}
	err = c.withCM(cfg, func(m *C.struct_zc_cm, round *C.struct_zc_round) error {
		p := &round.connect
		if call == CallAccept {
			p = &round.accept
		}
		for _, when := range []When{BeforeBuild, AfterPost, AfterCompletion} {
			for i := range n {
				if err := privateOnce(m, round, p, when, i, changed, &times[when]); err != nil {
					return fmt.Errorf("%s, change %d of connection %d: %w", call, when, i, err)
				}
			}
		}
		return nil
	})
	return times, err
}

// privateOnce makes one connection whose private data p is changed at one time.
func privateOnce(m *C.struct_zc_cm, round *C.struct_zc_round, p *C.struct_zc_private, when When, message int, changed []byte, a *Arrivals) error {
	src := unsafe.Slice((*byte)(p.data), int(p.len))
	oldBytes(src, changed, when, message)
	old := make([]byte, len(src))
	copy(old, src)
	p.late, p.got_len = nil, 0
	switch when {
	case BeforeBuild:
		copy(src, changed)
	case AfterPost:
		p.late = unsafe.Pointer(&changed[0])
	}
	err := oneRound(m, round)
	if when == AfterCompletion {
		copy(src, changed)
	}
	if err != nil {
		return err
	}
	if int(p.got_len) < len(old) {
		return fmt.Errorf("%d bytes of private data arrived of %d", int(p.got_len), len(old))
	}
	return a.note(old, unsafe.Slice((*byte)(&p.got[0]), len(old)))
}
