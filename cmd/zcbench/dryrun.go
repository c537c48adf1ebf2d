package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
)

// dryRun prints what would be run, in order, and about how long it takes.
// Further blocks, under --for, are not listed.
func dryRun(cmd *cobra.Command, jobs []job, lasting time.Duration) error {
	w := cmd.OutOrStdout()
	var total time.Duration
	trials := 0
	for _, j := range jobs {
		d := max(j.plan.Estimate(), lasting)
		total += d
		trials += len(j.plan.Trials)
		fmt.Fprintf(w, "%s: %d cases, %d trials, about %s\n", j.plan.Scenario.Name, len(j.plan.Cases), len(j.plan.Trials), d.Round(time.Second))
		for _, note := range j.plan.Notes {
			fmt.Fprintf(w, "  note: %s\n", note)
		}
		for _, c := range j.plan.Cases {
			mark := ""
			if c.Baseline {
				mark = "  (baseline)"
			}
			if c.Missing != nil {
				mark += "  (skipped: " + c.Missing.Reason + ")"
			}
			fmt.Fprintf(w, "  case %s%s\n", c.ID, mark)
		}
		printNeeds(cmd, j)
		printTrials(cmd, j.plan)
	}
	if len(jobs) > 1 {
		fmt.Fprintf(w, "total: %d trials, about %s\n", trials, total.Round(time.Second))
	}
	return nil
}

func printTrials(cmd *cobra.Command, p *harness.Plan) {
	if quiet(cmd) {
		return
	}
	for _, t := range p.Trials {
		fmt.Fprintf(cmd.OutOrStdout(), "  %4d %s: %d+%d messages, seed %d\n", t.Order+1, t.ID, t.Warmup, t.Messages, t.Seed)
	}
}
