package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/render"
	"github.com/zcbench/zcbench/scenarios"
)

// plantedMetric is the metric a planted cost is looked for in.
const plantedMetric = "cpu_per_msg"

// aaFlags are the flags of aa as given.
type aaFlags struct {
	out      string
	sessions int
	pairs    int
	seeds    int
	blocks   int
	smoke    bool
	plant    string
	format   string
}

func newAA() *cobra.Command {
	var f aaFlags
	cmd := &cobra.Command{
		Use:   "aa SCENARIO",
		Short: "Measure a scenario against itself: false alarms, noise floor, smallest effect",
		Long: `Aa runs a scenario many times, each in an invocation of its own, with nothing
changed in between. The first runs are the noise floor that compare --noise needs;
the others are compared two by two: whatever is called a difference there is a
false alarm. With --plant a cost is put in on purpose into one side of further
pairs, that many times the larger of threshold and noise floor, to see how often
it is found.`,
		Example: `  zcbench aa uring-fixed-vs-inc -o noise/uring-fixed-vs-inc
  zcbench aa "null" --pairs 60 --plant 2x --seeds 20
  zcbench compare old new --noise noise/uring-fixed-vs-inc/noise`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return aa(cmd, args[0], f) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.out, "output", "o", "", "directory for the runs (default results/aa-SCENARIO-TIME)")
	fl.IntVar(&f.sessions, "sessions", analyze.MinSessions, "runs for the noise floor, at least ten")
	fl.IntVar(&f.pairs, "pairs", 10, "pairs of runs to compare")
	fl.IntVar(&f.seeds, "seeds", 20, "pairs with a planted cost, each of a seed of its own; with --plant")
	fl.IntVar(&f.blocks, "blocks", 0, "number of blocks of each run (default: as the scenario says)")
	fl.BoolVar(&f.smoke, "smoke", false, "use the smoke version of the scenario")
	fl.StringVar(&f.plant, "plant", "", "plant a cost: how many times the larger of threshold and noise floor, such as 2x")
	fl.StringVar(&f.format, "format", "table", "table or json")
	must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func aa(cmd *cobra.Command, scenario string, f aaFlags) error {
	sc, err := scenarios.Open(scenario)
	if err != nil {
		return err
	}
	times, err := f.check(sc)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = filepath.Join("results", "aa-"+sc.Name+"-"+stamp())
	}
	runs := &selfRuns{cmd: cmd, scenario: scenario, f: f, total: f.sessions + 2*f.pairs}
	if times > 0 {
		runs.total += 2 * f.seeds
	}
	defer runs.done()
	floor, err := runs.make("noise", f.sessions, func(int) []string { return nil })
	if err != nil {
		return err
	}
	pairs, err := runs.make("pairs", 2*f.pairs, func(i int) []string { return seeded(i / 2) })
	if err != nil {
		return err
	}
	s, err := analyze.SelfCheckResults(floor, pairs, analyze.CompareOptions{})
	if err != nil {
		return coded{exitResult, err}
	}
	if times > 0 {
		if s.Planted, err = runs.planted(floor, times); err != nil {
			return err
		}
	}
	runs.done()
	write := render.SelfCheckJSON
	if f.format == "table" {
		write = func(w io.Writer, s *analyze.SelfCheck) error { return render.SelfCheckTable(w, s, terminal(w)) }
	}
	if err := write(cmd.OutOrStdout(), s); err != nil {
		return err
	}
	if !quiet(cmd) {
		fmt.Fprintf(cmd.ErrOrStderr(), "noise floor: zcbench compare BASE NEW --noise %s\n", filepath.Join(f.out, "noise"))
	}
	return nil
}

// check returns how many times to plant; 0: nothing is planted.
func (f aaFlags) check(sc *scenarios.Scenario) (times float64, err error) {
	switch {
	case f.format != "table" && f.format != "json":
		return 0, fail(exitUsage, "--format %q: want table or json", f.format)
	case f.sessions < analyze.MinSessions:
		return 0, fail(exitUsage, "--sessions %d: a noise floor takes at least %d", f.sessions, analyze.MinSessions)
	case f.pairs < 1 || f.seeds < 1:
		return 0, fail(exitUsage, "--pairs %d, --seeds %d: want at least one", f.pairs, f.seeds)
	case f.plant == "":
		return 0, nil
	case sc.Kind != record.KindReceive:
		return 0, fail(exitUsage, "--plant: a cost can be planted in scenarios of kind %s only, %s is of kind %s", record.KindReceive, sc.Name, sc.Kind)
	}
	text, _ := strings.CutSuffix(f.plant, "x")
	times, err = strconv.ParseFloat(text, 64)
	if err != nil || !(times > 0 && times <= 1000) {
		return 0, fail(exitUsage, "--plant %q: want how many times the floor, such as 2x", f.plant)
	}
	return times, nil
}

func seeded(i int) []string { return []string{"--seed", strconv.Itoa(i + 1)} }

// selfRuns makes the runs of a self check, one process each.
type selfRuns struct {
	cmd      *cobra.Command
	scenario string
	f        aaFlags
	total    int
	bar      *bar
}

// make runs the scenario n times below a directory of that name.
func (r *selfRuns) make(name string, n int, flags func(i int) []string) ([]*record.Result, error) {
	var out []*record.Result
	for i := range n {
		res, err := r.one(filepath.Join(r.f.out, name, fmt.Sprintf("%03d", i+1)), flags(i))
		if err != nil {
			return nil, err
		}
		out = append(out, res)
	}
	return out, nil
}

// planted makes pairs of which one side has the cost; which is measured first
// alternates, so that a drift does not favour either.
func (r *selfRuns) planted(floor []*record.Result, times float64) (*analyze.PlantCheck, error) {
	id, share, seconds, err := analyze.PlantSize(floor, plantedMetric, times, analyze.CompareOptions{})
	if err != nil {
		return nil, fail(exitResult, "plant: %w", err)
	}
	p := analyze.PlantCheck{Metric: plantedMetric, Case: id, Share: share, PlantNS: max(1, int64(seconds*1e9+.5))}
	cost := []string{"--plant", fmt.Sprintf("%dns", p.PlantNS)}
	sides := [2][]*record.Result{}
	for i := range r.f.seeds {
		for k := range 2 {
			side := (i + k) % 2
			flags := seeded(i)
			if side == 1 {
				flags = append(flags, cost...)
			}
			name := [2]string{"plain", "planted"}[side]
			res, err := r.one(filepath.Join(r.f.out, name, fmt.Sprintf("%03d", i+1)), flags)
			if err != nil {
				return nil, err
			}
			sides[side] = append(sides[side], res)
		}
	}
	return analyze.CheckPlanted(floor, sides[0], sides[1], p, analyze.CompareOptions{})
}

// one is an invocation of zcbench run.
func (r *selfRuns) one(dir string, flags []string) (*record.Result, error) {
	if r.bar == nil {
		r.bar = newStepBar(r.cmd, "runs", r.total)
	}
	args := append([]string{"run", r.scenario, "-o", dir, "--bare", "--quiet"}, flags...)
	if r.f.smoke {
		args = append(args, "--smoke")
	}
	if r.f.blocks > 0 {
		args = append(args, "--blocks", strconv.Itoa(r.f.blocks))
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fail(exitFailed, "find this program: %w", err)
	}
	child := exec.CommandContext(r.cmd.Context(), self, args...)
	// An interrupt lets the run write its footer before it ends.
	child.Cancel = func() error { return child.Process.Signal(os.Interrupt) }
	child.WaitDelay = 10 * time.Second
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var errOut strings.Builder
	child.Stderr = &errOut
	if err := child.Run(); err != nil {
		if r.cmd.Context().Err() != nil {
			return nil, fail(exitInterrupted, "interrupted; the runs so far are in %s", r.f.out)
		}
		return nil, fail(exitFailed, "zcbench %s: %w\n  %s", strings.Join(args, " "), err, strings.TrimSpace(errOut.String()))
	}
	r.bar.step()
	return record.Read(filepath.Join(dir, record.FileName))
}

func (r *selfRuns) done() {
	if r.bar != nil {
		r.bar.close()
		r.bar = nil
	}
}
