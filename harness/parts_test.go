package harness

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
	"golang.org/x/sys/unix"
)

func TestPickCPUs(t *testing.T) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	a, b := PickCPUs()
	if !set.IsSet(a) || !set.IsSet(b) || (a == b) != (set.Count() == 1) {
		t.Errorf("CPUs %d and %d of %d allowed", a, b, set.Count())
	}
}

func TestSurvey(t *testing.T) {
	m := Survey(record.Tool{Version: "9.9"})
	if v, ok := m.Environment.Get("zcbench"); !ok || v != "9.9" {
		t.Errorf("version %q", v)
	}
	if v, ok := m.Environment.Get("clock"); !ok || !strings.HasPrefix(v, m.Clock.Source) {
		t.Errorf("clock %q, %+v", v, m.Clock)
	}
	if m.Clock.TicksHz <= 0 || m.ClockCostNS <= 0 {
		t.Errorf("clock %+v costs %g ns", m.Clock, m.ClockCostNS)
	}
	if reason, _ := Capability(NeedsRDMA); reason == "" {
		t.Error("there are RDMA strategies")
	}
}

// A sample counts the pages that are touched, and only those of the window count.
func TestSampler(t *testing.T) {
	page := os.Getpagesize()
	mem, err := MapBuffers(16 * page)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mem)
	region := func(b []byte) residency.Region {
		return residency.Region{Addr: uintptr(unsafe.Pointer(&b[0])), Len: uintptr(len(b))}
	}
	m := Memory{Buffers: []residency.Region{region(mem[8*page:])}, Ring: 4096, Pinned: 8192}
	s, err := newSampler(m, region(mem[:4*page]), nil, 1, 10, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i, at := range []int{0, 8, 15, 5} { // the last is of neither region
		mem[at*page] = 1
		if next := s.take(uint64(i * 10)); next != uint64(i*10+10) {
			t.Errorf("after %d messages the next sample is due at %d", i*10, next)
		}
	}
	if !slices.Equal(s.pagesAt.X, []int64{0, 10, 20, 30}) || !slices.Equal(s.pagesAt.Y, []int64{0, 1, 2, 2}) {
		t.Errorf("pages %v at %v, less one that was there before", s.pagesAt.Y, s.pagesAt.X)
	}
	got := s.summary(m, 10)
	if want := (levels{sum: 4, n: 2, max: 2, last: 2}); got.pages != want {
		t.Errorf("window %+v, want %+v", got.pages, want)
	}
	if got.ring != 4096 || got.pinned != 8192 || got.end.RSS == 0 || got.noStatus != "" || got.sockets.max != 0 || got.sockets.n != 2 {
		t.Errorf("%+v", got)
	}
	if none := s.summary(m, 30).pages; none.reason == "" || none.n != 0 {
		t.Errorf("no sample after the warm-up: %+v", none)
	}
	s.fds = []int{-1}
	s.take(40)
	if after := s.summary(m, 10).sockets; after.reason == "" {
		t.Errorf("sockets that cannot be asked: %+v", after)
	}
}

func TestHistograms(t *testing.T) {
	l := latencies{all: []int64{0, 1, 1000, 2_000_000, histogramMax * 4}, banded: true}
	l.bands = [3][]int64{{0, 1}, nil, {1000, 2_000_000, histogramMax * 4}}
	var rec record.Record
	histograms(&rec, l)
	for name, want := range map[string]struct{ n, max int64 }{"latency": {4, 2_000_000}, "latency_small": {2, 1}, "latency_large": {2, 2_000_000}} {
		h, err := hdrhistogram.Decode([]byte(rec.Histograms[name]))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if h.TotalCount() != want.n || h.Max() < want.max || h.Max() > want.max+want.max/500 {
			t.Errorf("%s: %d values up to %d, want %+v", name, h.TotalCount(), h.Max(), want)
		}
	}
	if _, there := rec.Histograms["latency_medium"]; there || len(rec.Histograms) != 3 {
		t.Errorf("histograms %d", len(rec.Histograms))
	}
	if len(rec.Notes) != 2 || !strings.Contains(rec.Notes[0], "latency: 1 values over 100 s") {
		t.Errorf("notes %q", rec.Notes)
	}
	l.banded = false
	histograms(&rec, l)
	if len(rec.Histograms) != 1 {
		t.Errorf("histograms of bands where there are none: %d", len(rec.Histograms))
	}
}

// Counters that fail give a reason for every metric, and no figures.
func TestPerfCounters(t *testing.T) {
	var none *perfCounters
	none.reset()
	none.pause()
	none.resume()
	none.close()
	p := openPerf()
	defer p.close()
	names := []string{"instructions", "cycles", "cache_misses", "dtlb_misses"}
	if allocs := testing.AllocsPerRun(20, func() {
		p.reset()
		p.pause()
		p.resume()
		p.pause()
	}); allocs != 0 {
		t.Errorf("%g allocations a window", allocs)
	}
	totals, reasons := p.read()
	for _, name := range names {
		_, counted := totals[name]
		if _, refused := reasons[name]; counted == refused {
			t.Errorf("%s has a figure: %t, a reason: %t", name, counted, refused)
		}
	}
	broken := openPerf()
	defer broken.close()
	for _, name := range names {
		broken.totals[name] = 7
	}
	broken.reset()
	broken.fail(errors.New("gone"))
	broken.pause()
	if totals, reasons := broken.read(); len(totals) != 0 || len(reasons) != 4 {
		t.Errorf("after a failure %d figures, %d reasons", len(totals), len(reasons))
	}
}

func TestStrategyRegistry(t *testing.T) {
	reg := testRegistry()
	if _, ok := reg.Find("gamma"); ok || len(reg.Names(record.KindReceive)) != len(reg) || reg.Names(record.KindReceive)[1] != "alpha" {
		t.Errorf("names %v", reg.Names(record.KindReceive))
	}
	a := Counters{Enters: 10, Syscalls: 20, SQEs: 30, CQEs: 40, Receives: 50, NoBufs: 60, Reprovides: 70, Wasted: 80, Copied: 90, Reclaims: 100}
	b := Counters{Enters: 1, Syscalls: 2, SQEs: 3, CQEs: 4, Receives: 5, NoBufs: 6, Reprovides: 7, Wasted: 8, Copied: 9, Reclaims: 10}
	want := Counters{Enters: 9, Syscalls: 18, SQEs: 27, CQEs: 36, Receives: 45, NoBufs: 54, Reprovides: 63, Wasted: 72, Copied: 81, Reclaims: 90}
	if got := a.minus(b); got != want {
		t.Errorf("difference %+v, want %+v", got, want)
	}
}
