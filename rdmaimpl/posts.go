package rdmaimpl

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// lanes are what a strategy does, by kind of workload.
type lanes map[string]verbs.Lane

// byKind measures the lane of a trial's kind.
func byKind(l lanes) func(record.Trial, harness.Values, *harness.Outcome) error {
	return func(t record.Trial, p harness.Values, o *harness.Outcome) error {
		lane, ok := l[t.Workload.Kind]
		if !ok {
			return fmt.Errorf("no lane for kind %s", t.Workload.Kind)
		}
		if t.Workload.Kind == harness.KindAging {
			return age(t, p, o, lane, false)
		}
		return skippable(o, post(t, o, lane))
	}
}

// skippable turns what this device or machine does not do into a skip.
func skippable(o *harness.Outcome, err error) error {
	var no *verbs.Unsupported
	var none *verbs.Unavailable
	switch {
	case errors.As(err, &no):
		o.Skip = &harness.Skip{Reason: no.Error(), Remedy: "none on this device"}
	case errors.As(err, &none):
		o.Skip = &harness.Skip{Reason: none.Reason, Remedy: none.Remedy}
	default:
		return err
	}
	return nil
}

// open opens the device of a trial; models need none.
func open(t record.Trial, lane verbs.Lane) (*verbs.Context, error) {
	if lane.Info().Model {
		return verbs.OpenNull()
	}
	return verbs.Open(t.Device)
}

func config(t record.Trial, lane verbs.Lane) verbs.Config {
	w := t.Workload
	return verbs.Config{
		Lane: lane, Batch: max(w.Batch, 1), SGEs: max(w.SGEs, 1), Bytes: int(w.Bytes), Cold: w.Buffers == "cold",
		Monotonic: t.Clock.Source != "tsc", CountGo: t.Purpose == record.Counting,
		// Half of the posts are timed in parts, half as a whole.
		Batches: (t.Messages + 1) / 2, Totals: t.Messages / 2,
	}
}

func post(t record.Trial, o *harness.Outcome, lane verbs.Lane) (err error) {
	ctx, err := open(t, lane)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ctx.Close()) }()
	describe(o, ctx)
	cfg := config(t, lane)
	if t.Purpose == record.Verify {
		return verify(t, o, ctx, cfg)
	}
	w, err := ctx.OpenWindow(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	first, err := w.First()
	if err != nil {
		return err
	}
	if err := w.Warm(); err != nil {
		return err
	}
	r, err := w.Run()
	if err != nil {
		return err
	}
	o.Posts = figures(t, cfg, first, r)
	o.Work = record.Fingerprint{Ops: int64(r.WRs), Bytes: int64(r.WRs) * t.Workload.Bytes}
	if r.Suppressed {
		o.Notes = append(o.Notes, "doorbell suppressed: the post is timed without the system call that starts the transfer")
	}
	if t.Purpose == record.Timing && !lane.Info().Recv && !lane.Info().Model {
		return complete(t, o, ctx, cfg)
	}
	return nil
}

// describe notes which device and library answered.
func describe(o *harness.Outcome, ctx *verbs.Context) {
	d := ctx.Device
	if d.Name == "" {
		return
	}
	o.Notes = append(o.Notes, fmt.Sprintf("device %s, provider %s, rdma-core %s, GID %d %s", d.Name, d.Provider, d.RDMACore(), d.GIDIndex, d.GID))
}

// verify sends a trial's messages through and checks every byte.
func verify(t record.Trial, o *harness.Outcome, ctx *verbs.Context, cfg verbs.Config) error {
	o.Posts = &harness.Posts{}
	lane := cfg.Lane.Info()
	switch {
	case lane.Model:
		o.Notes = append(o.Notes, "a model: nothing is sent, so nothing is verified")
		return nil
	case lane.Recv:
		return verifyGiven(t, o, cfg)
	}
	cfg.Batches, cfg.Totals = max(1, t.Messages/cfg.Batch), 0
	n, err := ctx.Verify(cfg, t.Seed)
	o.Posts.WRs = int64(n)
	return err
}

// verifyGiven checks what a receive lane gives the queue: on the null device,
// which reads every request as a provider must.
func verifyGiven(t record.Trial, o *harness.Outcome, cfg verbs.Config) (err error) {
	ctx, err := verbs.OpenNull()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ctx.Close()) }()
	w, err := ctx.OpenWindow(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r, err := w.Run()
	if err != nil {
		return err
	}
	got := w.Seen()
	wrs := uint64(r.Batches) * uint64(cfg.Batch)
	want := verbs.Seen{Posts: uint64(r.Batches), WRs: wrs, SGEs: wrs * uint64(cfg.SGEs), Bytes: wrs * uint64(cfg.Bytes), IDs: got.IDs, Payload: got.Payload}
	if got != want {
		return fmt.Errorf("the queue was given %+v, want %+v", got, want)
	}
	o.Posts.WRs = int64(wrs)
	o.Notes = append(o.Notes, "verified on the null device: posts, requests, SGEs and bytes given to the queue")
	return nil
}

// mostCompletions bounds the posts whose completion is waited for in a timing
// trial: each costs a wake-up, which in a guest takes hundreds of microseconds.
const mostCompletions = 200

// complete measures completion latency over full sends.
func complete(t record.Trial, o *harness.Outcome, ctx *verbs.Context, cfg verbs.Config) (err error) {
	cfg.Batches, cfg.Totals = min(t.Messages, mostCompletions), 0
	w, err := ctx.OpenComplete(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Warm(); err != nil {
		return err
	}
	r, err := w.Run()
	if err != nil {
		return err
	}
	for _, d := range r.Latency {
		o.Posts.CompletionNS = append(o.Posts.CompletionNS, int64(ns(t, d)))
	}
	slices.Sort(o.Posts.CompletionNS)
	o.Posts.Sent, o.Posts.SentNS = int64(r.WRs), ns(t, r.Elapsed)
	if cfg.Lane.Info().Blocked == verbs.UntilCompleted && len(r.Latency) > 0 {
		o.Posts.BlockedNS = float64(o.Posts.CompletionNS[len(o.Posts.CompletionNS)/2])
	}
	return nil
}

// ns turns ticks into nanoseconds.
func ns(t record.Trial, ticks uint64) float64 {
	if t.Clock.TicksHz <= 0 {
		return float64(ticks)
	}
	return float64(ticks) / t.Clock.TicksHz * 1e9
}

// figures turns a window's ticks and counts into what the metrics are made of.
// Times are the median over the posts of a window: the hypervisor taking the CPU
// away once costs more than all of them. The cost of reading the clock, which is
// part of each span, is taken off.
func figures(t record.Trial, cfg verbs.Config, first verbs.First, r verbs.Result) *harness.Posts {
	p := &harness.Posts{
		Calls: int64(r.Batches), WRs: int64(r.WRs), Parts: int64(len(r.Laps)), BlockedNS: -1, ElapsedNS: ns(t, r.Elapsed),
		FirstNS:  ns(t, first.Lap.Build+first.Lap.Post+first.Lap.Drop),
		GoAllocs: int64(r.GoAllocs), GoAllocBytes: int64(r.GoAllocBytes), MinorFaults: r.MinorFaults, Pinned: int64(r.PinnedBytes),
	}
	clock := ns(t, r.ClockTicks)
	part := func(of func(verbs.Lap) uint64) float64 {
		return max(0, median(r.Laps, func(l verbs.Lap) float64 { return ns(t, of(l)) })-clock) * float64(len(r.Laps))
	}
	p.BuildNS = part(func(l verbs.Lap) uint64 { return l.Build })
	p.PostNS = part(func(l verbs.Lap) uint64 { return l.Post })
	p.DropNS = part(func(l verbs.Lap) uint64 { return l.Drop })
	for _, total := range r.Totals {
		p.Whole += int64(total.Batches)
	}
	p.TotalNS = float64(p.Whole) * median(r.Totals, func(v verbs.Total) float64 { return ns(t, v.Ticks) / float64(max(v.Batches, 1)) })
	if r.Counts != nil {
		count(p, *r.Counts)
	} else if !r.Suppressed && !cfg.Lane.Info().Recv && !cfg.Lane.Info().Model {
		p.Syscalls = p.Calls // each post rings the doorbell
	}
	p.BlockedNS = blocked(cfg.Lane.Info().Blocked, p)
	return p
}

// median is the middle value of a list; 0 of none.
func median[T any](list []T, value func(T) float64) float64 {
	if len(list) == 0 {
		return 0
	}
	v := make([]float64, len(list))
	for i, x := range list {
		v[i] = value(x)
	}
	slices.Sort(v)
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// blocked is how long a payload's buffer is lent, as far as the post tells.
func blocked(until verbs.Until, p *harness.Posts) float64 {
	switch {
	case p.Parts == 0 || p.WRs == 0:
		return -1
	case until == verbs.UntilBuilt:
		return p.BuildNS / float64(p.Parts) / (float64(p.WRs) / float64(p.Calls))
	case until == verbs.UntilPosted:
		// From the start of the batch's build to the end of its post.
		return (p.BuildNS + p.PostNS) / float64(p.Parts)
	}
	return -1
}

func count(p *harness.Posts, c shim.Counts) {
	p.Counted = true
	p.Lane, p.Provider = side(c.Lane), side(c.Library)
	p.LaneCopied, p.ProviderCopied = int64(c.Lane.CopiedBytes), int64(c.Library.CopiedBytes)
	p.Syscalls = int64(c.Lane.Syscalls + c.Library.Syscalls)
	if s, err := shim.Attach(); err == nil {
		if h, err := s.Heap(); err == nil {
			p.HeapHeld, p.HeapUsed = int64(h.HeldBytes), int64(h.UsedBytes)
		}
	}
}

func side(s shim.Side) harness.AllocCounts {
	return harness.AllocCounts{Allocs: int64(s.Allocs), Reallocs: int64(s.Reallocs), Frees: int64(s.Frees), Bytes: int64(s.RequestedBytes)}
}
