//go:build cgo

package shim

// #cgo LDFLAGS: -ldl
// #define _GNU_SOURCE
// #include <dlfcn.h>
// #include <stdlib.h>
// #include "preload/zcshim.h"
//
// static void *zc_find(const char *name) { return dlsym(RTLD_DEFAULT, name); }
// static void zc_call(void *f) { ((void (*)(void))f)(); }
// static int zc_call_watch(void *f, void *at, size_t len) { return ((int (*)(const void *, size_t))f)(at, len); }
// static int zc_call_counts(void *f, struct zc_counts *c) { return ((int (*)(struct zc_counts *, size_t))f)(c, sizeof *c); }
// static int zc_call_heap(void *f, struct zc_heap *h) { return ((int (*)(struct zc_heap *, size_t))f)(h, sizeof *h); }
// static const char *zc_call_path(void *f) { return ((const char *(*)(void))f)(); }
// static const char *zc_file_of(void *f) {
//	Dl_info info;
//	return f && dladdr(f, &info) && info.dli_fname ? info.dli_fname : "";
// }
import "C"

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// Shim is the shim this process was started under. Windows belong to the calling
// thread: hold it with runtime.LockOSThread from Begin to Counts.
type Shim struct {
	begin, end, reset, watch, counts, heap unsafe.Pointer
}

// ErrNotPreloaded is returned by Attach in a process run without the shim.
var ErrNotPreloaded = errors.New("the counting shim is not preloaded in this process: start it with the environment of shim.Env")

func find(name string) unsafe.Pointer {
	s := C.CString(name)
	defer C.free(unsafe.Pointer(s))
	return C.zc_find(s)
}

// Attach finds the shim in this process.
func Attach() (*Shim, error) {
	var s Shim
	for name, to := range map[string]*unsafe.Pointer{
		"zc_window_begin": &s.begin, "zc_window_end": &s.end, "zc_window_reset": &s.reset,
		"zc_window_watch": &s.watch, "zc_window_counts": &s.counts, "zc_heap_sample": &s.heap,
	} {
		if *to = find(name); *to == nil {
			return nil, ErrNotPreloaded
		}
	}
	return &s, nil
}

// Begin starts counting on the calling thread.
func (s *Shim) Begin() { C.zc_call(s.begin) }

// End stops it.
func (s *Shim) End() { C.zc_call(s.end) }

// Reset sets the calling thread's counts to zero.
func (s *Shim) Reset() { C.zc_call(s.reset) }

// Watch counts copies out of n bytes of C memory at p, and copies of those. At
// most eight ranges are watched; n of 0 forgets them.
func (s *Shim) Watch(p unsafe.Pointer, n int) error {
	if C.zc_call_watch(s.watch, p, C.size_t(n)) != 0 {
		return errors.New("watch memory for copies: eight ranges are watched already")
	}
	return nil
}

// Counts returns what the calling thread's windows added up to.
func (s *Shim) Counts() (Counts, error) {
	var c C.struct_zc_counts
	if C.zc_call_counts(s.counts, &c) != 0 || c.abi != C.ZC_SHIM_ABI {
		return Counts{}, errors.New("the preloaded shim is of another version: delete it from the cache directory")
	}
	return Counts{uint64(c.windows), sideOf(&c.lane), sideOf(&c.library)}, nil
}

func sideOf(s *C.struct_zc_side) Side {
	return Side{
		uint64(s.allocs), uint64(s.reallocs), uint64(s.frees), uint64(s.requested_bytes),
		uint64(s.copies), uint64(s.copied_bytes), uint64(s.syscalls),
	}
}

// Heap returns the heap of the process now. It reads /proc/self/smaps.
func (s *Shim) Heap() (Heap, error) {
	var h C.struct_zc_heap
	if errno := C.zc_call_heap(s.heap, &h); errno != 0 {
		return Heap{}, fmt.Errorf("read the heap's mappings in /proc/self/smaps: %w", syscall.Errno(errno))
	}
	return Heap{uint64(h.used_bytes), uint64(h.live_blocks), uint64(h.held_bytes), uint64(h.mapped_bytes), uint64(h.mappings)}, nil
}

// AllocatorPath returns the file whose malloc answers in this process, under the
// shim or without it.
func AllocatorPath() string {
	if f := find("zc_allocator_path"); f != nil {
		return C.GoString(C.zc_call_path(f))
	}
	return C.GoString(C.zc_file_of(find("malloc")))
}
