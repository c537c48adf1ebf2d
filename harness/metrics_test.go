package harness

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
)

func TestMetricTable(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	units := []string{record.UnitSeconds, record.UnitBytes, record.UnitOne, record.UnitPages, record.UnitTSC}
	pers := []string{"", record.PerMessage, record.PerWR, record.PerCall, record.PerConn, record.PerTrial, record.PerSecond}
	groups := []string{"latency", "rate", "cpu", "calls", "copies", "allocations", "memory", "perf", "load", "posts", "fairness"}
	purposes := []record.Purpose{record.Timing, record.Counting, record.Verify}
	seen := map[string]bool{}
	for _, r := range table {
		if seen[r.Name] || !snake.MatchString(r.Name) {
			t.Errorf("metric %q is there twice, or is no name", r.Name)
		}
		seen[r.Name] = true
		for what, ok := range map[string]bool{
			"help": len(r.Help) > 10, "unit": slices.Contains(units, r.Unit), "per": slices.Contains(pers, r.Per),
			"group": slices.Contains(groups, r.Group), "purpose": slices.Contains(purposes, r.Purpose),
			"source": (r.from == nil) != (r.sent == nil) || ofAdaptersOnly(r), "kind": r.Kind == record.Sampled || r.Kind == record.Exact || r.Kind == record.Histogram,
			// Exact figures come from trials that repeat.
			"exactness": r.Kind != record.Exact || r.Purpose == record.Counting,
		} {
			if !ok {
				t.Errorf("metric %s: its %s is wrong: %+v", r.Name, what, r.Metric)
			}
		}
		if m, ok := FindMetric(r.Name); !ok || m != r.Metric {
			t.Errorf("FindMetric(%s): %+v, %t", r.Name, m, ok)
		}
	}
	if _, ok := FindMetric("none"); ok || len(Metrics(record.KindReceive)) != len(receiveTable) || len(Metrics("rdma-connect")) != len(postTable) {
		t.Error("a metric is found that is none")
	}
}

// ofAdaptersOnly: our own receivers are written in Go and call no C allocator.
func ofAdaptersOnly(r row) bool { return r.Name == heapAllocs || r.Name == heapAllocBytes }

// outcome is a window in which every figure is another.
func outcome(purpose record.Purpose) *Outcome {
	o := &Outcome{
		Trial: record.Trial{Purpose: purpose}, Messages: 1000, Bytes: 5000, WallNS: 2e9, CPUNS: 3e6, Faults: 7,
		Count:  Counters{Enters: 11, Syscalls: 13, SQEs: 17, CQEs: 19, Receives: 23, NoBufs: 29, Reprovides: 31, Wasted: 37, Copied: 41, Reclaims: 43, ReclaimsTimed: 5, ReclaimTicks: 4000},
		Copied: 59, Forced: 47, Allocs: 53, AllocB: 61, TicksHz: 2e9,
		Memory: &memoryLevels{
			pages: levels{sum: 300, n: 4, max: 90, last: 70}, sockets: levels{sum: 500, n: 3, max: 400, last: 1},
			end: residency.Levels{PTE: 8192, HWM: 1 << 20, Pinned: 4096}, lazyFree: 67, ring: 71, pinned: 73,
			kept: levels{sum: 700, n: 7}, stranded: levels{sum: 210, n: 7},
			cgroup: levels{sum: 900, n: 2, max: 800}, huge: 512, sampleNS: 6000,
			regions: map[string]levels{"assembly": {sum: 9, n: 3, max: 8, last: 1}, "send": {sum: 10, n: 3, max: 6, last: 2}},
		},
		Perf: map[string]float64{"instructions": 5e6, "cycles": 4e6, "cache_misses": 3000}, NoPerf: map[string]string{"dtlb_misses": "unavailable: no counter"},
	}
	for i := range int64(12_000) {
		ns := (i + 1) * 1000
		o.Latency.all = append(o.Latency.all, ns)
		o.Latency.bands[i%3] = append(o.Latency.bands[i%3], ns)
	}
	o.Latency.banded = true
	o.Trial.Workload.Clients, o.Trial.Workload.QuietShare = 4, .5
	o.Fair = fairness{quiet: o.Latency.bands[0], busy: o.Latency.bands[1], spread: 1.5}
	o.Kernel = &kernelObjects{bytes: 8900}
	o.Refused = refusals{all: 79, quiet: 83, quietMessages: 200}
	return o
}

// expected holds what each row makes of the outcome, worked out by hand.
var expected = map[string]record.Value{
	// 12000 latencies of 1 us, 2 us and so on: the rank is the latency.
	"latency_p50": record.Level(.006), "latency_p90": record.Level(.0108), "latency_p99": record.Level(.01188), "latency_p999": record.Level(.011988),
	"latency_max": record.Level(.012),
	// 4000 in each band: 1, 4, 7 .. us, then 2, 5, 8 .. and 3, 6, 9 ..
	"latency_small_p50": record.Level(.005998), "latency_small_p99": record.Level(.011878),
	"latency_medium_p50": record.Level(.005999), "latency_medium_p99": record.Level(.011879),
	"latency_large_p50": record.Level(.006), "latency_large_p99": record.Level(.01188),
	"quiet_latency_p50": record.Level(.005998), "quiet_latency_p99": record.Level(.011878),
	"busy_latency_p50": record.Level(.005999), "busy_latency_p99": record.Level(.011879), "client_latency_spread": record.Level(1.5),
	"starved_receives": record.Count(79, 1000), "quiet_starved_receives": record.Count(83, 200),
	"messages_per_s": record.Level(500), "bytes_per_s": record.Level(2500), "cpu_per_msg": record.Level(3e-6),
	"syscalls": record.Count(13, 1000), "enters": record.Count(11, 1000), "sqes": record.Count(17, 1000), "cqes": record.Count(19, 1000),
	"receives": record.Count(23, 1000), "enobufs": record.Count(29, 1000), "reprovides": record.Count(31, 1000), "reclaims": record.Count(43, 1000),
	"forced_releases": record.Count(47, 1000), "go_allocs": record.Count(53, 1000), "go_alloc_bytes": record.Count(61, 1000),
	"copied_bytes": record.Count(59+41, 1000), "wasted_bytes": record.Count(37, 1000), "minor_faults": record.Count(7, 1000),
	"buffer_pages_mean": record.Count(300, 4), "buffer_pages_peak": record.Count(90, 1), "buffer_pages_end": record.Count(70, 1),
	"lazyfree_bytes": record.Count(67, 1), "page_table_bytes": record.Count(8192, 1), "ring_bytes": record.Count(71, 1),
	"assembly_pages_peak": record.Count(8, 1), "send_pages_mean": record.Count(10, 3), "send_pages_peak": record.Count(6, 1),
	"kept_bytes_mean": record.Count(700, 7), "stranded_bytes_mean": record.Count(210, 7),
	"send_pages_end": record.Count(2, 1), "huge_pages_end": record.Count(512, 1), "vmpin_bytes": record.Count(4096, 1),
	// 5 of 43 calls took 4000 ticks of half a nanosecond.
	"reclaim_time": record.Level(2e-6 / 5 * 43 / 1000), "sampling_time": record.Level(6e-6), "cgroup_socket_bytes": record.Count(900, 2),
	"loaded_pages_mean": record.Count(300, 4), "loaded_pages_peak": record.Count(90, 1),
	"socket_bytes_mean": record.Count(500, 3), "socket_bytes_peak": record.Count(400, 1),
	"kernel_bytes_per_client": record.Count(8900, 1), "rss_peak_bytes": record.Count(1<<20, 1), "pinned_bytes": record.Count(73, 1),
	"instructions": record.Level(5000), "cycles": record.Level(4000), "cache_misses": record.Level(3),
	// The generator's, from the report below.
	"generator_cpu_per_msg": record.Level(4e-6), "send_late_p99": record.Level(9e-6), "blocked_sends": record.Level(.25),
}

func TestMetricValues(t *testing.T) {
	g := &record.Generator{Messages: 1000, CPUNS: 4e6, LateP50NS: 1, LateP99NS: 9000, BlockedSends: 250}
	yields := map[record.Purpose]record.Purpose{
		record.Timing: record.Timing, record.Floor: record.Timing, record.Capacity: record.Timing, record.Counting: record.Counting, record.Verify: record.Verify,
	}
	for purpose, of := range yields {
		var rec record.Record
		fill(&rec, outcome(purpose))
		fillSent(&rec, purpose, g)
		for _, r := range receiveTable {
			if ofAdaptersOnly(r) {
				continue
			}
			got, there := rec.Metrics[r.Name]
			reason, not := rec.Unavailable[r.Name]
			if want := r.Purpose == of; (there || not) != want || there && not {
				t.Errorf("%s trials: %s has a value: %t, a reason: %t; want either: %t", purpose, r.Name, there, not, want)
			}
			want, known := expected[r.Name]
			switch {
			case there && !known:
				t.Errorf("metric %s: say here what it should be", r.Name)
			case there && !same(got, want):
				t.Errorf("%s trials: %s is %s, want %s", purpose, r.Name, show(got), show(want))
			case not && (r.Name != "dtlb_misses" || reason != "no counter"):
				t.Errorf("%s trials: %s is unavailable: %s", purpose, r.Name, reason)
			}
		}
	}
}

func same(a, b record.Value) bool {
	if a.Float == nil || b.Float == nil {
		return a == b
	}
	return math.Abs(*a.Float-*b.Float) <= 1e-12*math.Abs(*b.Float)
}

func show(v record.Value) string {
	if v.Float != nil {
		return fmt.Sprint(*v.Float)
	}
	return fmt.Sprintf("%d/%d", v.Num, v.Den)
}

func TestMetricReasons(t *testing.T) {
	timing := outcome(record.Timing)
	timing.Latency = latencies{}
	few := outcome(record.Timing)
	few.Latency.all = few.Latency.all[:1000]
	few.Latency.bands[2] = nil
	even, unfair := outcome(record.Timing), outcome(record.Verify)
	even.Trial.Workload.QuietShare, even.Fair.noSpread = 0, "too few"
	unfair.Refused.quietMessages = 0
	silent := outcome(record.Timing)
	silent.Fair.quiet = nil
	alike := outcome(record.Timing)
	alike.Latency.banded = false
	bare := outcome(record.Counting)
	bare.Memory, bare.Perf, bare.NoPerf, bare.Kernel = nil, nil, nil, nil
	blind := outcome(record.Counting)
	blind.Memory.huge, blind.Memory.noHuge = 0, "cannot tell"
	inHeap := outcome(record.Counting)
	inHeap.Memory.inHeap, inHeap.Trial.Workload.ReplyBytes = true, 1
	untimed := outcome(record.Timing)
	untimed.Count.ReclaimsTimed = 0
	blind.Kernel.reason = "root only"
	blind.Memory.pages.reason, blind.Memory.noStatus, blind.Memory.noLazy = "hidden", "no /proc", "no smaps"
	for _, c := range []struct {
		o     *Outcome
		names string
		says  string
	}{
		{timing, "latency_p50 latency_max", "no latencies"},
		{timing, "latency_small_p50", "do not fall into bands"},
		{few, "latency_p999", "fewer than ten"},
		{few, "latency_large_p50", "no message of the window is large"},
		{even, "quiet_latency_p50 busy_latency_p99", "traffic is even"},
		{even, "client_latency_spread", "too few"},
		{unfair, "quiet_starved_receives", "goes to a quiet client"},
		{silent, "quiet_latency_p50 quiet_latency_p99", "goes to such a client"},
		{alike, "latency_small_p50 latency_large_p99", "do not fall into bands"},
		{bare, "buffer_pages_mean ring_bytes rss_peak_bytes", "not sampled"},
		{bare, "cycles dtlb_misses", "not counted"},
		{bare, "kernel_bytes_per_client", "not looked at"},
		{blind, "kernel_bytes_per_client", "root only"},
		{blind, "buffer_pages_mean buffer_pages_peak buffer_pages_end", "hidden"},
		{blind, "page_table_bytes rss_peak_bytes", "no /proc"},
		{blind, "lazyfree_bytes", "no smaps"},
		{blind, "huge_pages_end", "cannot tell"},
		{bare, "send_pages_mean assembly_pages_peak sampling_time", "not sampled"},
		{inHeap, "send_pages_mean send_pages_peak send_pages_end", "Go heap"},
		{untimed, "reclaim_time", "none of the reclaim calls"},
	} {
		var rec record.Record
		fill(&rec, c.o)
		for _, name := range strings.Fields(c.names) {
			if reason := rec.Unavailable[name]; !strings.Contains(reason, c.says) {
				t.Errorf("%s: reason %q, want %q", name, reason, c.says)
			}
			if _, there := rec.Metrics[name]; there {
				t.Errorf("%s has a value", name)
			}
		}
	}
	var rec record.Record
	fillSent(&rec, record.Timing, &record.Generator{Messages: 1})
	rec.Metrics = map[string]record.Value{}
	fillSent(&rec, record.Timing, nil)
	fillSent(&rec, record.Timing, &record.Generator{})
	fillSent(&rec, record.Counting, &record.Generator{Messages: 1})
	if len(rec.Metrics) != 0 {
		t.Errorf("figures of no generator: %v", slices.Sorted(maps.Keys(rec.Metrics)))
	}
}

// A percentile is told where at least ten values lie above it, and then it is
// the value below which that share lies.
func TestQuantileRule(t *testing.T) {
	for _, c := range []struct {
		n    int
		p    float64
		want int64 // 0: not told
	}{
		{0, .5, 0}, {1, .5, 0}, {19, .5, 0}, {20, .5, 10}, {21, .5, 11}, {22, .5, 11}, {99, .9, 0}, {100, .9, 90}, {101, .9, 91},
		{999, .99, 0}, {1000, .99, 990}, {1001, .99, 991}, {9999, .999, 0}, {10_000, .999, 9990}, {20_000, .999, 19_980},
	} {
		sorted := make([]int64, c.n)
		for i := range sorted {
			sorted[i] = int64(i) + 1
		}
		got, reason := quantile(sorted, c.p)
		if got != c.want || (reason == "") != (c.want > 0) {
			t.Errorf("%g quantile of %d values is %d, %q; want %d", c.p, c.n, got, reason, c.want)
		}
		if above := int64(c.n) - got; c.want > 0 && above < 10 {
			t.Errorf("%g quantile of %d values has %d above it", c.p, c.n, above)
		}
	}
}

func TestLatenciesByBand(t *testing.T) {
	sizes := record.Sizes{Kind: "uniform", Min: 100, Max: 1099}
	w := workload()
	w.Sizes = sizes
	s, err := NewSink(trialOf("null", w, record.Timing, 4), monotonic(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	// The third and ninth tenth end at 433 and 1000 bytes.
	s.sizes = []uint32{1000, 100, 1001, 433, 434, 1099}
	s.ticks = []uint64{50, 20, 10, 40, 60, ^uint64(0)} // the last before it was sent, which rounds to 0
	l := newLatencies(s, sizes, monotonic(t))
	want := latencies{all: []int64{0, 10, 20, 40, 50, 60}, bands: [3][]int64{{20, 40}, {50, 60}, {0, 10}}, banded: true}
	if !slices.Equal(l.all, want.all) || !l.banded {
		t.Errorf("%+v", l)
	}
	for i := range want.bands {
		if !slices.Equal(l.bands[i], want.bands[i]) {
			t.Errorf("%s messages: %v, want %v", bandNames[i], l.bands[i], want.bands[i])
		}
	}
	if alike := newLatencies(s, record.Sizes{Kind: "fixed", Bytes: 64}, monotonic(t)); alike.banded {
		t.Error("sizes that are all alike fall into bands")
	}
}
