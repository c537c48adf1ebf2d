//go:build cgo && !noverbs

package verbs

import (
	"runtime"
	"testing"
	"unsafe"
)

// The Go structs are laid out as the library's.
func TestGoLayout(t *testing.T) {
	if unsafe.Sizeof(goRecvWR{}) != 32 || unsafe.Offsetof(goRecvWR{}.numSGE) != 24 || unsafe.Sizeof(goSGE{}) != 16 {
		t.Errorf("ibv_recv_wr of %d bytes, num_sge at %d, ibv_sge of %d; want 32, 24 and 16",
			unsafe.Sizeof(goRecvWR{}), unsafe.Offsetof(goRecvWR{}.numSGE), unsafe.Sizeof(goSGE{}))
	}
}

// growths is how often append grows a slice of T from nothing to n.
func growths[T any](n int) uint64 {
	var s []T
	var grown uint64
	for range n {
		before := cap(s)
		var zero T
		if s = append(s, zero); cap(s) != before {
			grown++
		}
	}
	return grown
}

// go-append allocates at each growth of its two slices and nothing else, go-array
// nothing.
func TestGoLanesAllocate(t *testing.T) {
	const batches = 50
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // nobody else allocates meanwhile
	for _, n := range []int{1, 5, 33, 128} {
		for lane, want := range map[Lane]uint64{
			RecvGoAppend: batches * (growths[goRecvWR](n) + growths[goSGE](n)),
			RecvGoArray:  0,
		} {
			w := openNullWindow(t, Config{Lane: lane, Batch: n, Bytes: 64, Batches: batches, CountGo: true})
			if err := w.Warm(); err != nil { // makes the Pinner's own store
				t.Fatal(err)
			}
			r, err := w.Run()
			if err != nil {
				t.Fatal(err)
			}
			if r.GoAllocs != want || (r.GoAllocBytes == 0) != (want == 0) {
				t.Errorf("lane %s, %d requests: %d allocations of %d bytes in %d batches, want %d", lane, n, r.GoAllocs, r.GoAllocBytes, batches, want)
			}
		}
	}
}
