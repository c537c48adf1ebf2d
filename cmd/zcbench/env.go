package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
)

func newEnv() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "env",
		Short:   "Show what the numbers of this machine depend on",
		Example: "  zcbench env\n  zcbench env --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m := harness.Survey(tool())
			w := cmd.OutOrStdout()
			if asJSON {
				enc := json.NewEncoder(w)
				enc.SetIndent("", "  ")
				return enc.Encode(m.Environment)
			}
			tw := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
			for _, it := range m.Environment {
				v := it.Value
				if it.Unavailable != "" {
					v = "unavailable: " + it.Unavailable
				}
				fmt.Fprintf(tw, "%s\t%s\n", it.Key, v)
			}
			fmt.Fprintf(tw, "clock_cost\t%.1f ns\n", m.ClockCostNS)
			for _, cap := range []string{harness.NeedsUring} {
				reason, remedy := harness.Capability(cap)
				state := "available"
				if reason != "" {
					state = "unavailable: " + reason + "; " + remedy
				}
				fmt.Fprintf(tw, "%s\t%s\n", cap, state)
			}
			if err := tw.Flush(); err != nil {
				return err
			}
			if !quiet(cmd) {
				for _, text := range m.Warnings {
					fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", text)
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
