//go:build cgo && !noverbs

package verbs

import (
	"testing"

	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// Guards' counts on the real provider, split from the library's.
func TestDeviceCounts(t *testing.T) {
	counted(t, func(c *Context) {
		for _, lane := range Lanes() {
			i := lane.Info()
			if i.Go || lane == RegisterEach || i.Model || i.Ex && !c.HasEx() {
				continue
			}
			for _, sges := range []int{1, 2, 4} {
				if sges > 1 && i.Single {
					continue
				}
				for _, n := range []int{1, 4, 5, 16, 17, 32, 33, 64, 128, 256} {
					within(t, c.OpenWindow, Config{Lane: lane, Batch: n, SGEs: sges, Bytes: 64, Batches: 3}, func(w *Window) {
						checkCounts(t, w, n, sges, 64, 3)
					})
				}
			}
		}
	})
}

// The provider's own copies are on its account, and what registration allocates.
func TestDeviceProviderCounts(t *testing.T) {
	counted(t, func(c *Context) {
		onlyRXE(t, c)
		const n, batches, bytes = 5, 4, 128
		copied := func(k int) shim.Side { return shim.Side{Copies: uint64(k), CopiedBytes: uint64(k * bytes)} }
		for lane, want := range map[Lane]shim.Side{
			InlineBorrowed: copied(n * batches), InlineOwned: copied(n * batches), InlineEx: copied(n * batches),
			SGE: {}, SGEBounce: {}, SendGuard: {}, SendArray: {}, RecvGuard: {}, RecvArray: {},
		} {
			within(t, c.OpenWindow, Config{Lane: lane, Batch: n, Bytes: bytes, Batches: batches}, func(w *Window) {
				r := ran(t, w)
				if r.Counts.Library != want {
					t.Errorf("lane %s: the library's counts are %+v, want %+v", lane, r.Counts.Library, want)
				}
				if !lane.Info().Recv && (!r.Suppressed || r.Doorbells != batches) {
					t.Errorf("lane %s: %d doorbells swallowed in %d batches (suppressed: %v)", lane, r.Doorbells, batches, r.Suppressed)
				}
			})
		}
	})
}

// A complete send rings once a batch: one system call of the library.
func TestDeviceCompleteCounts(t *testing.T) {
	counted(t, func(c *Context) {
		onlyRXE(t, c)
		const n, batches = 5, 4
		for _, lane := range []Lane{SendGuard, SendArrayLinked, SendWREx} {
			within(t, c.OpenComplete, Config{Lane: lane, Batch: n, Bytes: 64, Batches: batches}, func(w *Window) {
				r := ran(t, w)
				if r.Counts.Library.Syscalls != batches || r.Counts.Lane.Syscalls != 0 {
					t.Errorf("lane %s: %d system calls of the library and %d of the lane in %d batches", lane, r.Counts.Library.Syscalls, r.Counts.Lane.Syscalls, batches)
				}
				if want := times(expected(lane, n, 1, 64), batches); r.Counts.Lane != want {
					t.Errorf("lane %s: %+v, want %+v", lane, r.Counts.Lane, want)
				}
				if len(r.Latency) != batches || r.Latency[0] == 0 {
					t.Errorf("lane %s: latencies %v", lane, r.Latency)
				}
			})
		}
	})
}

// A registration for each payload costs the library a block each, freed again.
func TestDeviceRegisterEachCounts(t *testing.T) {
	counted(t, func(c *Context) {
		onlyRXE(t, c)
		const n, batches = 5, 4
		w := opened(t, c.OpenWindow, Config{Lane: RegisterEach, Batch: n, Bytes: 4096, Batches: batches})
		r := ran(t, w)
		l := r.Counts.Library
		if l.Allocs < n*batches || l.Allocs != l.Frees || l.Syscalls < 2*n*batches || r.Counts.Lane != (shim.Side{}) {
			t.Errorf("%d registrations: the library's counts are %+v, the lane's %+v", n*batches, l, r.Counts.Lane)
		}
	})
}

// The control draws and replaces the same blocks, without the posts.
func TestDeviceAging(t *testing.T) {
	counted(t, func(c *Context) {
		s, err := shim.Attach()
		if err != nil {
			t.Fatal(err)
		}
		type end struct{ requests, live uint64 }
		ends := map[bool]end{}
		for _, control := range []bool{false, true} {
			g, err := c.OpenAging(AgingConfig{Lane: RecvGuard, Control: control, Seed: 7, MaxBatch: 128, Bytes: 64, Slots: 20000, Replace: 8, MinBytes: 16, MaxBytes: 4096})
			if err != nil {
				t.Fatal(err)
			}
			for g.Requests() < 20000 {
				if err := g.Step(); err != nil {
					t.Fatal(err)
				}
			}
			heap, err := s.Heap()
			if err != nil {
				t.Fatal(err)
			}
			ends[control] = end{g.Requests(), g.LiveBytes()}
			if heap.UsedBytes < g.LiveBytes() || heap.HeldBytes < g.LiveBytes()/2 || g.LiveBytes() < 1<<20 {
				t.Errorf("control %v: %d bytes live, %d used, %d held", control, g.LiveBytes(), heap.UsedBytes, heap.HeldBytes)
			}
			if err := g.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if ends[false] != ends[true] {
			t.Errorf("with posts %+v, the control %+v: not the same work", ends[false], ends[true])
		}
		if _, err := c.OpenAging(AgingConfig{Lane: RecvArrayLinked, MaxBatch: 4, Bytes: 64, Slots: 1, MinBytes: 16, MaxBytes: 16}); err == nil {
			t.Error("a lane whose batch is fixed was taken")
		}
	})
}
