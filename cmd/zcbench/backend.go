package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/sysinfo"
	"github.com/zcbench/zcbench/rdmaimpl"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
)

// backend is where trials run: receives on this machine, posts on its RDMA
// device or, without one, in a guest.
type backend struct {
	local  harness.Executor
	posts  harness.Executor
	class  string // of posts
	device string // asked for by name
	// reason says why posts cannot run at all, remedy what to do about it.
	reason, remedy string
	probes         probe.Place // of posts; nil: here
	// What was found out about where receives and where posts run; nil: nothing.
	found, foundPosts *record.Probe
	close             func() error
}

// Run sends a trial to where it belongs.
func (b *backend) Run(ctx context.Context, t record.Trial) harness.Execution {
	if t.Workload.Kind == harness.KindReceive {
		return b.local.Run(ctx, t)
	}
	t.Device = b.device
	return b.posts.Run(ctx, t)
}

// newBackend finds out where posts can run, if any job has some.
func newBackend(jobs []job, local *harness.Processes, f runFlags) (*backend, error) {
	b := &backend{local: local, posts: local, device: f.device, close: func() error { return nil }}
	if f.softRoCE != "" {
		name, remove, err := rdmaimpl.AddSoftRoCE(f.softRoCE)
		if err != nil {
			return nil, fail(exitFailed, "%w", err)
		}
		b.device, b.close = name, remove
	}
	local.Counts = rdmaimpl.ReadCounts
	local.Extra = func(ctx context.Context, t record.Trial, report string) ([]string, error) {
		p, err := rdmaimpl.PreloadOf(ctx, t)
		p.Report = report
		return p.Env(), err
	}
	if !anyPosts(jobs) {
		b.reason, b.remedy = "no scenario of this run needs it", ""
		return b, nil
	}
	if b.reason, b.remedy = rdmaimpl.Libraries(); b.reason != "" {
		return b, nil
	}
	class, _, reason, remedy := rdmaimpl.Local(b.device)
	switch {
	case reason == "":
		b.class = class
		return b, nil
	case b.device != "":
		return nil, firstOf(fail(exitFailed, "RDMA device %s: %s\n  %s", b.device, reason, remedy), b.close())
	}
	st, err := guest.CheckStatus("")
	if err != nil || st.Image == nil {
		b.reason, b.remedy = reason+"; and no guest has been built", "build the guest once: zcbench guest build; or "+remedy
		return b, nil
	}
	e := &guest.Executor{Clock: local.Clock, Builds: local.Builds, Program: guestProgram, Counts: rdmaimpl.ReadCounts}
	b.posts, b.class, b.probes, b.close = e, rdmaimpl.ClassGuest, e.Probes(), e.Close
	return b, nil
}

func anyPosts(jobs []job) bool {
	for _, j := range jobs {
		if j.plan.Scenario.Kind != harness.KindReceive {
			return true
		}
	}
	return false
}

// guestProgram is a trial's process in the guest, with what it needs preloaded.
func guestProgram(g *guest.Guest, t record.Trial) (guest.Program, error) {
	prog, err := guest.TrialProgram(g, t)
	if err != nil {
		return prog, err
	}
	p, err := rdmaimpl.PreloadOf(context.Background(), t)
	if err != nil {
		return prog, err
	}
	for _, file := range []*string{&p.Shim, &p.Allocator} {
		if *file == "" {
			continue
		}
		if *file, err = g.Import(*file); err != nil {
			return prog, fmt.Errorf("bring %s into the guest: %w", *file, err)
		}
	}
	if len(t.Command) > 0 {
		p.Report = g.Report()
	}
	prog.Env = g.Env(p.Env()...)
	return prog, nil
}

// capability says whether the machine has what strategies need.
func (b *backend) capability(name string) (reason, remedy string) {
	if name == harness.NeedsRDMA {
		return b.reason, b.remedy
	}
	return harness.Capability(name)
}

// machine is the survey of the machine as a job's figures depend on it.
func (b *backend) machine(m harness.Machine, j job) harness.Machine {
	m.Warnings = slices.Concat(m.Warnings, j.tight)
	if j.plan.Scenario.Kind == harness.KindReceive {
		m.Probe = b.found
		return m
	}
	if m.Probe = b.foundPosts; b.class == "" {
		return m
	}
	m.Environment = sysinfo.With(m.Environment, sysinfo.Class(b.class))
	if b.class == rdmaimpl.ClassGuest {
		m.Placement = "all on the one CPU of the guest"
	}
	return m
}
