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

// queue is a queue pair with its completion queues, in C memory.
type queue struct {
	ctx *Context
	q   *C.struct_zc_qp
	ask C.struct_zc_depths
	cfg Config
}

// depths is what a queue pair is asked for.
type depths struct {
	send, recv, sges, inline int
	ex                       bool
}

func (c *Context) newQueue(cfg Config, d depths) (*queue, error) {
	q := &queue{ctx: c, q: (*C.struct_zc_qp)(C.calloc(1, C.sizeof_struct_zc_qp)), cfg: cfg}
	if c.null() {
		C.zc_null_open(q.q)
		return q, nil
	}
	q.ask = C.struct_zc_depths{
		send_wr: C.uint32_t(d.send), recv_wr: C.uint32_t(d.recv),
		send_sge: C.uint32_t(d.sges), recv_sge: C.uint32_t(d.sges), inline_bytes: C.uint32_t(d.inline),
	}
	ex := C.int(0)
	if d.ex {
		ex = 1
	}
	errno := syscall.Errno(C.zc_qp_create(c.dev, &q.ask, C.uint32_t(cfg.CQE), ex, q.q))
	if errno == 0 {
		return q, nil
	}
	C.free(unsafe.Pointer(q.q))
	return nil, c.refusedQueue(d, cfg.CQE, errno)
}

// refusedQueue explains a queue pair the device would not make.
func (c *Context) refusedQueue(d depths, cqe int, errno syscall.Errno) error {
	if d.ex && (errno == syscall.EOPNOTSUPP || errno == syscall.ENOSYS) {
		return &Unsupported{What: fmt.Sprintf("%s has no ibv_wr_* posting", c.Name), Limit: -1, Errno: errno}
	}
	if d.inline > 0 {
		if limit, err := c.MaxInline(); err == nil && d.inline > limit {
			return &Unsupported{What: fmt.Sprintf("%d B inline asked of %s", d.inline, c.Name), Limit: limit, Errno: errno}
		}
	}
	e := &Error{Op: "create a queue pair on " + c.Name, Errno: errno}
	e.Detail = fmt.Sprintf("%d sends, %d receives, %d SGEs, %d B inline, %d completions; the device takes %d requests, %d SGEs, %d completions",
		d.send, d.recv, d.sges, d.inline, cqe, c.MaxQPWR, c.MaxSGE, c.MaxCQE)
	if errno == syscall.ENOMEM {
		e.Remedy = memlockRemedy(0)
	}
	return e
}

func (q *queue) close() error {
	if q == nil || q.q == nil {
		return nil
	}
	if q.ctx.null() {
		C.zc_null_close(q.q)
	} else if errno := C.zc_qp_destroy(q.q); errno != 0 {
		return &Error{Op: "destroy a queue pair on " + q.ctx.Name, Errno: syscall.Errno(errno)}
	}
	C.free(unsafe.Pointer(q.q))
	q.q = nil
	return nil
}

// num is the queue pair's number, which a peer names it by.
func (q *queue) num() uint32 { return uint32(q.q.num) }

func (q *queue) modify(state string, errno C.int, detail, remedy string) error {
	if errno == 0 {
		return nil
	}
	return &Error{Op: fmt.Sprintf("move queue pair %d of %s to %s", q.num(), q.ctx.Name, state), Detail: detail, Errno: syscall.Errno(errno), Remedy: remedy}
}

// toInit empties the queues and makes the pair ready to take receives.
func (q *queue) toInit() error {
	if q.ctx.null() {
		return nil
	}
	if err := q.modify("RESET", C.zc_qp_reset(q.q), "", ""); err != nil {
		return err
	}
	return q.modify("INIT", C.zc_qp_init(q.q, C.int(q.ctx.Port)), "", "")
}

// firstPSN is where packet numbers start; any 24 bits do.
const firstPSN = 0x00abcd

// path is how the pair reaches a peer on the same device.
func (q *queue) path(peer uint32, gidIndex int) C.struct_zc_path {
	p := C.struct_zc_path{
		qpn: C.uint32_t(peer), psn: firstPSN, gid_index: C.int32_t(gidIndex), port: C.int32_t(q.ctx.Port),
		mtu: q.ctx.dev.port.mtu, min_rnr_timer: DefaultMinRNRTimer, rnr_retry: DefaultRNRRetry, retry: 7, timeout: 14,
	}
	for i, b := range q.ctx.gid.raw {
		p.gid[i] = C.uint8_t(b)
	}
	if q.cfg.MinRNRTimer > 0 {
		p.min_rnr_timer = C.int32_t(q.cfg.MinRNRTimer)
	}
	if q.cfg.RNRRetry != 0 {
		p.rnr_retry = C.int32_t(max(q.cfg.RNRRetry, 0))
	}
	return p
}

// connect takes an INIT pair to RTS towards peer by the GID of that index.
func (q *queue) connect(peer uint32, gidIndex int) error {
	if q.ctx.null() {
		return nil
	}
	p := q.path(peer, gidIndex)
	if errno := C.zc_qp_rtr(q.q, &p); errno != 0 {
		detail := fmt.Sprintf("GID index %d of port %d; the port has %s", gidIndex, q.ctx.Port, gidList(q.ctx.gids))
		return q.modify("RTR", errno, detail, "name the index of a GID that is there, the IPv4-mapped one for choice")
	}
	return q.modify("RTS", C.zc_qp_rts(q.q, &p), "", "")
}

// pair connects two queues of one device.
func connectPair(a, b *queue) error {
	for _, q := range []*queue{a, b} {
		if err := q.toInit(); err != nil {
			return err
		}
	}
	if err := a.connect(b.num(), a.ctx.GIDIndex); err != nil {
		return err
	}
	return b.connect(a.num(), b.ctx.GIDIndex)
}

// inlineCeiling is beyond what any device takes inline.
const inlineCeiling = 1 << 16

// MaxInline finds the most bytes the device takes inline, by asking: devices do
// not say. A device that takes none gives 0.
func (c *Context) MaxInline() (int, error) {
	if c.null() {
		return inlineCeiling, nil
	}
	if c.found {
		return c.limit, nil
	}
	takes := func(n int) bool {
		want := C.struct_zc_depths{send_wr: 1, recv_wr: 1, send_sge: 1, recv_sge: 1, inline_bytes: C.uint32_t(n)}
		var q C.struct_zc_qp
		if C.zc_qp_create(c.dev, &want, 1, 0, &q) != 0 {
			return false
		}
		C.zc_qp_destroy(&q)
		return true
	}
	if !takes(0) {
		return 0, fmt.Errorf("find the inline limit of %s: it makes no queue pair at all", c.Name)
	}
	lo, hi := 0, 64
	for hi < inlineCeiling && takes(hi) {
		lo, hi = hi, hi*2
	}
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; takes(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	c.limit, c.found = lo, true
	return lo, nil
}

// HasEx says whether the provider takes ibv_wr_*.
func (c *Context) HasEx() bool {
	if c.null() {
		return true
	}
	q, err := c.newQueue(Config{CQE: 1}, depths{send: 1, recv: 1, sges: 1, ex: true})
	if err != nil {
		return false
	}
	return q.close() == nil
}
