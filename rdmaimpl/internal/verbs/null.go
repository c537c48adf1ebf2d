//go:build cgo && !noverbs

package verbs

// #include "hot.h"
import "C"

// Seen returns what a window's queue on the null device was given since the last
// call.
func (w *Window) Seen() Seen {
	s := C.zc_null_seen(w.queue.q)
	return Seen{uint64(s.posts), uint64(s.wrs), uint64(s.sges), uint64(s.bytes), uint64(s.ids), uint64(s.payload)}
}

// The lanes of C have the numbers of enum zc_kind.
const (
	_ = uint(RecvGoAppend-C.ZC_KINDS) * uint(C.ZC_KINDS-RecvGoAppend)
	_ = uint(SendGuard-C.ZC_SEND_GUARD) * uint(C.ZC_SEND_GUARD-SendGuard)
	_ = uint(InlineOwned-C.ZC_INLINE_OWNED) * uint(C.ZC_INLINE_OWNED-InlineOwned)
	_ = uint(RegisterEach-C.ZC_REGISTER_EACH) * uint(C.ZC_REGISTER_EACH-RegisterEach)
)
