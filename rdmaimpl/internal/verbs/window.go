//go:build cgo && !noverbs

package verbs

// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// Send flags (enum ibv_send_flags).
const (
	sendSignaled = 2
	sendInline   = 8
)

// Window is a lane ready to run: its queue, buffers and arrays are made, so that
// nothing but the lane happens in a timed segment. The usual order is First,
// Warm, Run, Close, on one goroutine. Complete windows have a connected peer.
type Window struct {
	cfg  Config
	ctx  *Context
	mode mode
	kind C.enum_zc_kind
	tsc  C.int

	queue, peer          *queue
	src, bounce, landing *memory
	lane                 *C.struct_zc_lane
	golane               *goLane
	full                 *full

	laps    []C.struct_zc_lap // C memory, one a batch of a segment
	done    *C.struct_zc_done
	segment int // batches a queue takes before it is drained
	shim    *shim.Shim
}

// OpenWindow prepares a window of posts: receives, or sends whose doorbell is
// suppressed so that they are never sent; the queue is reset, untimed, whenever it
// is full. Where the doorbell cannot be suppressed, or cfg.Ring asks for it, sends
// go out and their completions are awaited, untimed, instead.
func (c *Context) OpenWindow(cfg Config) (*Window, error) {
	return c.open(cfg, modeOf(c, cfg), cfg.Bytes)
}

// mode is what becomes of what a window posts.
type mode int

const (
	modeReset    mode = iota // the queue is reset: receives, and suppressed sends
	modeDrained              // sent, and completions awaited a segment at a time
	modeComplete             // sent, and completions awaited a batch at a time
)

func modeOf(c *Context, cfg Config) mode {
	i := cfg.Lane.Info()
	if i.Recv || i.Model || c.null() || c.Suppressible() && !cfg.Ring {
		return modeReset
	}
	return modeDrained
}

// OpenComplete prepares a window of sends that are carried through to their
// completions, over a pair of queues on one device.
func (c *Context) OpenComplete(cfg Config) (*Window, error) {
	if cfg.Lane.Info().Recv || cfg.Lane.Info().Model || c.null() {
		return nil, &Unsupported{What: fmt.Sprintf("%s on %s has no completions", cfg.Lane, c.Name), Limit: -1}
	}
	return c.open(cfg, modeComplete, cfg.Bytes)
}

// open prepares a window whose queue pair takes so many bytes inline, if its lane
// is of inline data.
func (c *Context) open(cfg Config, m mode, inline int) (*Window, error) {
	cfg, err := c.check(cfg, m)
	if err != nil {
		return nil, err
	}
	w := &Window{cfg: cfg, ctx: c, mode: m, kind: C.enum_zc_kind(cfg.Lane), tsc: 1}
	if cfg.Monotonic || runtime.GOARCH != "amd64" {
		w.tsc = 0
	}
	w.shim, _ = shim.Attach() // absent in timing trials
	if err := w.prepare(inline); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// check completes a config, and refuses what no lane can do.
func (c *Context) check(cfg Config, m mode) (Config, error) {
	info := cfg.Lane.Info()
	cfg.SGEs = max(cfg.SGEs, 1)
	if cfg.Deadline <= 0 {
		cfg.Deadline = DefaultDeadline
	}
	if cfg.ColdBytes <= 0 {
		cfg.ColdBytes = DefaultColdBytes
	}
	switch {
	case cfg.Batch < 1 || cfg.Batch > c.MaxQPWR:
		return cfg, fmt.Errorf("lane %s: a batch of %d requests; %s takes 1 to %d", cfg.Lane, cfg.Batch, c.Name, c.MaxQPWR)
	case cfg.SGEs > C.ZC_SGES || cfg.SGEs > c.MaxSGE:
		return cfg, fmt.Errorf("lane %s: %d SGEs a request; at most %d", cfg.Lane, cfg.SGEs, min(C.ZC_SGES, c.MaxSGE))
	case cfg.Bytes < 1 || cfg.Bytes%cfg.SGEs != 0:
		return cfg, fmt.Errorf("lane %s: %d bytes in %d equal SGEs", cfg.Lane, cfg.Bytes, cfg.SGEs)
	case info.Single && cfg.SGEs != 1:
		return cfg, fmt.Errorf("lane %s: %d SGEs a request; it has one", cfg.Lane, cfg.SGEs)
	}
	if cfg.Depth == 0 {
		cfg.Depth = min(max(defaultDepth, 4*cfg.Batch), c.MaxQPWR)
	}
	if cfg.CQE == 0 {
		cfg.CQE = 2*cfg.Batch + 16
		if m == modeDrained {
			cfg.CQE = min(cfg.Depth+16, c.MaxCQE)
		}
	}
	return cfg, nil
}

func (w *Window) prepare(inline int) error {
	if err := w.prepareQueues(inline); err != nil {
		return err
	}
	if err := w.prepareMemory(); err != nil {
		return err
	}
	w.done = (*C.struct_zc_done)(C.calloc(1, C.sizeof_struct_zc_done))
	lapCount := max(w.segment, 1)
	if w.mode == modeComplete {
		lapCount = max(w.cfg.Batches, 1)
	}
	at := (*C.struct_zc_lap)(C.calloc(C.size_t(lapCount), C.sizeof_struct_zc_lap))
	w.laps = unsafe.Slice(at, lapCount)
	clear(w.laps) // touched before it is timed
	if w.cfg.Lane.Info().Go {
		w.golane = newGoLane(w)
		return w.touchQueue()
	}
	if err := w.prepareLane(); err != nil {
		return err
	}
	if w.mode != modeReset {
		if err := w.prepareFull(); err != nil {
			return err
		}
	}
	return w.touchQueue()
}

func (w *Window) prepareQueues(inline int) error {
	cfg, info := w.cfg, w.cfg.Lane.Info()
	d := depths{send: 1, recv: 1, sges: cfg.SGEs, ex: info.Ex}
	if info.Recv {
		d.recv = cfg.Depth
	} else {
		d.send = cfg.Depth
	}
	if info.Inline {
		d.inline = inline
	}
	if info.Model {
		w.segment = max(cfg.Depth/cfg.Batch, 1)
		return nil
	}
	var err error
	if w.queue, err = w.ctx.newQueue(cfg, d); err != nil {
		return err
	}
	w.segment = max(cfg.Depth/cfg.Batch, 1)
	if info.Recv || w.ctx.null() {
		return nil
	}
	recv := max(2*cfg.Batch, 16)
	if w.mode == modeDrained {
		recv = max(recv, cfg.Depth)
		if cfg.Lane == RegisterEach {
			w.segment = 1 // a batch's registrations end with its completion
		}
	}
	w.peer, err = w.ctx.newQueue(cfg, depths{send: 1, recv: recv, sges: 1})
	return err
}

func (w *Window) prepareMemory() error {
	var err error
	bytes := max(w.cfg.Bytes, 1)
	if w.cfg.Cold {
		bytes = max(bytes, w.cfg.ColdBytes)
	}
	if w.src, err = w.ctx.newMemory(bytes); err != nil {
		return err
	}
	for i, b := 0, w.src.slice(); i < len(b); i++ {
		b[i] = byte(i*7 + i>>8)
	}
	if lane := w.cfg.Lane; lane == SGEBounce || lane == WQECopy {
		w.bounce, err = w.ctx.newMemory(nextPowerOfTwo(w.cfg.Depth) * (w.cfg.Bytes + 2*lineBytes))
	}
	return err
}

func nextPowerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

func (w *Window) prepareLane() error {
	cfg := w.cfg
	l := (*C.struct_zc_lane)(C.calloc(1, C.sizeof_struct_zc_lane))
	l.batch, l.sges = C.uint32_t(cfg.Batch), C.uint32_t(cfg.SGEs)
	if w.queue != nil {
		l.qp, l.ex = w.queue.q.qp, w.queue.q.ex
	}
	if !w.ctx.null() {
		l.pd = w.ctx.dev.pd
	}
	most := 1
	if cfg.Cold {
		most = cfg.ColdBytes
	}
	l.src = w.src.buffers(cfg.Bytes, most)
	if w.bounce != nil {
		slot := cfg.Bytes
		if cfg.Lane == WQECopy {
			slot += lineBytes
		}
		l.bounce = w.bounce.buffers(slot, nextPowerOfTwo(cfg.Depth))
	}
	if cfg.Lane.Info().Inline {
		l.flags = sendInline
	}
	l.last_flags = l.flags
	if w.mode != modeReset {
		l.last_flags |= sendSignaled
		l.hold = 1
	}
	w.lane = l
	if errno := C.zc_lane_open(l, w.kind); errno != 0 {
		return &Error{Op: "prepare lane " + cfg.Lane.String(), Errno: syscall.Errno(errno)}
	}
	return nil
}

// suppressed runs f with the provider's doorbells swallowed, where the window is
// of sends that are not to go out: only then, for other windows may send.
func (w *Window) suppressed(f func() error) error {
	if w.peer == nil || w.mode != modeReset {
		return f()
	}
	set := func(on C.int) error {
		if errno := C.zc_doorbell_suppress(w.ctx.dev, on); errno != 0 {
			return &Error{Op: "suppress the doorbell of " + w.ctx.Provider, Errno: syscall.Errno(errno), Remedy: "set Ring to send for real"}
		}
		return nil
	}
	if err := set(1); err != nil {
		return err
	}
	err := f()
	return errors.Join(err, set(0))
}

// drain empties the queue, untimed, and makes it ready again.
func (w *Window) drain() error {
	switch {
	case w.queue == nil || w.full != nil && w.full.connected:
		return nil
	case w.cfg.Lane.Info().Recv || w.ctx.null():
		return w.queue.toInit()
	}
	if err := connectPair(w.queue, w.peer); err != nil {
		return err
	}
	if w.full != nil {
		w.full.connected = true
	}
	return nil
}

// Close takes everything down.
func (w *Window) Close() error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	w.full.close()
	w.golane.close()
	if w.lane != nil {
		C.zc_lane_close(w.lane)
		C.free(unsafe.Pointer(w.lane))
	}
	for _, q := range []*queue{w.queue, w.peer} {
		keep(q.close())
	}
	for _, m := range []*memory{w.src, w.bounce, w.landing} {
		keep(m.close())
	}
	C.free(unsafe.Pointer(w.done))
	if len(w.laps) > 0 {
		C.free(unsafe.Pointer(&w.laps[0]))
	}
	*w = Window{}
	return first
}
