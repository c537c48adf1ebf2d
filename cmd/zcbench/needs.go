package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
)

func needsOf(j job) []harness.Need {
	return j.plan.Needs(registry(), harness.Place{Root: "/", Output: j.dir})
}

// checkNeeds tells what the jobs may lack before anything is measured, and fails
// when one is sure to. What one may lack is kept with its result, too.
func checkNeeds(cmd *cobra.Command, jobs []job) error {
	told := map[string]bool{}
	var lacking []string
	for i, j := range jobs {
		for _, n := range needsOf(j) {
			if !n.Tight() {
				continue
			}
			text := n.String()
			if !n.Lacking() {
				jobs[i].tight = append(jobs[i].tight, "This machine may have too little of what the run needs: "+text)
			}
			switch {
			case told[text]:
			case n.Lacking():
				lacking = append(lacking, fmt.Sprintf("%s: %s", j.plan.Scenario.Name, text))
			case !quiet(cmd):
				fmt.Fprintf(cmd.ErrOrStderr(), "zcbench: warning: %s: %s\n", j.plan.Scenario.Name, text)
			}
			told[text] = true
		}
	}
	if len(lacking) > 0 {
		return fail(exitFailed, "this machine has less than the run is sure to need\n  %s\n  parts of a scenario can be run alone with --filter", strings.Join(lacking, "\n  "))
	}
	return nil
}

// printNeeds shows what a plan takes beside what there is.
func printNeeds(cmd *cobra.Command, j job) {
	if quiet(cmd) {
		return
	}
	tw := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintf(tw, "  needs\tat least\tat worst\tthere is\tby\n")
	var tight []harness.Need
	for _, n := range needsOf(j) {
		least, ample, have := n.Amounts()
		fmt.Fprintf(tw, "  %s\t%s\t%s\t%s\t%s\n", n.Name, least, ample, have, n.Room.Limit)
		if n.Tight() {
			tight = append(tight, n)
		}
	}
	_ = tw.Flush() // as every print here
	for _, n := range tight {
		word := "may fall short"
		if n.Lacking() {
			word = "falls short"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "  %s %s: %s\n", n.Name, word, n.Remedy)
	}
}
