package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl"
	"github.com/zcbench/zcbench/report/render"
	"github.com/zcbench/zcbench/uringimpl"
)

// rdmaFamily is the family of the checks that need an RDMA device.
const rdmaFamily = "rdma"

// checks is the list of all checks of this build.
func checks() []probe.Check { return slices.Concat(uringimpl.Probes(), rdmaimpl.Probes()) }

// findable is what checks can find, for claims to name.
func findable() []record.Finding {
	var out []record.Finding
	for _, c := range checks() {
		out = append(out, record.Finding{Sort: c.Sort, Family: c.Family, Name: c.Name})
	}
	return out
}

// newProbeChild is the process of one check; zcbench starts it itself.
func newProbeChild() *cobra.Command {
	return &cobra.Command{
		Use: probe.ChildCommand + " NAME", Hidden: true, Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return asFailed(probe.Child(args[0], checks())) },
	}
}

// probeFlags are the flags of probe as given.
type probeFlags struct {
	json   bool
	family string
	filter string
	out    string
}

func newProbe() *cobra.Command {
	var f probeFlags
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Find out by trying what this machine supports, its limits and its kernel's faults",
		Long: `Probe tries what the strategies rest on, each thing in a process of its own with
a deadline: the features and limits of io_uring, memory calls and RDMA devices,
which known kernel faults are present, and when each API really reads the
caller's buffer. Nothing is decided by a kernel version. Without an RDMA device
its checks run in the guest, if one has been built.`,
		Example: `  zcbench probe
  zcbench probe --family uring
  zcbench probe --filter 'pbuf-*'
  zcbench probe --json -o probe.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runProbe(cmd, f) },
	}
	families := probe.Families(checks())
	fl := cmd.Flags()
	fl.BoolVar(&f.json, "json", false, "print JSON")
	fl.StringVar(&f.family, "family", "", "only checks of this family: "+strings.Join(families, ", "))
	fl.StringVar(&f.filter, "filter", "", "only checks whose name matches this glob")
	fl.StringVarP(&f.out, "output", "o", "-", "file to write; - is standard output")
	must(cmd.RegisterFlagCompletionFunc("family", cobra.FixedCompletions(families, cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("filter", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, c := range checks() {
			names = append(names, c.Name)
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}))
	return cmd
}

func runProbe(cmd *cobra.Command, f probeFlags) error {
	list, err := chooseChecks(f)
	if err != nil {
		return err
	}
	bar := newProbeBar(cmd, len(list))
	p, err := probeMachine(cmd.Context(), list, bar.event)
	bar.close()
	if errors.Is(err, context.Canceled) {
		return coded{exitInterrupted, errors.New("interrupted")}
	}
	if err != nil {
		return fail(exitFailed, "%w", err)
	}
	return writeProbe(cmd, f, &p)
}

func chooseChecks(f probeFlags) ([]probe.Check, error) {
	list := checks()
	if families := probe.Families(list); f.family != "" {
		if !slices.Contains(families, f.family) {
			return nil, fail(exitUsage, "--family %q: known are %s", f.family, strings.Join(families, ", "))
		}
		list = slices.DeleteFunc(list, func(c probe.Check) bool { return c.Family != f.family })
	}
	if f.filter == "" {
		return list, nil
	}
	chosen, err := probe.Choose(list, f.filter)
	if err != nil {
		return nil, fail(exitUsage, "--filter %q: %w", f.filter, err)
	}
	if len(chosen) == 0 {
		return nil, fail(exitUsage, "--filter %q matches no check; `zcbench probe` lists them", f.filter)
	}
	return chosen, nil
}

func writeProbe(cmd *cobra.Command, f probeFlags, p *record.Probe) error {
	o := render.Options{Width: fileWidth}
	if f.out == "-" {
		o = terminal(cmd.OutOrStdout())
	}
	return writeTo(f.out, cmd.OutOrStdout(), func(w io.Writer) error {
		if !f.json {
			return render.Probe(w, p, o)
		}
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		return enc.Encode(p)
	})
}

// fileWidth is the number of columns of a table in a file.
const fileWidth = 80

// probeBar shows how far a probe is, and what it looks at, on a terminal only.
type probeBar struct{ *bar }

func newProbeBar(cmd *cobra.Command, total int) probeBar {
	return probeBar{newStepBar(cmd, "probe", total, progressbar.OptionSetPredictTime(false))}
}

func (b probeBar) event(done, _ int, f record.Finding) {
	if b.b != nil {
		b.b.Describe(fmt.Sprintf("probe %-24.24s", f.Name))
		_ = b.b.Set(done) // only the display is at stake
	}
}
