package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

var lists = []struct {
	name  string
	print func(w io.Writer) error
}{
	{"scenarios", listScenarios},
	{"strategies", listStrategies},
	{"metrics", listMetrics},
	{"claims", listClaims},
}

func newList() *cobra.Command {
	var names []string
	for _, l := range lists {
		names = append(names, l.name)
	}
	return &cobra.Command{
		Use:       "list [scenarios|strategies|metrics|claims]",
		Short:     "List what this build knows",
		Example:   "  zcbench list\n  zcbench list strategies\n  zcbench list metrics",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, l := range lists {
				if len(args) == 1 && args[0] != l.name {
					continue
				}
				if len(args) == 0 {
					fmt.Fprintf(cmd.OutOrStdout(), "%s:\n", l.name)
				}
				tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
				if err := l.print(tw); err != nil {
					return err
				}
				if err := tw.Flush(); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// embedded opens the built-in scenarios.
func embedded() ([]*scenarios.Scenario, error) {
	var out []*scenarios.Scenario
	for _, name := range scenarios.Embedded() {
		sc, err := scenarios.Open(name)
		if err != nil {
			return nil, err
		}
		out = append(out, sc)
	}
	return out, nil
}

func listScenarios(w io.Writer) error {
	all, err := embedded()
	for _, sc := range all {
		fmt.Fprintf(w, "  %s\t%s\n", sc.Name, sc.Title)
	}
	return err
}

func listStrategies(w io.Writer) error {
	for _, s := range registry() {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", s.Name, s.Family, s.Summary)
		for _, p := range s.Params {
			fmt.Fprintf(w, "    %s\t%s\t%s\n", p.Name, defaultOf(p), p.Help)
		}
	}
	return nil
}

func defaultOf(p harness.Param) string {
	if len(p.Values) == 0 {
		return p.Default
	}
	return strings.Join(p.Values, "|") + " (" + p.Default + ")"
}

func listMetrics(w io.Writer) error {
	for _, m := range append(harness.Metrics(record.KindReceive), harness.Metrics("")...) {
		unit := m.Unit
		if m.Per != "" {
			unit += "/" + m.Per
		}
		better := "told only"
		if m.Better != "" {
			better = string(m.Better) + " is better"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\n", m.Name, unit, m.Kind, better, m.Help)
	}
	return nil
}

func listClaims(w io.Writer) error {
	all, err := embedded()
	for _, sc := range all {
		for _, c := range sc.Claims {
			fmt.Fprintf(w, "  %s/%s\t%s\n", sc.Name, c.ID, c.Text)
		}
	}
	return err
}

func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return scenarios.Embedded(), cobra.ShellCompDirectiveDefault
}
