package harness

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// The ids are an interface: results are resumed, filtered and compared by them.
func TestPlanIDsAreStable(t *testing.T) {
	p := planned(t, edited(t, "sizes: [{fixed: 64}, {fixed: 512}]", "sizes: {fixed: 64}", "[1KiB, 4KiB]", "4KiB",
		"params: {chunk: 1KiB}", "params: {chunk: 4096}", "counting_trials: 2", "counting_trials: 1"), PlanOptions{Blocks: 6})
	want := []string{
		"alpha{chunk=4KiB}@clients=1/counting/1", "alpha{chunk=4KiB}@clients=1/timing/block1", "alpha{chunk=4KiB}@clients=1/timing/block6",
		"alpha{chunk=4KiB}@clients=1/verify", "alpha{chunk=4KiB}@clients=4/counting/1", "beta@clients=1/counting/1", "beta@clients=4/timing/block3",
		"null@clients=1/floor/block1", "null@clients=4/floor/block6",
	}
	got := slices.Sorted(slices.Values(ids(p.Trials)))
	if len(slices.Compact(slices.Clone(got))) != len(got) {
		t.Errorf("ids are not unique: %q", got)
	}
	for _, id := range want {
		if !slices.Contains(got, id) {
			t.Errorf("no trial %s in %q", id, got)
		}
	}
	// Two cases at two points: once each verified and counted, six times timed, with two floors a block.
	if want := 4 + 4 + 6*(4+2); len(got) != want {
		t.Errorf("%d trials, want %d", len(got), want)
	}
	single := planned(t, edited(t, "[1, 4]", "1", "[{fixed: 64}, {fixed: 512}]", "{fixed: 64}"), PlanOptions{OnlyCounts: true})
	if got := slices.Sorted(slices.Values(ids(single.Trials))); got[5] != "beta/counting/2" || len(got) != 6 {
		t.Errorf("without axes that vary the ids are %q", got)
	}
}

func TestPlanIsSeeded(t *testing.T) {
	a, b, c := planned(t, scenarioText, PlanOptions{Seed: 1}), planned(t, scenarioText, PlanOptions{Seed: 1}), planned(t, scenarioText, PlanOptions{Seed: 2})
	if !reflect.DeepEqual(a.Trials, b.Trials) {
		t.Error("one seed gives two plans")
	}
	x, y := ids(a.Trials), ids(c.Trials)
	if slices.Equal(x, y) {
		t.Error("another seed gives the same order")
	}
	slices.Sort(x)
	slices.Sort(y)
	if !slices.Equal(x, y) {
		t.Error("another seed gives other trials")
	}
	seeds := map[uint64]bool{}
	for _, t := range a.Trials {
		seeds[t.Seed] = true
	}
	for _, other := range c.Trials {
		if seeds[other.Seed] {
			t.Errorf("trial %s has a seed of another run's", other.ID)
		}
	}
}

// The cases of a point share the seed of their block, and nothing else does.
func TestPlanSeeds(t *testing.T) {
	p := planned(t, scenarioText, PlanOptions{Seed: 3})
	owner := map[uint64]string{}
	seed := map[string]uint64{}
	for _, tr := range p.Trials {
		key := fmt.Sprintf("%s block %d", tr.Point, tr.Block)
		if have, ok := seed[key]; ok && have != tr.Seed {
			t.Errorf("%s has another seed than the rest of %s", tr.ID, key)
		}
		if have, ok := owner[tr.Seed]; ok && have != key {
			t.Errorf("%s shares its seed with %s", tr.ID, have)
		}
		owner[tr.Seed], seed[key] = key, tr.Seed
		if inBlock := tr.Purpose == record.Timing || tr.Purpose == record.Floor; inBlock == (tr.Block < 0) {
			t.Errorf("%s is in block %d", tr.ID, tr.Block)
		}
	}
	if want := 4 * (6 + 1); len(seed) != want {
		t.Errorf("%d seeds, want %d", len(seed), want)
	}
}

func TestPlanBlocksAreBalanced(t *testing.T) {
	p := planned(t, scenarioText, PlanOptions{Seed: 4})
	orders := map[string]bool{}
	last := -1
	for _, tr := range purposes(p.Trials, record.Timing, record.Floor) {
		if tr.Block < last || tr.Block > last+1 {
			t.Fatalf("block %d after block %d", tr.Block, last)
		}
		last = tr.Block
	}
	for b := range 6 {
		seen := map[string]int{}
		var order []string
		for _, tr := range block(p.Trials, b) {
			seen[tr.Case]++
			order = append(order, tr.Case)
		}
		orders[strings.Join(order, " ")] = true
		for _, c := range p.Cases {
			if seen[c.ID] != 1 {
				t.Errorf("block %d has %s %d times", b, c.ID, seen[c.ID])
			}
		}
		for _, pt := range p.Points {
			if seen["null@"+pt.ID] != 1 {
				t.Errorf("block %d has the floor of %s %d times", b, pt.ID, seen["null@"+pt.ID])
			}
		}
		if len(seen) != len(p.Cases)+len(p.Points) {
			t.Errorf("block %d holds %d cases", b, len(seen))
		}
	}
	if len(orders) != 6 {
		t.Errorf("six blocks have %d orders", len(orders))
	}
	for i, tr := range p.Trials {
		if tr.Order != i {
			t.Fatalf("trial %d says it is number %d", i, tr.Order)
		}
	}
}

func TestPlanTrials(t *testing.T) {
	p := planned(t, edited(t, "counting_trials: 2", "counting_trials: 2, timeout: 7s"), PlanOptions{Seed: 5, CPU: 3, OtherCPU: 2})
	messages := map[record.Purpose]int{record.Verify: 10, record.Counting: 20, record.Timing: 50, record.Floor: 50}
	rank := map[record.Purpose]int{record.Verify: 0, record.Counting: 1, record.Timing: 2, record.Floor: 2}
	last := 0
	for _, tr := range p.Trials {
		if rank[tr.Purpose] < last {
			t.Errorf("%s comes late", tr.ID)
		}
		last = rank[tr.Purpose]
		if want := messages[tr.Purpose]; tr.Messages != want {
			t.Errorf("%s: %d messages, want %d", tr.ID, tr.Messages, want)
		}
		want := record.Load{Mode: "closed", Depth: 2}
		if tr.Purpose == record.Counting {
			want = record.Load{Mode: load.Lockstep}
		}
		if tr.Workload.Load != want {
			t.Errorf("%s: load %+v, want %+v", tr.ID, tr.Workload.Load, want)
		}
		if tr.Warmup != load.WarmupMessages(tr.Workload) || tr.DeadlineMS != 7000 || tr.CPU != 3 || tr.OtherCPU != 2 || tr.Schema != record.Schema || tr.Scenario != "t" {
			t.Errorf("%+v", tr)
		}
		if tr.Strategy == "alpha" && (len(tr.Params) != 4 || tr.Params["mode"] != "calm" || tr.Params["entries"] != Auto) {
			t.Errorf("%s: params %v are not complete", tr.ID, tr.Params)
		}
	}
	for _, c := range p.Cases {
		if c.Baseline != (c.Label == "beta") || len(c.Params) != strings.Count(c.Label, "=") {
			t.Errorf("case %+v", c.CaseInfo)
		}
	}
}

func TestPlanCapacity(t *testing.T) {
	one := []string{"[1, 4]", "4", "[{fixed: 64}, {fixed: 512}]", "{fixed: 64}"}
	for _, c := range []struct {
		name string
		edit []string
		only bool
		want []record.Load
	}{
		{"closed", []string{}, false, nil},
		{"a share of the capacity", []string{"{closed: 2}", "{open: 50%}"}, false, []record.Load{{Mode: "closed", Depth: capacityDepth}}},
		{"two shares", []string{"{closed: 2}", "[{open: 30%}, {open: 80%}]"}, false, []record.Load{{Mode: "closed", Depth: capacityDepth}, {Mode: "closed", Depth: capacityDepth}}},
		{"a rate", []string{"{closed: 2}", "{open: 1000/s}"}, false, nil},
		{"a share, counts only", []string{"{closed: 2}", "{open: 50%}"}, true, nil},
		{"held messages, counts only", []string{"  load:", "  hold: 8\n  load:"}, true, nil},
		{"held for a time, closed", []string{"  load:", "  hold: 2ms\n  load:"}, false, []record.Load{{Mode: "closed", Depth: 2}}},
		{"held for a time, counts only", []string{"  load:", "  hold: 2ms\n  load:"}, true, []record.Load{{Mode: "closed", Depth: 2}}},
		{"held for a time at a rate", []string{"{closed: 2}", "{open: 1000/s}\n  hold: 2ms"}, true, nil},
	} {
		p := planned(t, edited(t, append(slices.Clone(one), c.edit...)...), PlanOptions{OnlyCounts: c.only})
		var got []record.Load
		for i, tr := range p.Trials {
			if tr.Purpose != record.Capacity {
				continue
			}
			got = append(got, tr.Workload.Load)
			if i != len(got)-1 || tr.Strategy != "beta" || tr.Messages != 50 || !strings.HasSuffix(tr.ID, "/capacity") {
				t.Errorf("%s: trial %d is %s of %d messages; want the baseline's, first", c.name, i, tr.ID, tr.Messages)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: capacity under %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestPlanOptions(t *testing.T) {
	all := planned(t, scenarioText, PlanOptions{Seed: 6})
	counts := planned(t, scenarioText, PlanOptions{Seed: 6, OnlyCounts: true})
	if got, want := ids(counts.Trials), ids(purposes(all.Trials, record.Counting)); !slices.Equal(got, want) {
		t.Errorf("counting trials only:\n%q, want\n%q", got, want)
	}
	more := planned(t, scenarioText, PlanOptions{Seed: 6, Blocks: 9})
	if got := ids(more.Trials)[:len(all.Trials)]; !slices.Equal(got, ids(all.Trials)) {
		t.Error("more blocks change what comes before them")
	}
	if got := len(block(more.Trials, 8)); got != 12+4 || len(block(more.Trials, 9)) != 0 {
		t.Errorf("the ninth block has %d trials", got)
	}
	if all.Estimate() <= counts.Estimate() || more.Estimate() <= all.Estimate() {
		t.Errorf("estimates %s, %s with more blocks, %s for counts", all.Estimate(), more.Estimate(), counts.Estimate())
	}
}

func TestPlanFilter(t *testing.T) {
	for glob, want := range map[string][]string{
		"alpha{chunk=4KiB}":          {"alpha{chunk=4KiB}", "beta"},
		"alpha*":                     {"alpha{chunk=1KiB}", "alpha{chunk=4KiB}", "beta"},
		"*chunk=?KiB}":               {"alpha{chunk=1KiB}", "alpha{chunk=4KiB}", "beta"},
		"beta":                       {"beta"},
		"alpha*1KiB*@*load=*(20000*": {"alpha{chunk=1KiB}", "beta"},
	} {
		p := planned(t, edited(t, "{closed: 2}", "[{closed: 2}, {open: 20000/s}]"), PlanOptions{Filter: glob})
		var labels []string
		for _, c := range p.Cases {
			if !slices.Contains(labels, c.Label) {
				labels = append(labels, c.Label)
			}
		}
		if !slices.Equal(labels, want) {
			t.Errorf("filter %s keeps %q, want %q", glob, labels, want)
		}
		if strings.Contains(glob, "load=") && slices.ContainsFunc(p.Cases, func(c Case) bool { return c.Label != "beta" && !strings.Contains(c.ID, "/s") }) {
			t.Errorf("filter %s keeps cases at other points", glob)
		}
	}
	for _, glob := range []string{"gamma*", "alph", "ALPHA*", "[a-z]*", "alpha.*x"} {
		if _, err := NewPlan(parsed(t, scenarioText), testRegistry(), PlanOptions{Filter: glob}); err == nil || !strings.Contains(err.Error(), glob) {
			t.Errorf("filter %s: error %v", glob, err)
		}
	}
}

func TestPlanBuilds(t *testing.T) {
	p := planned(t, edited(t, "{closed: 2}", "{open: 50%}"), PlanOptions{Builds: []string{"old", "new"}})
	plain := planned(t, edited(t, "{closed: 2}", "{open: 50%}"), PlanOptions{})
	if len(p.Cases) != 2*len(plain.Cases) {
		t.Fatalf("%d cases of two builds, %d of one", len(p.Cases), len(plain.Cases))
	}
	for _, c := range p.Cases {
		if !strings.Contains(c.ID, "["+c.Build+"]@") || c.Baseline != (c.Label == "beta" && c.Build == "old") {
			t.Errorf("case %+v", c.CaseInfo)
		}
	}
	perBlock := map[string]int{}
	for _, tr := range block(p.Trials, 0) {
		perBlock[tr.Build]++
	}
	if perBlock["old"] != 12 || perBlock["new"] != 12 || perBlock[""] != 4 {
		t.Errorf("trials of the first block by build: %v", perBlock)
	}
	for _, tr := range purposes(p.Trials, record.Capacity) {
		if tr.Build != "old" {
			t.Errorf("capacity %s is of build %q", tr.ID, tr.Build)
		}
	}
	if got := slices.Compact(slices.Sorted(slices.Values(ids(p.Trials)))); len(got) != len(p.Trials) {
		t.Error("ids are not unique")
	}
	if only := planned(t, scenarioText, PlanOptions{Builds: []string{"old", "new"}, Filter: "alpha*[new]@*"}); len(only.Cases) != 2*4+4 {
		t.Errorf("filter by build keeps %d cases, want alpha's of one and the baseline's", len(only.Cases))
	}
}
