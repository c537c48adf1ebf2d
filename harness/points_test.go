package harness

import (
	"reflect"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

func TestPointsMultiply(t *testing.T) {
	oneOf := []string{"[1, 4]", "4", "[{fixed: 64}, {fixed: 512}]", "{fixed: 64}"}
	for _, c := range []struct {
		name string
		edit []string
		want []string
	}{
		{"two axes", nil, []string{
			"clients=1,sizes=fixed(64B)", "clients=1,sizes=fixed(512B)", "clients=4,sizes=fixed(64B)", "clients=4,sizes=fixed(512B)"}},
		{"one point has no name", oneOf, []string{""}},
		{"one value of an unusual kind does not vary", append(oneOf, "  load:", "  hold: 2ms\n  assembly: vectored\n  load:"), []string{""}},
		{"keys are sorted, the last axis changes fastest", append(oneOf, "  load:", "  touch: [header, payload]\n  hold: [0, 8, 2ms]\n  load:"), []string{
			"hold=0,touch=header", "hold=0,touch=payload", "hold=8,touch=header", "hold=8,touch=payload", "hold=2ms,touch=header", "hold=2ms,touch=payload"}},
		{"loads and budgets", append(oneOf, "{closed: 2}", "[{closed: 2}, {open: 50%}, {open: 20000/s}]", "8KiB", "[8KiB, 1MiB]"), []string{
			"budget=8KiB,load=closed(2)", "budget=8KiB,load=open(50%)", "budget=8KiB,load=open(20000/s)",
			"budget=1MiB,load=closed(2)", "budget=1MiB,load=open(50%)", "budget=1MiB,load=open(20000/s)"}},
	} {
		p := planned(t, edited(t, c.edit...), PlanOptions{})
		var got []string
		for _, pt := range p.Points {
			got = append(got, pt.ID)
			if pairs(pt.Values) != pt.ID {
				t.Errorf("%s: point %s has values %v", c.name, pt.ID, pt.Values)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: points\n%q, want\n%q", c.name, got, c.want)
		}
	}
}

func TestPointsCarryTheWorkload(t *testing.T) {
	p := planned(t, edited(t, "  load: {closed: 2}", "  load: {open: 30%}\n  hold: 2ms\n  assembly: vectored\n  touch: payload"), PlanOptions{})
	want := record.Workload{
		Kind: "receive", Transport: "tcp", Clients: 4, Sizes: record.Sizes{Kind: "fixed", Bytes: 512}, BudgetBytes: 8 << 10,
		Load: record.Load{Mode: "open", Fraction: .3}, HoldNS: 2e6, Assembly: "vectored", Touch: "payload",
	}
	if got := p.Points[3].Workload; !reflect.DeepEqual(got, want) {
		t.Errorf("workload %+v, want %+v", got, want)
	}
}

// The sizes of a plan are those the scenario states: without a max a tail ends at
// the largest message there may be.
func TestSizesOfThePlan(t *testing.T) {
	for text, largest := range map[string]int64{
		"{fixed: 700}":                                       700,
		"{uniform: {min: 100, max: 200}}":                    200,
		"{lognormal: {median: 2KiB, sigma: 1.6}}":            16 << 20,
		"{lognormal: {median: 2KiB, sigma: 3, max: 9KiB}}":   9 << 10,
		"{bimodal: {small: 64, large: 4KiB, share: 1%}}":     4096,
		"{cdf: {points: [[100, .5], [5000, 1]]}}":            5000,
		"{cdf: {points: [[100, .5], [5000, 1]], max: 1KiB}}": 1024,
	} {
		p := planned(t, edited(t, "[{fixed: 64}, {fixed: 512}]", text, "8KiB", "16MiB", "[1, 4]", "1"), PlanOptions{OnlyCounts: true})
		s := p.Points[0].Workload.Sizes
		if got := load.Largest(s); got != largest || got != p.Scenario.Workload.Sizes[0].Largest() {
			t.Errorf("%s: largest message %d, want %d, and the scenario says %d", text, got, largest, p.Scenario.Workload.Sizes[0].Largest())
		}
	}
}
