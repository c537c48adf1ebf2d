package harness

import (
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
	"golang.org/x/sys/unix"
)

// mapped is a region of its own mapping, of so many pages.
func mapped(t *testing.T, name string, pages int) ([]byte, residency.Region) {
	t.Helper()
	mem, err := MapBuffers(pages * unix.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	return mem, residency.Region{Name: name, Addr: uintptr(unsafe.Pointer(&mem[0])), Len: uintptr(len(mem))}
}

// TestSamplerByRegion: what is resident is told in all and by the name of a
// region, those of one name together, over the messages and in summary.
func TestSamplerByRegion(t *testing.T) {
	page := unix.Getpagesize()
	_, assembly := mapped(t, assemblyRegion, 4)
	first, a := mapped(t, "buffers", 8)
	second, b := mapped(t, "buffers", 8)
	out, c := mapped(t, sendRegion, 8)
	s, err := newSampler(Memory{Buffers: []residency.Region{a, b, c}}, assembly, nil, 0, 10, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.take(10)
	first[0], second[3*page] = 1, 1
	s.take(20)
	out[0], out[page], out[2*page] = 1, 1, 1
	s.take(30)
	if err := unix.Madvise(out[:2*page], unix.MADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if next := s.take(40); next != 50 {
		t.Errorf("the next sample is due at %d", next)
	}
	want := map[string][]int64{"buffer_pages": {0, 2, 5, 3}, "pages:buffers": {0, 2, 2, 2}, "pages:send": {0, 0, 3, 1}}
	for _, line := range s.series() {
		if y, ok := want[line.Name]; ok {
			if !slices.Equal(line.Y, y) || !slices.Equal(line.X, []int64{10, 20, 30, 40}) {
				t.Errorf("%s is %v at %v, want %v", line.Name, line.Y, line.X, y)
			}
			delete(want, line.Name)
		} else if strings.HasPrefix(line.Name, "pages:") {
			t.Errorf("a time line of %s, which never held a page: %v", line.Name, line.Y)
		}
	}
	if len(want) > 0 {
		t.Errorf("no time lines of %v", want)
	}
	m := s.summary(Memory{Buffers: []residency.Region{a, b, c}}, 10)
	if got := m.region(sendRegion); got.max != 3 || got.last != 1 || got.sum != 4 || got.n != 3 {
		t.Errorf("send: %+v", got)
	}
	if got := m.region("none such"); got.n != 1 || got.sum != 0 || got.reason != "" {
		t.Errorf("a region that is not there: %+v", got)
	}
	if m.sampleNS <= 0 {
		t.Errorf("a sample costs %d ns", m.sampleNS)
	}
}

// TestSamplerDoesNotAllocate: samples are taken in processes that do not collect
// garbage, and whose allocations are counted.
func TestSamplerDoesNotAllocate(t *testing.T) {
	_, assembly := mapped(t, assemblyRegion, 4)
	_, a := mapped(t, "buffers", 8)
	s, err := newSampler(Memory{Buffers: []residency.Region{a}}, assembly, nil, 0, 1, 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := uint64(0)
	if allocs := testing.AllocsPerRun(500, func() { n = s.take(n) }); allocs != 0 {
		t.Errorf("%g allocations a sample", allocs)
	}
}

// TestReclaimTimeScales: of the calls, those timed stand for all; where none was
// the figure is not there.
func TestReclaimTimeScales(t *testing.T) {
	for _, c := range []struct {
		count Counters
		want  float64
		says  string
	}{
		{Counters{}, 0, ""},
		{Counters{Reclaims: 70, ReclaimsTimed: 10, ReclaimTicks: 20_000}, 70 * 2000 / 1e9 / 100, ""},
		{Counters{Reclaims: 5}, 0, "none of the reclaim calls was timed"},
	} {
		v, reason := reclaimTime(&Outcome{Messages: 100, TicksHz: 1e9, Count: c.count})
		if reason != c.says || reason == "" && v.Float64() != c.want {
			t.Errorf("%+v: %v, %q; want %g, %q", c.count, v, reason, c.want, c.says)
		}
	}
}

// shy is a receiver that cannot tell its system calls.
type shy struct{ null }

func (shy) Unavailable() map[string]string {
	return map[string]string{"syscalls": "nobody counts them", "latency_p50": "not of this purpose"}
}

// TestWithhold: a figure the strategy cannot tell is replaced by its reason, and
// nothing is said of figures other trials give.
func TestWithhold(t *testing.T) {
	rec := record.Record{
		Metrics:     map[string]record.Value{"syscalls": record.Count(0, 1), "receives": record.Count(2, 1)},
		Unavailable: map[string]string{"cycles": "no counter"},
	}
	withhold(&rec, &shy{})
	if _, ok := rec.Metrics["syscalls"]; ok || rec.Unavailable["syscalls"] != "nobody counts them" {
		t.Errorf("%v, %v", rec.Metrics, rec.Unavailable)
	}
	if len(rec.Metrics) != 1 || len(rec.Unavailable) != 2 {
		t.Errorf("%v, %v", rec.Metrics, rec.Unavailable)
	}
	withhold(&rec, &null{})
	if len(rec.Unavailable) != 2 {
		t.Errorf("%v", rec.Unavailable)
	}
}

// TestSkipFromOpen: a strategy that says why it cannot be opened here skips its
// trial, and does not fail it.
func TestSkipFromOpen(t *testing.T) {
	s := Null
	s.Open = func(*Bench, Values) (Receiver, error) { return nil, &Skip{Reason: "too little", Remedy: "get more"} }
	rec := RunTrial(trialOf("null", workload(), record.Counting, 10), Registry{s}, nil)
	if rec.Status != record.Skipped || rec.Error != "too little" || rec.Remedy != "get more" {
		t.Errorf("%+v", rec)
	}
}
