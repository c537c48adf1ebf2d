package harness

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/zcbench/zcbench/harness/clock"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// samplesPerWindow is how many memory samples fall into a counting window.
const samplesPerWindow = 64

// RunTrial runs one trial in this process and returns its record, whatever
// happened. It locks its thread and does not give it back.
func RunTrial(t record.Trial, reg Registry, prog *load.Progress) record.Record {
	return RunTampered(t, reg, prog, nil)
}

// Tamper changes what a strategy delivers: the client and the bytes.
type Tamper func(client int, p []byte) (int, []byte)

// RunTampered is RunTrial with every piece passed through tamper first. It is
// for tests that plant a fault: the trial must then fail.
func RunTampered(t record.Trial, reg Registry, prog *load.Progress, tamper Tamper) record.Record {
	rec := record.Record{Schema: record.Schema, Trial: t.ID, Status: record.OK}
	if err := runTrial(t, reg, prog, &rec, tamper); err != nil {
		rec.Status, rec.Error = record.Failed, err.Error()
	}
	return rec
}

func runTrial(t record.Trial, reg Registry, prog *load.Progress, rec *record.Record, sabotage Tamper) (err error) {
	s, ok := reg.Find(t.Strategy)
	if !ok {
		return fmt.Errorf("strategy %q is not in this build", t.Strategy)
	}
	params, err := s.Complete(t.Params)
	if err != nil {
		return err
	}
	if t, err = answering(s, t); err != nil {
		return err
	}
	clk, err := clock.New(t.Clock.Source, t.Clock.TicksHz)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	if t.CPU >= 0 {
		if err := load.Pin(t.CPU); err != nil {
			return err
		}
	}
	rec.Placement = placement(t)
	if !s.Allocates {
		defer debug.SetGCPercent(debug.SetGCPercent(-1))
	}
	if s.Run != nil {
		return runPosts(s, t, params, rec)
	}
	b := &Bench{Trial: t}
	var conns *connections
	kernel := watchKernel(t, s.Family != Null.Family)
	if s.Family != Null.Family {
		if conns, err = connect(t); err != nil {
			return err
		}
		defer conns.close()
		b.FDs = conns.fds
	}
	if b.Sink, err = NewSink(t, clk, prog); err != nil {
		return err
	}
	b.Sink.datagrams.watch(conns)
	defer b.Sink.close()
	b.Sink.tamper = sabotage
	m := measurement{bench: b, clk: clk, prog: prog, rec: rec, kernel: kernel}
	if samplesMemory(t.Purpose) && s.Allocates {
		debug.FreeOSMemory()
		if m.heapPages, err = goHeapPages(); err != nil {
			return fmt.Errorf("count the Go heap's pages: %w", err)
		}
	}
	r, err := s.Open(b, params)
	if skip := new(Skip); errors.As(err, &skip) {
		rec.Status, rec.Error, rec.Remedy = record.Skipped, skip.Reason, skip.Remedy
		return nil
	}
	if err != nil {
		return fmt.Errorf("open %s: %w", s.Name, err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if n, ok := r.(interface{ Notes() []string }); ok {
		rec.Notes = append(rec.Notes, n.Notes()...)
	}
	return m.run(r)
}

func placement(t record.Trial) string {
	if t.CPU < 0 {
		return "not pinned"
	}
	if t.CPU == t.OtherCPU {
		return fmt.Sprintf("receiver and generator on CPU %d", t.CPU)
	}
	return fmt.Sprintf("receiver on CPU %d, generator on CPU %d", t.CPU, t.OtherCPU)
}

// measurement is one window in the making.
type measurement struct {
	bench     *Bench
	clk       clock.Clock
	prog      *load.Progress
	rec       *record.Record
	heapPages int64
	sampler   *sampler
	perf      *perfCounters
	stats     runtime.MemStats
	kernel    *kernelObjects
}

func (m *measurement) run(r Receiver) error {
	t, sink := m.bench.Trial, m.bench.Sink
	total := uint64(t.Warmup + t.Messages)
	if samplesMemory(t.Purpose) {
		if err := m.prepareSampling(r, int(total)); err != nil {
			return err
		}
		defer m.sampler.Close()
		defer m.perf.close()
	}
	sink.plant(t.PlantNS)
	if err := r.Receive(1); err != nil {
		return err
	}
	if t.SpawnedNS > 0 {
		m.rec.SetupNS = monotonicNS() - t.SpawnedNS
	}
	if err := r.Receive(uint64(t.Warmup)); err != nil {
		return fmt.Errorf("warm-up: %w", err)
	}
	m.rec.WarmupEnd = int64(sink.Got())
	before := m.opening(r)
	if m.prog != nil {
		m.prog.Phase().Store(1)
	}
	if err := r.Receive(total); err != nil {
		return err
	}
	after := m.closing(r)
	m.kernel.end()
	m.rec.Notes = append(m.rec.Notes, m.kernel.note()...)
	m.rec.Fingerprint = sink.Fingerprint()
	m.conclude(r, before, after)
	return nil
}

// samplesMemory reports whether trials of a purpose sample memory: those that
// are not timed.
func samplesMemory(p record.Purpose) bool { return p == record.Counting || p == record.Verify }

func (m *measurement) prepareSampling(r Receiver, total int) error {
	t, sink := m.bench.Trial, m.bench.Sink
	every := max(1, t.Messages/samplesPerWindow)
	var err error
	m.sampler, err = newSampler(r.Memory(), sink.assembly.region(), m.bench.speaking(), m.heapPages, every, total)
	if err != nil {
		return err
	}
	m.sampler.sink, m.sampler.holds = sink, newStranded(r, len(sink.refs))
	if t.Purpose == record.Counting {
		m.perf = openPerf()
	}
	m.sampler.warmup, m.sampler.early = uint64(t.Warmup), uint64(max(every, t.Warmup/samplesPerWindow))
	sink.sampled = m.sampler.next(0)
	sink.sample = func(messages uint64) uint64 {
		m.perf.pause()
		next := m.sampler.take(messages)
		m.perf.resume()
		return next
	}
	return nil
}

// conclude turns the two ends of a window into the record's figures.
func (m *measurement) conclude(r Receiver, before, after snapshot) {
	t, sink, rec := m.bench.Trial, m.bench.Sink, m.rec
	o := &Outcome{
		Trial: t, Messages: after.messages - before.messages, Bytes: after.bytes - before.bytes,
		WallNS: m.clk.NS(after.tick - before.tick), CPUNS: after.cpu - before.cpu,
		Faults: after.usage.Minflt - before.usage.Minflt,
		Count:  after.count.minus(before.count),
		Copied: after.copied - before.copied, Forced: after.forced - before.forced,
		Refused: after.refused.minus(before.refused), Kernel: m.kernel,
		Allocs: after.allocs - before.allocs, AllocB: after.allocBytes - before.allocBytes,
		TicksHz: m.clk.TicksHz,
	}
	rec.Window = record.Window{
		NS: o.WallNS, MinorFaults: o.Faults, MajorFaults: after.usage.Majflt - before.usage.Majflt,
		Syscalls:  int64(o.Count.Syscalls),
		Voluntary: after.usage.Nvcsw - before.usage.Nvcsw, Involuntary: after.usage.Nivcsw - before.usage.Nivcsw,
		StealNS: after.steal - before.steal,
	}
	if sink.timed {
		o.Latency = newLatencies(sink, t.Workload.Sizes, m.clk)
		o.Fair = newFairness(t.Workload, sink.clients, nanoseconds(sink.ticks, m.clk))
		histograms(rec, o.Latency)
	}
	if m.sampler != nil {
		o.Memory = m.sampler.summary(r.Memory(), rec.WarmupEnd)
		if m.perf != nil {
			o.Perf, o.NoPerf = m.perf.read()
			rec.Notes = append(rec.Notes, m.perf.notes()...)
		}
		rec.Series = append(rec.Series, m.sampler.series()...)
		rec.Notes = append(rec.Notes, fmt.Sprintf("residency by %s, %.1f us a sample", m.sampler.pages.Source(), float64(m.sampler.pages.CostNS())/1e3))
		rec.Notes = append(rec.Notes, m.sampler.pages.Notes()...)
	}
	fill(rec, o)
	withhold(rec, r)
}

func monotonicNS() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}
