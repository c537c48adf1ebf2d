package rdmaimpl

import (
	"errors"
	"fmt"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/shim"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// paramAllocator names the allocator behind malloc.
var paramAllocator = harness.Param{
	Name: "allocator", Kind: harness.ParamText, Default: "glibc", Values: []string{"glibc", "jemalloc", "mimalloc"},
	Help: "the allocator behind malloc in kind alloc-aging, preloaded if it is not glibc's",
}

// ages is the control of an aging heap: everything but the posts.
func ages(t record.Trial, p harness.Values, o *harness.Outcome) error {
	return age(t, p, o, verbs.RecvGuard, true)
}

// age makes posts among long-lived allocations and samples what the allocator
// holds against what is in use.
func age(t record.Trial, p harness.Values, o *harness.Outcome, lane verbs.Lane, control bool) error {
	if name := p.Text("allocator"); name != "glibc" {
		if _, err := shim.FindAllocator(name); err != nil {
			o.Skip = &harness.Skip{Reason: err.Error(), Remedy: "install the package it names"}
			return nil
		}
	}
	return skippable(o, ageHeap(t, p, o, lane, control))
}

func ageHeap(t record.Trial, p harness.Values, o *harness.Outcome, lane verbs.Lane, control bool) (err error) {
	path := shim.AllocatorPath()
	if t.Purpose == record.Counting && !shim.Answers(p.Text("allocator"), path) {
		return fmt.Errorf("allocator %s was asked for, but %s answers malloc", p.Text("allocator"), path)
	}
	o.Notes = append(o.Notes, "malloc is answered by "+path)
	ctx, err := verbs.Open(t.Device)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ctx.Close()) }()
	describe(o, ctx)
	w := t.Workload
	cfg := verbs.AgingConfig{
		Lane: lane, Control: control, Seed: t.Seed, MaxBatch: w.Batch, Bytes: 64, Slots: w.Live, Replace: 1, MinBytes: load.HeaderBytes, MaxBytes: 4096,
	}
	if w.LiveBytes != nil {
		cfg.MinBytes, cfg.MaxBytes = int(load.Quantile(*w.LiveBytes, .001)), int(load.Largest(*w.LiveBytes))
	}
	g, err := ctx.OpenAging(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	return grow(t, o, g)
}

// grow steps the heap through the trial's requests and samples it on the way.
func grow(t record.Trial, o *harness.Outcome, g *verbs.Aging) error {
	target := uint64(t.Messages) * uint64(max(t.Workload.Batch, 1)) / 2
	s, attached := shim.Attach()
	held := record.Series{Name: "heap_held_bytes", Unit: record.UnitBytes}
	used := record.Series{Name: "heap_used_bytes", Unit: record.UnitBytes}
	p := &harness.Posts{BlockedNS: -1}
	every := max(1, target/64)
	for next := uint64(0); g.Requests() < target; {
		if err := g.Step(); err != nil {
			return err
		}
		if attached != nil || g.Requests() < next {
			continue
		}
		next = g.Requests() + every
		h, err := s.Heap()
		if err != nil {
			return err
		}
		held.X, held.Y = append(held.X, int64(g.Requests())), append(held.Y, int64(h.HeldBytes))
		used.X, used.Y = append(used.X, int64(g.Requests())), append(used.Y, int64(h.UsedBytes))
		p.HeapHeld, p.HeapUsed = int64(h.HeldBytes), int64(h.UsedBytes)
	}
	p.WRs = int64(g.Requests())
	p.Calls = p.WRs
	o.Posts = p
	o.Series = append(o.Series, held, used)
	o.Work = record.Fingerprint{Ops: int64(g.Requests()), Bytes: int64(g.LiveBytes())}
	return nil
}
