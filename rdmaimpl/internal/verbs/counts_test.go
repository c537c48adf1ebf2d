//go:build cgo && !noverbs

package verbs

import (
	"os"
	"os/exec"
	"testing"

	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
)

// underShim marks the test process that runs with the shim preloaded.
const underShim = "ZC_TEST_UNDER_SHIM"

// rerun runs one test of this binary again with the shim preloaded.
func rerun(t *testing.T, test string) {
	t.Helper()
	path := os.Getenv(shimFile)
	if path == "" {
		var err error
		if path, err = shim.Path(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), underShim+"=1"), shim.Env(path, "", "")...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s under the shim: %v\n%s", test, err, out)
	}
}

// model is a Vec that only counts.
type model struct {
	want     *shim.Side
	elem     int
	cap, len int
}

// extend follows RawVec::grow_amortized of Rust's standard library.
func (m *model) extend(n int) {
	need := m.len + n
	m.len = need
	if need <= m.cap {
		return
	}
	least := 1
	switch {
	case m.elem == 1:
		least = 8
	case m.elem <= 1024:
		least = 4
	}
	if m.cap == 0 {
		m.want.Allocs++
	} else {
		m.want.Reallocs++
	}
	m.cap = max(2*m.cap, need, least)
	m.want.RequestedBytes += uint64(m.cap * m.elem)
}

func (m *model) drop() {
	if m.cap > 0 {
		m.want.Frees++
	}
}

// exact is Vec::from(slice) and its end.
func exact(want *shim.Side, n int) {
	want.Allocs++
	want.Frees++
	want.RequestedBytes += uint64(n)
}

// expected is one batch of a lane. The payload lanes' copies are the lane's own.
func expected(lane Lane, n, sges, bytes int) shim.Side {
	var w shim.Side
	wrSize := 128
	if lane.Info().Recv {
		wrSize = 32
	}
	wrs, sge, inlines := model{want: &w, elem: wrSize}, model{want: &w, elem: 16}, model{want: &w, elem: 24}
	switch lane {
	case RecvGuard, SendGuard:
		for range n {
			wrs.extend(1)
			sge.extend(sges)
		}
	case RecvGuardReserved:
		exact(&w, 32*n)
		exact(&w, 16*n*sges)
	case InlineOwned:
		for range n {
			wrs.extend(1)
			exact(&w, bytes)
			w.Copies++
			w.CopiedBytes += uint64(bytes)
			inlines.extend(1)
			sge.extend(1)
		}
	case InlineOwnedList:
		for range n {
			wrs.extend(1)
			gathered(&w, sges, bytes/sges)
			inlines.extend(1)
			sge.extend(1)
		}
	case InlineExList:
		for range n {
			exact(&w, 16*sges)
		}
	case SGEBounce:
		w.Copies, w.CopiedBytes = uint64(n), uint64(n*bytes)
	}
	wrs.drop()
	sge.drop()
	inlines.drop()
	return w
}

// gathered is a list of slices brought together: to_vec, clone and append of each.
func gathered(w *shim.Side, slices, each int) {
	all := model{want: w, elem: 1}
	for range slices {
		exact(w, each)
		exact(w, each)
		all.extend(each)
		w.Copies += 3
		w.CopiedBytes += uint64(3 * each)
	}
	all.drop()
}

func times(s shim.Side, n uint64) shim.Side {
	return shim.Side{
		Allocs: s.Allocs * n, Reallocs: s.Reallocs * n, Frees: s.Frees * n, RequestedBytes: s.RequestedBytes * n,
		Copies: s.Copies * n, CopiedBytes: s.CopiedBytes * n,
	}
}

// checkCounts runs a lane and compares every count with the model's.
func checkCounts(t *testing.T, w *Window, n, sges, bytes, batches int) {
	t.Helper()
	lane := w.cfg.Lane
	first, err := w.First()
	if err != nil {
		t.Fatalf("lane %s, %d requests: %v", lane, n, err)
	}
	r := ran(t, w)
	if r.Counts == nil || first.Counts == nil {
		t.Fatal("the shim is not there")
	}
	want := times(expected(lane, n, sges, bytes), uint64(batches))
	if got := r.Counts.Lane; got != want {
		t.Errorf("lane %s, %d requests of %d SGEs, %d batches:\n got %+v\nwant %+v", lane, n, sges, batches, got, want)
	}
	if lane == RecvGuardReused && first.Counts.Lane.Allocs != 2 {
		t.Errorf("lane %s: the first batch made %d arrays, not 2", lane, first.Counts.Lane.Allocs)
	}
}

// TestGuardCountsEqualModel holds every lane's counters to an independent model
// of Vec, for n from 1 to 256 and 1, 2 and 4 SGEs.
func TestGuardCountsEqualModel(t *testing.T) {
	openNull(t)
	rerun(t, "TestCountsUnderShim")
}

func TestCountsUnderShim(t *testing.T) {
	if os.Getenv(underShim) == "" {
		t.Skip("run by TestGuardCountsEqualModel")
	}
	const batches = 3
	c := openNull(t)
	for _, lane := range Lanes() {
		if !onNull(lane) || lane.Info().Go {
			continue
		}
		for _, sges := range []int{1, 2, 4} {
			if sges > 1 && lane.Info().Single {
				continue
			}
			for n := 1; n <= 256; n++ {
				within(t, c.OpenWindow, Config{Lane: lane, Batch: n, SGEs: sges, Bytes: 64, Batches: batches}, func(w *Window) {
					checkCounts(t, w, n, sges, 64, batches)
				})
			}
		}
	}
}

// TestModelEqualsTable holds the model itself to the closed forms: k growths of
// each array, S elements asked for in all.
func TestModelEqualsTable(t *testing.T) {
	closed := func(n int) (k, s uint64) {
		last := uint64(4)
		for s = 4; last < uint64(n); k++ {
			last *= 2
			s += last
		}
		return k, s
	}
	for n := 1; n <= 256; n++ {
		k, s := closed(n)
		for _, g := range []int{1, 2, 4} {
			kg, sg := closed(n * g)
			recv := shim.Side{Allocs: 2, Reallocs: k + kg, Frees: 2, RequestedBytes: 32*s + 16*sg}
			send := shim.Side{Allocs: 2, Reallocs: k + kg, Frees: 2, RequestedBytes: 128*s + 16*sg}
			if got := expected(RecvGuard, n, g, 64); got != recv {
				t.Errorf("receive guard, n %d, %d SGEs: model %+v, table %+v", n, g, got, recv)
			}
			if got := expected(SendGuard, n, g, 64); got != send {
				t.Errorf("send guard, n %d, %d SGEs: model %+v, table %+v", n, g, got, send)
			}
		}
		u := uint64(n)
		inline := shim.Side{Allocs: u + 3, Reallocs: 3 * k, Frees: u + 3, RequestedBytes: 168*s + u*100, Copies: u, CopiedBytes: u * 100}
		if got := expected(InlineOwned, n, 1, 100); got != inline {
			t.Errorf("inline-owned, n %d: model %+v, table %+v", n, got, inline)
		}
	}
	for slices := uint64(1); slices <= 4; slices++ {
		got := expected(InlineOwnedList, 1, int(slices), int(slices)*16)
		if got.Allocs != 4+2*slices || got.Frees != 4+2*slices || got.CopiedBytes != 3*16*slices {
			t.Errorf("inline-owned-list of %d slices: model %+v", slices, got)
		}
	}
}
