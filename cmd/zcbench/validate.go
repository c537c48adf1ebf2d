package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

func newValidate() *cobra.Command {
	return &cobra.Command{
		Use:   "validate SCENARIO...",
		Short: "Check scenario files without measuring",
		Long: `Validate checks that each scenario can be read, names strategies, params and
metrics that exist, fits its strategies, and has blocks enough to decide its
claims; its smoke overrides too. Faults are told as file:line:col; exit 2.`,
		Example:           "  zcbench validate my-scenario.yaml\n  zcbench validate scenarios/*.yaml\n  cat my-scenario.yaml | zcbench validate -",
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			var faults []error
			for _, arg := range args {
				plan, err := openPlan(arg, runFlags{seed: 1}, nil)
				if err == nil && arg != "-" {
					_, err = openPlan(arg, runFlags{seed: 1, smoke: true}, nil)
				}
				if err != nil {
					faults = append(faults, err)
					continue
				}
				if !quiet(cmd) {
					fmt.Fprintf(cmd.OutOrStdout(), "%s: ok: %d cases, %d trials\n", arg, len(plan.Cases), len(plan.Trials))
				}
			}
			return errors.Join(faults...)
		},
	}
}
