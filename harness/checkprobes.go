package harness

import (
	"fmt"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// checkProbeClaims refuses claims about findings there are none of, or that expect
// what such a finding cannot come to.
func checkProbeClaims(sc *scenarios.Scenario, findings []record.Finding) error {
	if findings == nil {
		return nil
	}
	var names []string
	for _, f := range findings {
		names = append(names, f.Name)
	}
	for i, c := range sc.Claims {
		if c.Kind != "probe" {
			continue
		}
		at := slices.Index(names, c.Metric)
		if at < 0 {
			return unknown(sc, fmt.Sprintf("claims[%d].metric", i), "finding", c.Metric, names)
		}
		sort := findings[at].Sort
		bounded := c.Expect == scenarios.AtLeast || c.Expect == scenarios.AtMost
		switch {
		case sort == record.LimitFound && !bounded:
			return sc.Errorf(fmt.Sprintf("claims[%d].expect", i), "%s is a limit: expect at least or at most an amount", c.Metric)
		case sort != record.LimitFound && !slices.Contains(sort.Verdicts(), record.FindingVerdict(c.Expect)):
			return unknown(sc, fmt.Sprintf("claims[%d].expect", i), "verdict of a "+string(sort), c.Expect, decided(sort))
		}
	}
	return nil
}

// decided lists the verdicts of a sort that say something.
func decided(sort record.Sort) []string {
	var out []string
	for _, v := range sort.Verdicts() {
		if v.Decided() {
			out = append(out, string(v))
		}
	}
	return out
}
