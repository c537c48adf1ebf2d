package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/render"
)

// compareFormat is a way a comparison can be written.
type compareFormat struct {
	name  string
	write func(w io.Writer, c *analyze.Comparison, g analyze.Gate, o render.Options) error
}

var compareFormats = []compareFormat{
	{"table", render.CompareTable},
	{"markdown", render.CompareMarkdown},
	{"json", render.CompareJSON},
	{"csv", render.CompareCSV},
	{"junit", render.CompareJUnit},
}

// compareFlags are the flags of compare as given.
type compareFlags struct {
	noise     string
	alpha     float64
	threshold []string
	failOn    []string
	format    string
	out       string
	allow     []string
}

func newCompare() *cobra.Command {
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare BASE NEW | compare RESULT",
		Short: "Say what changed between two results, and fail on a regression",
		Long: `Compare tells for each case and metric whether NEW regressed, improved, is
unchanged, inconclusive, new or missing against BASE, and which claims flipped.
Both are result directories or files, or directories of several results, which
are matched by scenario. With one RESULT, made by run --ab, its two builds are
compared, paired by block.

Exact counts are compared as integers: any difference is one. Sampled metrics of
separate runs differ only if the exact Mann-Whitney test says so, corrected by
Holm for the number tested, and the shift lies beyond both the threshold and the
noise floor: the largest shift between any two of at least ten separate runs in
--noise DIR. Without a floor they are inconclusive. Those of the scenario's
columns are compared, and those that --threshold names.

Results of another scenario text, architecture, page size or library version
cannot be compared; on another kernel, CPU or governor only exact counts can.

Exit: 0 passed; 1 a condition of --fail-on is met; 2 usage; 3 unreadable or
incomparable results.`,
		Example: `  zcbench compare results/baseline/6.18 results/new
  zcbench compare old/result.jsonl new/result.jsonl --threshold 3% --threshold cpu_per_msg=200ns
  zcbench compare old new --noise results/noise --fail-on regression,missing,flipped
  zcbench compare results/ab --format markdown -o summary.md`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error { return compare(cmd, args, f) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.noise, "noise", "", "directory with results of at least ten separate runs of each scenario")
	fl.Float64Var(&f.alpha, "alpha", analyze.DefaultAlpha, "error level, over all sampled metrics of a scenario together")
	fl.StringArrayVar(&f.threshold, "threshold", nil, "least difference called one: 5%, or METRIC=5%, METRIC=10us; repeatable (default 5%)")
	fl.StringSliceVar(&f.failOn, "fail-on", []string{analyze.OnRegression}, "what exits 1: "+strings.Join(analyze.GateConditions(), ", "))
	fl.StringVar(&f.format, "format", "table", "table, markdown, json, csv or junit")
	fl.StringVarP(&f.out, "output", "o", "-", "file to write to; - is standard output")
	fl.StringSliceVar(&f.allow, "allow-env-mismatch", nil, "environment keys that may differ: kernel,cpu_model,...")
	var names []string
	for _, ft := range compareFormats {
		names = append(names, ft.name)
	}
	must(cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions(analyze.GateConditions(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

func compare(cmd *cobra.Command, args []string, f compareFlags) error {
	gate, err := analyze.NewGate(f.failOn)
	if err != nil {
		return fail(exitUsage, "--fail-on: %w", err)
	}
	at := slices.IndexFunc(compareFormats, func(c compareFormat) bool { return c.name == f.format })
	if at < 0 {
		return fail(exitUsage, "--format %q: want table, markdown, json, csv or junit", f.format)
	}
	if !(f.alpha > 0 && f.alpha < 1) {
		return fail(exitUsage, "--alpha %v: want a level between 0 and 1", f.alpha)
	}
	sides, err := readSides(args, f.noise)
	if err != nil {
		return err
	}
	o := analyze.CompareOptions{Alpha: f.alpha, Allow: f.allow}
	if err := setThresholds(&o, f.threshold, sides.metrics()); err != nil {
		return fail(exitUsage, "--threshold %w", err)
	}
	c, err := sides.compare(o)
	if err != nil {
		return coded{exitResult, err}
	}
	if err := writeTo(f.out, cmd.OutOrStdout(), func(w io.Writer) error {
		return compareFormats[at].write(w, c, gate, terminal(cmd.OutOrStdout()))
	}); err != nil {
		return err
	}
	return gateError(gate.Failures(c))
}

// gateError is exit 1 with the first of what failed named.
func gateError(failures []string) error {
	const most = 5
	if len(failures) == 0 {
		return nil
	}
	text := strings.Join(failures[:min(len(failures), most)], "\n  ")
	if n := len(failures) - most; n > 0 {
		text += fmt.Sprintf("\n  and %d more", n)
	}
	return fail(exitGate, "%s", text)
}
