package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
)

// probeMachine runs checks, those of RDMA in a guest where there is one and no
// device.
func probeMachine(ctx context.Context, list []probe.Check, progress func(int, int, record.Finding)) (p record.Probe, err error) {
	self, err := os.Executable()
	if err != nil {
		return p, fmt.Errorf("find this program: %w", err)
	}
	r := probe.Runner{Place: probe.Local(self), Progress: progress}
	if slices.ContainsFunc(list, isRDMA) && wantsGuest() {
		e := &guest.Executor{}
		defer func() { err = errors.Join(err, e.Close()) }()
		r.Elsewhere = map[string]probe.Place{rdmaFamily: e.Probes()}
	}
	return r.Run(ctx, list)
}

func isRDMA(c probe.Check) bool { return c.Family == rdmaFamily }

// wantsGuest says whether there is no RDMA device here but a guest to boot.
func wantsGuest() bool {
	if reason, _ := rdmaimpl.Libraries(); reason != "" {
		return false
	}
	if _, _, reason, _ := rdmaimpl.Local(""); reason == "" {
		return false
	}
	st, err := guest.CheckStatus("")
	return err == nil && st.Image != nil
}

// probeFor finds out what the jobs' machines do: that of receives, of posts, or
// both.
func (b *backend) probeFor(cmd *cobra.Command, jobs []job) {
	for _, j := range jobs {
		switch receives := j.plan.Scenario.Kind == harness.KindReceive; {
		case receives && b.found == nil:
			b.found = probeOfRun(cmd, b, false)
		case !receives && b.foundPosts == nil:
			b.foundPosts = probeOfRun(cmd, b, true)
		}
	}
}

// probeOfRun returns what is known of the machine that scenarios of a kind run on,
// from the cache if that fits. A probe that cannot be made is no reason not to
// measure: it is told, and the run has none.
func probeOfRun(cmd *cobra.Command, b *backend, posts bool) *record.Probe {
	kind := "uring"
	list := slices.DeleteFunc(checks(), isRDMA)
	place := map[string]probe.Place{}
	if posts {
		kind, list = rdmaFamily, slices.DeleteFunc(checks(), func(c probe.Check) bool { return !isRDMA(c) })
		if b.probes != nil {
			place[rdmaFamily] = b.probes
		}
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "zcbench: no probe of this machine: find this program: %v\n", err)
		return nil
	}
	cache, cacheErr := cacheOf(self, kind, b)
	if p, ok := cache.Load(); cacheErr == nil && ok {
		return &p
	}
	if !quiet(cmd) {
		fmt.Fprintf(cmd.ErrOrStderr(), "zcbench: looking once for what this machine does, in %d checks (%s)\n", len(list), kind)
	}
	r := probe.Runner{Place: probe.Local(self), Elsewhere: place}
	p, err := r.Run(cmd.Context(), list)
	if err != nil {
		return nil // interrupted: so is the run
	}
	if cacheErr == nil {
		cacheErr = cache.Store(p)
	}
	if cacheErr != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "zcbench: the probe of this machine is not kept: %v\n", cacheErr)
	}
	return &p
}

// cacheOf is where the probe of a kind is kept, under what its findings depend on.
func cacheOf(self, kind string, b *backend) (probe.Cache, error) {
	path, err := probe.CachePath(kind)
	if err != nil {
		return probe.Cache{}, err
	}
	refused, _ := harness.Capability(harness.NeedsUring)
	more := []string{"io_uring " + refused}
	if kind == rdmaFamily {
		more = append(more, "class "+b.class, "device "+b.device, "without "+b.reason)
		if st, err := guest.CheckStatus(""); err == nil && st.Image != nil {
			more = append(more, "guest "+st.Image.Digest)
		}
	}
	key, err := probe.MachineKey(self, more...)
	return probe.Cache{Path: path, Key: key}, err
}
