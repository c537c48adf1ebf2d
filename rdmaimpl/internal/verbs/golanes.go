//go:build cgo && !noverbs

package verbs

// #include <stdlib.h>
// #include "hot.h"
import "C"

import (
	"runtime"
	"syscall"
	"unsafe"

	"github.com/zcbench/zcbench/harness/clock"
)

// goSGE is struct ibv_sge, goRecvWR struct ibv_recv_wr. Links are addresses of
// pinned memory, not Go pointers: with pointers cgo's check of its arguments looks
// through the whole array once for each link, 10,000 ticks a request at 128.
type goSGE struct {
	addr   uint64
	length uint32
	lkey   uint32
}

type goRecvWR struct {
	id     uint64
	next   uintptr // goRecvWR
	list   uintptr // goSGE
	numSGE int32
	_      int32
}

// goLane is what a Go program does that builds its requests in Go: slices, a
// Pinner, one cgo call a batch.
type goLane struct {
	w      *Window
	append bool
	qp     unsafe.Pointer
	bad    *C.int32_t // C memory: a Go variable would escape, an allocation a batch
	bufs   C.struct_zc_bufs
	at     uint32
	id     uint64
	wrs    []goRecvWR
	sges   []goSGE
	pin    runtime.Pinner
	clk    func() uint64
	heap   goHeap // allocated inside segments, when it is counted
}

func newGoLane(w *Window) *goLane {
	g := &goLane{w: w, append: w.cfg.Lane == RecvGoAppend, qp: w.queue.q.qp, clk: clock.Monotonic}
	g.bad = (*C.int32_t)(C.calloc(1, C.sizeof_int32_t))
	if w.tsc != 0 {
		g.clk = clock.Ticks
	}
	most := 1
	if w.cfg.Cold {
		most = w.cfg.ColdBytes
	}
	g.bufs = w.src.buffers(w.cfg.Bytes, most)
	if !g.append {
		g.wrs, g.sges = make([]goRecvWR, w.cfg.Batch), make([]goSGE, w.cfg.Batch)
		g.pin.Pin(&g.wrs[0])
		g.pin.Pin(&g.sges[0])
	}
	return g
}

func (g *goLane) close() {
	if g == nil {
		return
	}
	g.pin.Unpin()
	C.free(unsafe.Pointer(g.bad))
}

func (g *goLane) next() goSGE {
	b := &g.bufs
	s := goSGE{uint64(b.base) + uint64(g.at&uint32(b.mask))*uint64(b.stride), uint32(b.len), uint32(b.lkey)}
	g.at++
	return s
}

// link is the fix-up pass, over pinned slices.
func link(wrs []goRecvWR, sges []goSGE) {
	for i := range wrs {
		wrs[i].list = uintptr(unsafe.Pointer(&sges[i]))
		wrs[i].next = 0
		if i+1 < len(wrs) {
			wrs[i].next = uintptr(unsafe.Pointer(&wrs[i+1]))
		}
	}
}

func (g *goLane) build() {
	n := g.w.cfg.Batch
	if g.append {
		g.wrs, g.sges = nil, nil
		for range n {
			g.wrs = append(g.wrs, goRecvWR{id: g.id, numSGE: 1})
			g.sges = append(g.sges, g.next())
			g.id++
		}
		g.pin.Pin(&g.wrs[0])
		g.pin.Pin(&g.sges[0])
		link(g.wrs, g.sges)
		return
	}
	for i := range n {
		g.wrs[i].id, g.wrs[i].numSGE = g.id, 1
		g.sges[i] = g.next()
		g.id++
	}
	link(g.wrs, g.sges)
}

func (g *goLane) drop() {
	if g.append {
		g.pin.Unpin()
		g.wrs, g.sges = nil, nil
	}
}

// run runs n batches, in parts when laps is not nil.
func (g *goLane) run(n int, laps *C.struct_zc_lap) {
	var split []C.struct_zc_lap
	if laps != nil {
		split = unsafe.Slice(laps, n)
	}
	var before, after syscall.Rusage
	const thread = 1 // RUSAGE_THREAD
	heap := g.heapNow()
	_ = syscall.Getrusage(thread, &before)
	C.zc_shim_begin()
	errno, k := g.loop(n, split)
	C.zc_shim_end()
	_ = syscall.Getrusage(thread, &after)
	now := g.heapNow()
	g.heap.objects += now.objects - heap.objects
	g.heap.bytes += now.bytes - heap.bytes
	d := g.w.done
	d.batches, d.err, d.bad = C.uint32_t(k), C.int32_t(errno), *g.bad
	d.minor_faults = C.int64_t(after.Minflt - before.Minflt)
	d.major_faults = C.int64_t(after.Majflt - before.Majflt)
	d.waits = C.int64_t(after.Nvcsw - before.Nvcsw)
}

func (g *goLane) loop(n int, split []C.struct_zc_lap) (errno C.int, k int) {
	start := g.clk()
	defer func() { g.w.done.ticks = C.uint64_t(g.clk() - start) }()
	for k = 0; k < n && errno == 0; k++ {
		if split == nil {
			g.build()
			errno = C.zc_post_recv(g.qp, unsafe.Pointer(&g.wrs[0]), g.bad)
			g.drop()
			continue
		}
		t0 := g.clk()
		g.build()
		t1 := g.clk()
		errno = C.zc_post_recv(g.qp, unsafe.Pointer(&g.wrs[0]), g.bad)
		t2 := g.clk()
		g.drop()
		t3 := g.clk()
		split[k] = C.struct_zc_lap{C.uint64_t(t0), C.uint64_t(t1 - t0), C.uint64_t(t2 - t1), C.uint64_t(t3 - t2)}
	}
	if errno != 0 {
		k--
	}
	return errno, k
}

// goHeap is what Go has allocated so far.
type goHeap struct{ objects, bytes uint64 }

// heapNow reads the heap's counters. It stops the world, so only where asked.
func (g *goLane) heapNow() goHeap {
	if !g.w.cfg.CountGo {
		return goHeap{}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return goHeap{m.Mallocs, m.TotalAlloc}
}
