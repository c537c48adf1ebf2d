package harness

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// row is one metric: what it is, and where in an outcome it comes from. from
// returns a reason instead when this trial cannot tell.
type row struct {
	record.Metric
	// from is nil for figures of the load generator and of adapters.
	from func(o *Outcome) (record.Value, string)
	// sent is set instead for figures of the load generator, which the child
	// does not know.
	sent func(g *record.Generator) record.Value
	// posts is set for figures of the kinds that post work requests; the others
	// are of the kind that receives.
	posts bool
}

// Metrics lists the descriptors of all metrics of a kind of workload, in the
// order they are shown.
func Metrics(kind string) []record.Metric {
	var out []record.Metric
	for _, r := range table {
		if r.posts == (kind != record.KindReceive) {
			out = append(out, r.Metric)
		}
	}
	return out
}

// FindMetric returns the descriptor of a metric.
func FindMetric(name string) (record.Metric, bool) {
	for _, r := range table {
		if r.Name == name {
			return r.Metric, true
		}
	}
	return record.Metric{}, false
}

// fill writes the metrics of a trial's purpose into its record.
func fill(rec *record.Record, o *Outcome) {
	rec.Metrics = map[string]record.Value{}
	rec.Unavailable = map[string]string{}
	for _, r := range table {
		if r.from == nil || r.posts != (o.Posts != nil) || !r.yields(o.Trial.Purpose) {
			continue
		}
		v, reason := r.from(o)
		if reason != "" {
			rec.Unavailable[r.Name] = reason
			continue
		}
		rec.Metrics[r.Name] = v
	}
}

// withhold takes back the figures that a strategy says it cannot tell, such as
// the system calls of code it has no hand in. A receiver says so by a method
// Unavailable, which gives reasons by the name of the metric.
func withhold(rec *record.Record, r Receiver) {
	u, ok := r.(interface{ Unavailable() map[string]string })
	if !ok {
		return
	}
	for name, reason := range u.Unavailable() {
		_, told := rec.Metrics[name]
		_, missing := rec.Unavailable[name]
		if told || missing {
			delete(rec.Metrics, name)
			rec.Unavailable[name] = reason
		}
	}
}

// fillSent adds the generator's figures to the record of its trial.
func fillSent(rec *record.Record, p record.Purpose, g *record.Generator) {
	if g == nil || g.Messages == 0 || rec.Metrics == nil {
		return
	}
	for _, r := range table {
		if r.sent != nil && r.yields(p) {
			rec.Metrics[r.Name] = r.sent(g)
		}
	}
}

// yields reports whether trials of a purpose give the metric. The harness's own
// trials give what timing trials do.
func (r row) yields(p record.Purpose) bool {
	if p == record.Capacity || p == record.Floor {
		p = record.Timing
	}
	return r.Purpose == p
}

const (
	lower  = record.Lower
	higher = record.Higher
)

func perMsg(n func(o *Outcome) uint64) func(*Outcome) (record.Value, string) {
	return func(o *Outcome) (record.Value, string) { return record.Count(int64(n(o)), o.Messages), "" }
}

func latency(band int, p float64) func(*Outcome) (record.Value, string) {
	return func(o *Outcome) (record.Value, string) {
		sorted := o.Latency.all
		if band >= 0 {
			if !o.Latency.banded {
				return record.Value{}, "the sizes do not fall into bands"
			}
			sorted = o.Latency.bands[band]
			if len(sorted) == 0 {
				return record.Value{}, "no message of the window is " + bandNames[band]
			}
		}
		ns, reason := quantile(sorted, p)
		if reason != "" {
			return record.Value{}, reason
		}
		return record.Level(float64(ns) / 1e9), ""
	}
}

func latencyMax(o *Outcome) (record.Value, string) {
	if len(o.Latency.all) == 0 {
		return record.Value{}, "no latencies were taken"
	}
	return record.Level(float64(o.Latency.all[len(o.Latency.all)-1]) / 1e9), ""
}

func perSecond(n func(o *Outcome) int64) func(*Outcome) (record.Value, string) {
	return func(o *Outcome) (record.Value, string) {
		return record.Level(float64(n(o)) / (float64(o.WallNS) / 1e9)), ""
	}
}

// level reads a memory figure, which only counting trials take.
func level(f func(m *memoryLevels) (int64, int64, string)) func(*Outcome) (record.Value, string) {
	return func(o *Outcome) (record.Value, string) {
		if o.Memory == nil {
			return record.Value{}, "memory was not sampled"
		}
		num, den, reason := f(o.Memory)
		return record.Count(num, den), reason
	}
}

func perf(name string) func(*Outcome) (record.Value, string) {
	return func(o *Outcome) (record.Value, string) {
		if v, ok := o.Perf[name]; ok {
			return record.Level(v / float64(o.Messages)), ""
		}
		reason := o.NoPerf[name]
		if reason == "" {
			reason = "not counted"
		}
		return record.Value{}, strings.TrimPrefix(reason, "unavailable: ")
	}
}

func timed(name, unit, per, group string, better record.Better, help string, from func(*Outcome) (record.Value, string)) row {
	return row{record.Metric{Name: name, Unit: unit, Per: per, Better: better, Kind: record.Sampled, Purpose: record.Timing, Group: group, Help: help}, from, nil, false}
}

func sent(name, unit, per, help string, of func(g *record.Generator) record.Value) row {
	r := timed(name, unit, per, "load", "", help, nil)
	r.sent = of
	return r
}

func counted(name, unit, per, group, help string, from func(*Outcome) (record.Value, string)) row {
	return row{record.Metric{Name: name, Unit: unit, Per: per, Better: lower, Kind: record.Exact, Purpose: record.Counting, Group: group, Help: help}, from, nil, false}
}

func latencyRow(name string, band int, p float64, of string) row {
	r := timed(name, record.UnitSeconds, "", "latency", lower,
		fmt.Sprintf("intended send time to last byte in the application's hands, %g percentile of %s; the median over trials is shown", p*100, of), latency(band, p))
	r.Kind = record.Histogram
	return r
}

// loaded is a memory figure of the verify trial, which runs under the scenario's
// own load and is not timed.
func loaded(name, unit, help string, of func(m *memoryLevels) levels, pick func(l levels) (int64, int64, string)) row {
	r := varying(counted(name, unit, "", "memory", help, level(func(m *memoryLevels) (int64, int64, string) { return pick(of(m)) })))
	r.Purpose = record.Verify
	return r
}

// ofRegion is a figure of the pages of the regions of one name.
func ofRegion(name string, pick func(l levels) (int64, int64, string)) func(*Outcome) (record.Value, string) {
	return level(func(m *memoryLevels) (int64, int64, string) { return pick(m.region(name)) })
}

// ofReplies is a figure of the memory in which replies are composed.
func ofReplies(pick func(l levels) (int64, int64, string)) func(*Outcome) (record.Value, string) {
	of := ofRegion(sendRegion, pick)
	return func(o *Outcome) (record.Value, string) {
		if o.Memory != nil && o.Memory.inHeap && o.Trial.Workload.ReplyBytes > 0 {
			return record.Value{}, "replies are composed in the Go heap, among everything else: see buffer_pages"
		}
		return of(o)
	}
}

// reclaimTime scales the calls that were timed up to all.
func reclaimTime(o *Outcome) (record.Value, string) {
	c := o.Count
	switch {
	case c.Reclaims == 0:
		return record.Level(0), ""
	case c.ReclaimsTimed == 0:
		return record.Value{}, "none of the reclaim calls was timed"
	}
	each := float64(c.ReclaimTicks) / float64(c.ReclaimsTimed) / o.TicksHz
	return record.Level(each * float64(c.Reclaims) / float64(o.Messages)), ""
}

func last(l levels) (int64, int64, string) { return l.last, 1, l.reason }
func mean(l levels) (int64, int64, string) { return l.sum, l.n, l.reason }
func peak(l levels) (int64, int64, string) { return l.max, 1, l.reason }

// varying marks a figure that no two trials need agree on.
func varying(r row) row {
	r.Kind = record.Sampled
	return r
}

// hardware counters scale and interrupts count, so they never repeat exactly.
func hardware(name, help string) row {
	return varying(counted(name, record.UnitOne, record.PerMessage, "perf", help, perf(name)))
}

// Metrics of adapters that receive, from the counting shim.
const (
	heapAllocs     = "heap_allocs"
	heapAllocBytes = "heap_alloc_bytes"
)

var table = append(receiveTable, postTable...)

var receiveTable = []row{
	latencyRow("latency_p50", -1, .5, "all messages"),
	latencyRow("latency_p90", -1, .9, "all messages"),
	latencyRow("latency_p99", -1, .99, "all messages"),
	latencyRow("latency_p999", -1, .999, "all messages"),
	timed("latency_max", record.UnitSeconds, "", "latency", "", "the longest latency of a window: shown, never tested", latencyMax),
	latencyRow("latency_small_p50", 0, .5, "the smallest third of messages"),
	latencyRow("latency_small_p99", 0, .99, "the smallest third of messages"),
	latencyRow("latency_medium_p50", 1, .5, "messages between the smallest third and the largest tenth"),
	latencyRow("latency_medium_p99", 1, .99, "messages between the smallest third and the largest tenth"),
	latencyRow("latency_large_p50", 2, .5, "the largest tenth of messages"),
	latencyRow("latency_large_p99", 2, .99, "the largest tenth of messages"),
	clientRow("quiet_latency_p50", quietOnes, .5, "quiet"),
	clientRow("quiet_latency_p99", quietOnes, .99, "quiet"),
	clientRow("busy_latency_p50", busyOnes, .5, "busy"),
	clientRow("busy_latency_p99", busyOnes, .99, "busy"),
	timed("client_latency_spread", record.UnitOne, "", "fairness", lower,
		"how unlike the clients are served: the 95th percentile of their median latencies over the median of these; 1: all alike", clientSpread),
	timed("messages_per_s", record.UnitOne, record.PerSecond, "rate", higher, "messages consumed in the window, over its length",
		perSecond(func(o *Outcome) int64 { return o.Messages })),
	timed("bytes_per_s", record.UnitBytes, record.PerSecond, "rate", higher, "bytes consumed in the window, over its length",
		perSecond(func(o *Outcome) int64 { return o.Bytes })),
	timed("cpu_per_msg", record.UnitSeconds, record.PerMessage, "cpu", lower, "CPU time of the receiving process, user and system, over messages",
		func(o *Outcome) (record.Value, string) {
			return record.Level(float64(o.CPUNS) / 1e9 / float64(o.Messages)), ""
		}),
	timed("reclaim_time", record.UnitSeconds, record.PerMessage, "cpu", lower,
		"time in calls that give pages back or clear them, over messages: one call in several is timed, less the cost of the clock; faults on memory used again are not in it", reclaimTime),
	sent("generator_cpu_per_msg", record.UnitSeconds, record.PerMessage, "CPU time of the load generator's thread, spinning included, over messages",
		func(g *record.Generator) record.Value {
			return record.Level(float64(g.CPUNS) / 1e9 / float64(g.Messages))
		}),
	sent("send_late_p99", record.UnitSeconds, "", "how late the generator itself was with a message, 99 percentile: part of every latency",
		func(g *record.Generator) record.Value { return record.Level(float64(g.LateP99NS) / 1e9) }),
	sent("blocked_sends", record.UnitOne, record.PerMessage, "messages that met a full socket, over messages; over udp such a message is lost, and its trial has failed",
		func(g *record.Generator) record.Value {
			return record.Level(float64(g.BlockedSends) / float64(g.Messages))
		}),
	counted("syscalls", record.UnitOne, record.PerMessage, "calls", "system calls of the receive path", perMsg(func(o *Outcome) uint64 { return o.Count.Syscalls })),
	counted("enters", record.UnitOne, record.PerMessage, "calls", "io_uring_enter calls", perMsg(func(o *Outcome) uint64 { return o.Count.Enters })),
	counted("sqes", record.UnitOne, record.PerMessage, "calls", "requests submitted", perMsg(func(o *Outcome) uint64 { return o.Count.SQEs })),
	counted("cqes", record.UnitOne, record.PerMessage, "calls", "completions reaped", perMsg(func(o *Outcome) uint64 { return o.Count.CQEs })),
	counted("receives", record.UnitOne, record.PerMessage, "calls", "receives that brought bytes", perMsg(func(o *Outcome) uint64 { return o.Count.Receives })),
	counted("enobufs", record.UnitOne, record.PerMessage, "calls", "receives refused for want of a provided buffer", perMsg(func(o *Outcome) uint64 { return o.Count.NoBufs })),
	starved("starved_receives", "receives refused for want of a buffer under the scenario's own load, of all clients, over messages; from the verify trial", allStarved),
	starved("quiet_starved_receives", "those of quiet clients, over the messages these were sent", quietStarved),
	counted("reprovides", record.UnitOne, record.PerMessage, "calls", "buffers handed back to the kernel", perMsg(func(o *Outcome) uint64 { return o.Count.Reprovides })),
	counted("reclaims", record.UnitOne, record.PerMessage, "calls", "times pages were cleared or given back", perMsg(func(o *Outcome) uint64 { return o.Count.Reclaims })),
	counted("forced_releases", record.UnitOne, record.PerMessage, "calls", "held messages let go early for want of memory", perMsg(func(o *Outcome) uint64 { return uint64(o.Forced) })),
	counted("go_allocs", record.UnitOne, record.PerMessage, "allocations", "Go heap objects allocated", perMsg(func(o *Outcome) uint64 { return uint64(o.Allocs) })),
	counted("go_alloc_bytes", record.UnitBytes, record.PerMessage, "allocations", "Go heap bytes allocated", perMsg(func(o *Outcome) uint64 { return uint64(o.AllocB) })),
	counted(heapAllocs, record.UnitOne, record.PerMessage, "allocations", "allocations and reallocations by the C allocator; of adapters only", nil),
	counted(heapAllocBytes, record.UnitBytes, record.PerMessage, "allocations", "bytes asked of the C allocator; of adapters only", nil),
	counted("copied_bytes", record.UnitBytes, record.PerMessage, "copies", "bytes the application copied to make messages contiguous",
		perMsg(func(o *Outcome) uint64 { return uint64(o.Copied) + o.Count.Copied })),
	counted("wasted_bytes", record.UnitBytes, record.PerMessage, "copies", "bytes of used-up buffers that never held a message: chunk tails, retired tails",
		perMsg(func(o *Outcome) uint64 { return o.Count.Wasted })),
	counted("minor_faults", record.UnitOne, record.PerMessage, "memory", "minor page faults of the measured thread", perMsg(func(o *Outcome) uint64 { return uint64(o.Faults) })),
	counted("buffer_pages_mean", record.UnitPages, "", "memory", "resident pages of buffers and assembly memory of all clients, mean of the samples in the window",
		level(func(m *memoryLevels) (int64, int64, string) { return mean(m.pages) })),
	counted("buffer_pages_peak", record.UnitPages, "", "memory", "the largest such sample",
		level(func(m *memoryLevels) (int64, int64, string) { return peak(m.pages) })),
	counted("buffer_pages_end", record.UnitPages, "", "memory", "such pages at the end of the window",
		level(func(m *memoryLevels) (int64, int64, string) { return m.pages.last, 1, m.pages.reason })),
	counted("assembly_pages_peak", record.UnitPages, "", "memory", "the part of buffer_pages_peak in which messages are made contiguous, at its own peak", ofRegion(assemblyRegion, peak)),
	counted("send_pages_mean", record.UnitPages, "", "memory", "the part of buffer_pages_mean in which replies are composed", ofReplies(mean)),
	counted("send_pages_peak", record.UnitPages, "", "memory", "the largest sample of it", ofReplies(peak)),
	counted("send_pages_end", record.UnitPages, "", "memory", "such pages at the end of the window", ofReplies(last)),
	counted("kept_bytes_mean", record.UnitBytes, "", "memory", "bytes of buffers that messages held or not yet complete keep from new data, mean of the samples in the window",
		level(func(m *memoryLevels) (int64, int64, string) { return mean(m.kept) })),
	counted("stranded_bytes_mean", record.UnitBytes, "", "memory", "the part of kept_bytes_mean that is not such messages' own: fragmentation",
		level(func(m *memoryLevels) (int64, int64, string) { return mean(m.stranded) })),
	counted("huge_pages_end", record.UnitPages, "", "memory", "resident pages, in base pages, that lie in huge pages, at the end",
		level(func(m *memoryLevels) (int64, int64, string) { return m.huge, 1, m.noHuge })),
	counted("lazyfree_bytes", record.UnitBytes, "", "memory", "bytes of buffers marked by MADV_FREE and still resident, at the end",
		level(func(m *memoryLevels) (int64, int64, string) { return m.lazyFree, 1, m.noLazy })),
	varying(counted("page_table_bytes", record.UnitBytes, "", "memory", "page tables of the process (VmPTE), at the end; depends on where its mappings happen to lie",
		level(func(m *memoryLevels) (int64, int64, string) { return m.end.PTE, 1, m.noStatus }))),
	counted("ring_bytes", record.UnitBytes, "", "memory", "rings shared with the kernel, whole pages", level(func(m *memoryLevels) (int64, int64, string) { return m.ring, 1, "" })),
	loaded("loaded_pages_mean", record.UnitPages, "buffer_pages_mean under the scenario's own load, from the verify trial", func(m *memoryLevels) levels { return m.pages }, mean),
	loaded("loaded_pages_peak", record.UnitPages, "the largest such sample", func(m *memoryLevels) levels { return m.pages }, peak),
	loaded("socket_bytes_mean", record.UnitBytes, "kernel memory of received data waiting in the sockets under the scenario's own load, mean of the verify trial's samples",
		func(m *memoryLevels) levels { return m.sockets }, mean),
	loaded("cgroup_socket_bytes", record.UnitBytes, "memory charged for sockets to the control group (v2) of the process, all processes in it together, mean of the verify trial's samples",
		func(m *memoryLevels) levels { return m.cgroup }, mean),
	loaded("socket_bytes_peak", record.UnitBytes, "the largest such sample", func(m *memoryLevels) levels { return m.sockets }, peak),
	varying(counted("kernel_bytes_per_client", record.UnitBytes, "", "memory",
		"kernel objects kept for each client, whole ones, at the end: sockets and files of both ends, epoll entries, requests; by the growth of /proc/slabinfo (root) since before they connected; pages, such as those of rings, are not objects", kernelPerClient)),
	varying(counted("rss_peak_bytes", record.UnitBytes, "", "memory", "peak resident memory of the whole process in the window, the harness included",
		level(func(m *memoryLevels) (int64, int64, string) { return m.end.HWM, 1, m.noStatus }))),
	counted("pinned_bytes", record.UnitBytes, "", "memory", "memory the kernel pins for rings and registered buffers",
		level(func(m *memoryLevels) (int64, int64, string) { return m.pinned, 1, "" })),
	varying(counted("vmpin_bytes", record.UnitBytes, "", "memory", "memory of the process that the kernel counts as pinned (VmPin) at the end: registered buffers; rings are not in it",
		level(func(m *memoryLevels) (int64, int64, string) { return m.end.Pinned, 1, m.noStatus }))),
	varying(counted("sampling_time", record.UnitSeconds, "", "memory", "mean CPU time of one look at the residency of all buffers: at one look a second, the share of a core that it costs",
		func(o *Outcome) (record.Value, string) {
			if o.Memory == nil {
				return record.Value{}, "memory was not sampled"
			}
			return record.Level(float64(o.Memory.sampleNS) / 1e9), ""
		})),
	hardware("instructions", "instructions retired on the measured thread"),
	hardware("cycles", "CPU cycles of the measured thread"),
	hardware("cache_misses", "last-level cache misses of the measured thread"),
	hardware("dtlb_misses", "data TLB load misses of the measured thread"),
}
