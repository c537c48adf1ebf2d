package clock

import (
	"math"
	"testing"
	"time"
)

// sources returns a clock of each source this machine has.
func sources(t testing.TB) []Clock {
	t.Helper()
	mono, err := New(SourceMonotonic, 0)
	if err != nil {
		t.Fatal(err)
	}
	list := []Clock{mono}
	if Detect("/").Source == SourceTSC {
		c, err := New(SourceTSC, Calibrate(20*time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

func TestNewRefuses(t *testing.T) {
	for _, bad := range []struct {
		source string
		hz     float64
	}{
		{"tsc", 0}, {"tsc", -1}, {"tsc", math.NaN()}, {"tsc", math.Inf(1)}, {"", 1e9}, {"hpet", 1e9},
	} {
		if c, err := New(bad.source, bad.hz); err == nil {
			t.Errorf("New(%q, %v) = %+v, want an error", bad.source, bad.hz, c)
		}
	}
}

func TestConversion(t *testing.T) {
	if !HasTSC {
		t.Skip("this architecture has no TSC to convert")
	}
	c, err := New(SourceTSC, 2.5e9)
	if err != nil {
		t.Fatal(err)
	}
	for ticks, want := range map[int64]int64{
		0: 0, 1: 0, 2: 1, 5: 2, 25: 10, -25: -10, 2_500_000_000: 1_000_000_000,
		9_000_000_000_000_000: 3_600_000_000_000_000,
	} {
		if got := c.NS(uint64(ticks)); got != want {
			t.Errorf("NS(%d) = %d, want %d", ticks, got, want)
		}
	}
	for _, ns := range []int64{0, 1, -1, 999, 1_000_000_007, -86_400_000_000_000} {
		if got := c.NS(c.FromNS(ns)); got != ns {
			t.Errorf("NS(FromNS(%d)) = %d", ns, got)
		}
	}
}

func TestMonotonicTickIsANanosecond(t *testing.T) {
	c, err := New(SourceMonotonic, 7)
	if err != nil {
		t.Fatal(err)
	}
	if c.TicksHz != 1e9 || c.NS(123_456_789_012_345) != 123_456_789_012_345 {
		t.Errorf("rate %v, NS = %d", c.TicksHz, c.NS(123_456_789_012_345))
	}
}

func TestNowAdvancesAndDoesNotAllocate(t *testing.T) {
	for _, c := range sources(t) {
		last := c.Now()
		for range 100_000 {
			now := c.Now()
			if now < last {
				t.Fatalf("%s: %d after %d", c.Source, now, last)
			}
			last = now
		}
		var sink int64
		if n := testing.AllocsPerRun(1000, func() { sink += c.NS(c.Now() - c.FromNS(5)) }); n != 0 {
			t.Errorf("%s: %v allocations per stamp, want 0", c.Source, n)
		}
	}
}

// TestSourcesAgree times one span with every source and with time.Now.
func TestSourcesAgree(t *testing.T) {
	for _, c := range sources(t) {
		start, from := time.Now(), c.Now()
		time.Sleep(50 * time.Millisecond)
		ns, want := c.NS(c.Now()-from), time.Since(start).Nanoseconds()
		if ratio := float64(ns) / float64(want); math.Abs(ratio-1) > 0.01 {
			t.Errorf("%s: %d ns where CLOCK_MONOTONIC counts %d, ratio %.4f", c.Source, ns, want, ratio)
		}
	}
}

func TestCostIsPlausible(t *testing.T) {
	if cost := Cost(); cost <= 0 || cost > 1e5 {
		t.Errorf("Cost() = %v ns", cost)
	}
	for _, c := range sources(t) {
		if cost := c.CostNS(); cost <= 0 || cost > 1e5 {
			t.Errorf("%s: CostNS() = %v", c.Source, cost)
		}
	}
}

func TestChoose(t *testing.T) {
	c, why := Choose("/", 10*time.Millisecond)
	if why == "" || c.TicksHz <= 0 || c.Now() == 0 {
		t.Errorf("Choose = %+v, %q", c, why)
	}
	empty, why := Choose(t.TempDir(), time.Millisecond)
	if empty.Source != SourceMonotonic || why == "" {
		t.Errorf("without cpuinfo: %+v, %q", empty, why)
	}
}

func BenchmarkNow(b *testing.B) {
	for _, c := range sources(b) {
		b.Run(c.Source, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Now()
			}
		})
	}
}
