package analyze

import "github.com/zcbench/zcbench/harness/record"

// buildsOf names the first two builds among a result's cases.
func buildsOf(res *record.Result) (first, second string) {
	for _, c := range res.Header.Scenario.Cases {
		switch {
		case c.Build == "" || c.Build == first:
		case first == "":
			first = c.Build
		case second == "":
			second = c.Build
		}
	}
	return first, second
}

// splitBuilds makes a result for each of the two builds of one run, with cases
// called as if there were no builds. False when there are not two.
func splitBuilds(res *record.Result) (base, next *record.Result, ok bool) {
	first, second := buildsOf(res)
	if second == "" {
		return nil, nil, false
	}
	return onlyBuild(res, first), onlyBuild(res, second), true
}

func onlyBuild(res *record.Result, build string) *record.Result {
	out := *res
	out.Header.Scenario.Cases = nil
	id := map[string]string{}
	for _, c := range res.Header.Scenario.Cases {
		if c.Build != build {
			continue
		}
		plain := c.Label
		if c.Point != "" {
			plain += "@" + c.Point
		}
		id[c.ID] = plain
		c.ID, c.Build = plain, ""
		out.Header.Scenario.Cases = append(out.Header.Scenario.Cases, c)
	}
	out.Trials = nil
	for _, t := range res.Trials {
		plain, mine := id[t.Trial.Case]
		switch {
		case t.Trial.Build == build && mine:
			t.Trial.Case, t.Trial.Build = plain, ""
		case t.Trial.Build != "":
			continue
		}
		out.Trials = append(out.Trials, t)
	}
	return &out
}
