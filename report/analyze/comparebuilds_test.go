package analyze

import (
	"errors"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// twoBuilds makes an --ab run of a fixture: build new is change times as slow,
// and counts more allocations.
func twoBuilds(change float64, more int64) *record.Result {
	base, next := fixture.Result(), fixture.New(fixture.Spec{Seed: 7})
	out := fixture.Result()
	out.Trials, out.Header.Scenario.Cases = nil, nil
	for i, c := range base.Header.Scenario.Cases {
		for _, build := range []string{"old", "new"} {
			c = base.Header.Scenario.Cases[i]
			c.Build, c.ID = build, c.Label+"["+build+"]@"+c.Point
			out.Header.Scenario.Cases = append(out.Header.Scenario.Cases, c)
		}
	}
	for i := range base.Trials {
		for build, from := range map[string]*record.Result{"old": base, "new": next} {
			tr := from.Trials[i]
			if tr.Trial.Purpose == record.Floor {
				if build == "old" {
					out.Trials = append(out.Trials, tr)
				}
				continue
			}
			label, point, _ := strings.Cut(tr.Trial.Case, "@")
			tr.Trial.Case, tr.Trial.Build = label+"["+build+"]@"+point, build
			tr.Trial.Seed = base.Trials[i].Trial.Seed
			tr.Record.Fingerprint = record.Fingerprint{Ops: 1}
			ms := map[string]record.Value{}
			for k, v := range tr.Record.Metrics {
				switch {
				case build == "new" && k == "cpu_per_msg":
					v = record.Level(v.Float64() * change)
				case build == "new" && k == "go_allocs":
					v.Num += more
				}
				ms[k] = v
			}
			tr.Record.Metrics = ms
			out.Trials = append(out.Trials, tr)
		}
	}
	return out
}

func TestCompareBuilds(t *testing.T) {
	for name, c := range map[string]struct {
		change float64
		more   int64
		metric string
		want   Outcome
	}{
		"same":            {1, 0, "go_allocs", Unchanged},
		"slower":          {1.6, 0, "cpu_per_msg", Regressed},
		"faster":          {0.5, 0, "cpu_per_msg", Improved},
		"more allocation": {1, 1, "go_allocs", Regressed},
	} {
		cmp, err := CompareBuilds([]*record.Result{twoBuilds(c.change, c.more)}, CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		s := cmp.Scenarios[0]
		if !s.Paired || s.Base.Build != "old" || s.New.Build != "new" || s.Family == 0 {
			t.Errorf("%s: %+v against %+v, family %d", name, s.New, s.Base, s.Family)
		}
		seen := 0
		for _, d := range s.Diffs {
			switch {
			case d.Metric == c.metric:
				seen++
				if d.Outcome != c.want {
					t.Errorf("%s: %s is %s (%s)", name, d.Title(), d.Outcome, d.Reason)
				}
			case d.Outcome == Regressed && d.Metric != "cpu_per_msg" && d.Metric != "go_allocs":
				t.Errorf("%s: %s regressed of itself (%s)", name, d.Title(), d.Reason)
			}
			if strings.Contains(d.ID, "[") || strings.Contains(d.Reason, "noise floor") {
				t.Errorf("%s: %s: %s", name, d.ID, d.Reason)
			}
		}
		if seen != len(fixture.Shapes()) {
			t.Errorf("%s: %d deltas of %s", name, seen, c.metric)
		}
	}
	if _, err := CompareBuilds([]*record.Result{fixture.Result()}, CompareOptions{}); !errors.Is(err, ErrNotBuilds) {
		t.Errorf("a result of one build: %v", err)
	}
}
