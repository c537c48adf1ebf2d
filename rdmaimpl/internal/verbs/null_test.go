//go:build cgo && !noverbs

package verbs

import (
	"errors"
	"fmt"
	"testing"
)

// openNull opens the null device, or skips where not even libibverbs is.
func openNull(t testing.TB) *Context {
	t.Helper()
	c, err := OpenNull()
	if errors.Is(err, ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// onNull says whether a lane can run without a device.
func onNull(l Lane) bool { return l != RegisterEach && l != WQECopy }

func openNullWindow(t testing.TB, cfg Config) *Window {
	t.Helper()
	return opened(t, openNull(t).OpenWindow, cfg)
}

// Every lane hands over the same work: as many requests, SGEs and bytes, with
// the ids in order, over the growth steps of the arrays.
func TestLanesHandOverTheSameWork(t *testing.T) {
	for _, lane := range Lanes() {
		if !onNull(lane) {
			continue
		}
		for _, sges := range []int{1, 2, 4} {
			if sges > 1 && lane.Info().Single {
				continue
			}
			for _, n := range []int{1, 3, 4, 5, 8, 9, 17, 33, 128, 129, 256} {
				t.Run(fmt.Sprintf("%s/n=%d/sges=%d", lane, n, sges), func(t *testing.T) {
					checkWork(t, lane, n, sges)
				})
			}
		}
	}
}

func checkWork(t *testing.T, lane Lane, n, sges int) {
	const batches, bytes = 3, 64
	w := openNullWindow(t, Config{Lane: lane, Batch: n, SGEs: sges, Bytes: bytes, Batches: batches, Totals: batches})
	r := ran(t, w)
	wrs := uint64(2 * batches * n)
	want := Seen{Posts: 2 * batches, WRs: wrs, SGEs: wrs * uint64(sges), Bytes: wrs * bytes, IDs: wrs * (wrs - 1) / 2}
	if lane == InlineOwnedList {
		want.SGEs = wrs // gathered
	}
	got := w.Seen()
	if lane.Info().Inline {
		one := uint64(0)
		for _, b := range w.src.slice()[:bytes] {
			one += uint64(b)
		}
		want.Payload = wrs * one
	}
	if got != want {
		t.Errorf("the queue was given %+v, want %+v", got, want)
	}
	if r.Batches != 2*batches || r.WRs != int(wrs) || len(r.Laps) != batches || totals(r) != batches {
		t.Errorf("result counts %d batches, %d requests, %d laps and %d in totals", r.Batches, r.WRs, len(r.Laps), totals(r))
	}
}

func totals(r Result) int {
	n := 0
	for _, t := range r.Totals {
		n += t.Batches
	}
	return n
}

// The parts of a batch are spans: none is zero or longer than the window.
func TestLapsAreSpans(t *testing.T) {
	for _, lane := range []Lane{RecvGuard, RecvArrayStack, SendWREx, RecvGoAppend} {
		w := openNullWindow(t, Config{Lane: lane, Batch: 16, Bytes: 64, Batches: 100})
		r := ran(t, w)
		var sum uint64
		for _, l := range r.Laps {
			if l.Build == 0 || l.Post == 0 || l.Drop == 0 {
				t.Fatalf("lane %s: a part of a batch took no time: %+v", lane, l)
			}
			sum += l.Build + l.Post + l.Drop
		}
		if sum > r.Elapsed {
			t.Errorf("lane %s: parts sum to %d ticks, the window to %d", lane, sum, r.Elapsed)
		}
		if r.ClockTicks == 0 {
			t.Errorf("lane %s: the clock costs nothing", lane)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	c := openNull(t)
	for name, cfg := range map[string]Config{
		"no batch":      {Lane: RecvArray, Bytes: 64},
		"five SGEs":     {Lane: RecvArray, Batch: 1, SGEs: 5, Bytes: 320},
		"uneven SGEs":   {Lane: SendArray, Batch: 1, SGEs: 2, Bytes: 63},
		"no bytes":      {Lane: SendArray, Batch: 1},
		"SGEs in Go":    {Lane: RecvGoArray, Batch: 1, SGEs: 2, Bytes: 64},
		"batch too big": {Lane: RecvArray, Batch: 1 << 20, Bytes: 64},
	} {
		if w, err := c.OpenWindow(cfg); err == nil {
			w.Close()
			t.Errorf("%s was taken", name)
		}
	}
	if _, err := c.OpenComplete(Config{Lane: SendArray, Batch: 1, Bytes: 1}); err == nil {
		t.Error("the null device completes sends")
	}
}

// Hot windows use one buffer again, cold ones more than the cache holds.
func TestColdBuffers(t *testing.T) {
	const cold = 8 << 20
	for _, bytes := range []int{16, 64, 4096} {
		hot := openNullWindow(t, Config{Lane: SGE, Batch: 4, Bytes: bytes, Batches: 1})
		if m := hot.lane.src.mask; m != 0 {
			t.Errorf("%d bytes hot: %d buffers", bytes, m+1)
		}
		w := openNullWindow(t, Config{Lane: SGE, Batch: 4, Bytes: bytes, Batches: 1, Cold: true, ColdBytes: cold})
		src := w.lane.src
		if span := (int(src.mask) + 1) * int(src.stride); span <= cold/2 || span > w.src.bytes || int(src.stride) < bytes {
			t.Errorf("%d bytes cold: %d buffers %d apart span %d of %d bytes", bytes, src.mask+1, src.stride, span, cold)
		}
	}
}

// What is told around each segment comes in pairs, nothing else in between.
func TestAroundSegments(t *testing.T) {
	var told []bool
	w := openNullWindow(t, Config{Lane: RecvArray, Batch: 100, Bytes: 64, Batches: 25, Totals: 25, Depth: 1000, Around: func(b bool) { told = append(told, b) }})
	if _, err := w.Run(); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2*6 { // 25 batches twice, ten a segment
		t.Errorf("told %d times", len(told))
	}
	for i, b := range told {
		if b != (i%2 == 0) {
			t.Fatalf("told %v", told)
		}
	}
}
