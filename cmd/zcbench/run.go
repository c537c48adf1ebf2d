package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// runFlags are the flags of run as given.
type runFlags struct {
	out     string
	smoke   bool
	blocks  int
	seed    uint64
	filter  string
	only    string
	resume  string
	require []string
	ab      []string
	dryRun  bool
	noWait  bool
	bare    bool
	plant   time.Duration
	lasting time.Duration
	// maxClients is how many clients this machine allows; 0: it does not matter.
	maxClients int

	device   string
	softRoCE string
}

func newRun() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run SCENARIO...",
		Short: "Run scenarios and report what they say",
		Long: `Run measures one or more scenarios: names of built-in ones, files, or - for
standard input. Each gets a directory with result.jsonl, written and synced
trial by trial, and the reports made from it. One zcbench measures at a time on
a machine; a second waits.`,
		Example: `  zcbench run uring-fixed-vs-inc
  zcbench run my-scenario.yaml -o /tmp/mine --blocks 20
  zcbench run uring-fixed-vs-inc --filter 'ring-*' --dry-run
  zcbench run uring-fixed-vs-inc --smoke --require uring
  zcbench run uring-fixed-vs-inc --ab old=./zcbench.old new=./zcbench
  zcbench run rdma-post-recv --device mlx5_0
  zcbench run rdma-post-recv --soft-roce eth0
  zcbench run uring-fixed-vs-inc --for 30m
  zcbench run uring-fixed-vs-inc --resume results/uring-fixed-vs-inc-20260101T000000Z`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			// `--ab old=BIN new=BIN` reads as one flag value and one argument.
			args, f.ab = takeBuilds(args, f.ab)
			return run(cmd, args, f)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "directory for the result (default results/SCENARIO-TIME)")
	fl.BoolVar(&f.smoke, "smoke", false, "a run of seconds that proves the scenario works and decides nothing")
	fl.IntVar(&f.blocks, "blocks", 0, "number of blocks (default: as the scenario says)")
	fl.DurationVar(&f.lasting, "for", 0, "go on with further blocks until each run has taken so long, e.g. 30m")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of sizes, arrivals and order")
	fl.StringVar(&f.filter, "filter", "", "run only cases whose id or label matches this glob, and the baseline")
	fl.StringVar(&f.only, "only", "", "counts: run counting trials only")
	fl.StringVar(&f.resume, "resume", "", "finish the interrupted run in this directory")
	fl.StringSliceVar(&f.require, "require", nil, "fail with exit 4 if these are missing: uring, rdma")
	fl.StringArrayVar(&f.ab, "ab", nil, "interleave two builds, paired: old=BIN new=BIN")
	fl.BoolVar(&f.dryRun, "dry-run", false, "print the plan, its trials and about how long it takes")
	fl.BoolVar(&f.noWait, "no-wait", false, "fail instead of waiting for another zcbench")
	fl.StringVar(&f.device, "device", "", "RDMA device for posts (default: the first active one, else a guest)")
	fl.StringVar(&f.softRoCE, "soft-roce", "", "make a soft-RoCE device over this network interface for the run (root)")
	fl.BoolVar(&f.bare, "bare", false, "write result.jsonl only, no reports")
	fl.DurationVar(&f.plant, "plant", 0, "CPU time burnt for each message on purpose, as aa does")
	must(fl.MarkHidden("plant"))
	cmd.MarkFlagsMutuallyExclusive("device", "soft-roce")
	cmd.MarkFlagsMutuallyExclusive("for", "blocks")
	cmd.MarkFlagsMutuallyExclusive("for", "only")
	must(cmd.RegisterFlagCompletionFunc("only", cobra.FixedCompletions([]string{"counts"}, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("require", cobra.FixedCompletions([]string{harness.NeedsUring, harness.NeedsRDMA}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// must is for errors that only a mistake in this program can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func takeBuilds(args, ab []string) (rest, builds []string) {
	builds = ab
	for _, a := range args {
		if len(builds) == 1 && strings.Contains(a, "=") {
			builds = append(builds, a)
			continue
		}
		rest = append(rest, a)
	}
	return rest, builds
}

// job is one scenario made ready to run.
type job struct {
	arg  string // as given
	plan *harness.Plan
	dir  string
	// tight is what the machine may have too little of.
	tight []string
}

func run(cmd *cobra.Command, args []string, f runFlags) error {
	if f.only != "" && f.only != "counts" {
		return fail(exitUsage, "--only %q: the only value is counts", f.only)
	}
	if f.resume != "" && (len(args) != 1 || f.out != "") {
		return fail(exitUsage, "--resume takes exactly one scenario and no -o: the directory is that of the result")
	}
	if f.lasting < 0 {
		return fail(exitUsage, "--for %v: want a time to come", f.lasting)
	}
	if err := checkDevices(f); err != nil {
		return err
	}
	builds, err := parseBuilds(f.ab)
	if err != nil {
		return err
	}
	f.maxClients = harness.MaxClients()
	jobs, err := prepare(args, f, builds)
	if err != nil {
		return err
	}
	if f.dryRun {
		return dryRun(cmd, jobs, f.lasting)
	}
	tellNotes(cmd, jobs)
	if err := checkRequired(f.require); err != nil {
		return err
	}
	if err := checkNeeds(cmd, jobs); err != nil {
		return err
	}
	lock, err := harness.Acquire(cmd.Context(), harness.LockPath(), !f.noWait, func(holder string) {
		fmt.Fprintf(cmd.ErrOrStderr(), "zcbench: another zcbench is measuring (%s); waiting for it\n", holder)
	})
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	defer lock.Release()
	return runJobs(cmd, jobs, f, builds)
}

func parseBuilds(ab []string) (map[string]string, error) {
	if len(ab) == 0 {
		return nil, nil
	}
	builds := map[string]string{}
	for _, kv := range ab {
		label, bin, ok := strings.Cut(kv, "=")
		if !ok || (label != "old" && label != "new") || builds[label] != "" {
			return nil, fail(exitUsage, "--ab %q: want old=BINARY new=BINARY", kv)
		}
		path, err := filepath.Abs(bin)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, fail(exitUsage, "--ab %s: %w", kv, err)
		}
		builds[label] = path
	}
	if len(builds) != 2 {
		return nil, fail(exitUsage, "--ab takes two builds: old=BINARY new=BINARY")
	}
	return builds, nil
}

// stamp is the time as directories of results are named by it.
func stamp() string { return time.Now().UTC().Format("20060102T150405Z") }

func prepare(args []string, f runFlags, builds map[string]string) ([]job, error) {
	now := stamp()
	var jobs []job
	for _, arg := range args {
		plan, err := openPlan(arg, f, builds)
		if err != nil {
			return nil, err
		}
		dir := filepath.Join("results", plan.Scenario.Name+"-"+now)
		switch {
		case f.resume != "":
			dir = f.resume
		case f.out != "" && len(args) == 1:
			dir = f.out
		case f.out != "":
			dir = filepath.Join(f.out, plan.Scenario.Name)
		}
		if f.lasting > 0 && plan.Blocks() == 0 {
			return nil, fail(exitUsage, "--for: %s has no blocks that could be repeated", plan.Scenario.Name)
		}
		if slices.ContainsFunc(jobs, func(j job) bool { return j.dir == dir }) {
			return nil, fail(exitUsage, "scenario %s is given twice", plan.Scenario.Name)
		}
		jobs = append(jobs, job{arg: arg, plan: plan, dir: dir})
	}
	return jobs, nil
}

// tellNotes says what the plans do otherwise than their scenarios say.
func tellNotes(cmd *cobra.Command, jobs []job) {
	for _, j := range jobs {
		for _, note := range j.plan.Notes {
			fmt.Fprintf(cmd.ErrOrStderr(), "zcbench: %s: %s\n", j.plan.Scenario.Name, note)
		}
	}
}

func openPlan(arg string, f runFlags, builds map[string]string) (*harness.Plan, error) {
	sc, err := scenarios.Open(arg)
	if err != nil {
		return nil, err
	}
	if f.smoke {
		if sc, err = sc.Smoke(); err != nil {
			return nil, err
		}
	}
	o := harness.PlanOptions{Seed: f.seed, Blocks: f.blocks, Filter: f.filter, OnlyCounts: f.only == "counts", PlantNS: f.plant.Nanoseconds()}
	o.MaxClients = f.maxClients
	o.CPU, o.OtherCPU = harness.PickCPUs()
	o.Findings = findable()
	if builds != nil {
		o.Builds = []string{"old", "new"}
	}
	return harness.NewPlan(sc, registry(), o)
}

func checkRequired(names []string) error {
	for _, n := range names {
		if n != harness.NeedsUring && n != harness.NeedsRDMA {
			return fail(exitUsage, "--require %q: known are uring, rdma", n)
		}
	}
	return nil
}

// requireAll fails if the machine lacks something the user insists on.
func requireAll(names []string, b *backend) error {
	for _, n := range names {
		if reason, remedy := b.capability(n); reason != "" {
			return fail(exitFailed, "%s is required: %s\n  %s", n, reason, remedy)
		}
	}
	return nil
}

func runJobs(cmd *cobra.Command, jobs []job, f runFlags, builds map[string]string) (err error) {
	machine := harness.Survey(tool())
	self, err := os.Executable()
	if err != nil {
		return fail(exitFailed, "find this program: %w", err)
	}
	b, err := newBackend(jobs, &harness.Processes{Binary: self, Builds: builds, Clock: machine.Clock, Registry: registry()}, f)
	if err != nil {
		return err
	}
	defer func() { err = firstOf(err, b.close()) }()
	if err := requireAll(f.require, b); err != nil {
		return err
	}
	b.probeFor(cmd, jobs)
	var results []*record.Result
	var worst error
	for _, j := range jobs {
		res, err := measure(cmd, j, f, &harness.Campaign{
			Plan: j.plan, Registry: registry(), Machine: b.machine(machine, j), Tool: tool(), Seed: f.seed, Dir: j.dir,
			Exec: b, Probe: b.capability, Resume: f.resume != "", For: f.lasting,
		})
		if res != nil {
			results = append(results, res)
		}
		if err != nil && worst == nil {
			worst = err
		}
		if cmd.Context().Err() != nil {
			break
		}
	}
	if f.bare || worst != nil && cmd.Context().Err() != nil {
		return worst
	}
	return show(cmd, results, worst)
}

// measure runs one scenario and reads back what was written.
func measure(cmd *cobra.Command, j job, f runFlags, c *harness.Campaign) (*record.Result, error) {
	bar := newBar(cmd, j.plan)
	c.Progress = bar.event
	sum, path, err := c.Run(cmd.Context())
	bar.close()
	if err != nil {
		return nil, fail(exitFailed, "%w", err)
	}
	res, err := record.Read(path)
	if err != nil {
		return nil, err
	}
	switch {
	case sum.Interrupted:
		return res, coded{exitInterrupted, fmt.Errorf("interrupted; what was measured is kept: finish it, with the flags it was begun with, by\n  zcbench run %s --resume %s", j.arg, j.dir)}
	case sum.Failed > 0:
		return res, fail(exitFailed, "%d of %d trials failed, first %s\n  everything else is kept in %s", sum.Failed, sum.Trials, sum.FirstFailed, path)
	}
	for _, s := range sum.Skipped {
		if slices.Contains(f.require, s.Needs) {
			return res, fail(exitFailed, "%s is required: %s", s.Needs, s.Reason)
		}
	}
	return res, nil
}
