package harness

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

func TestMostClients(t *testing.T) {
	most := edited(t, "clients: [1, 4]", "clients: {most: 500}", "[{fixed: 64}, {fixed: 512}]", "{fixed: 64}")
	listed := edited(t, "clients: [1, 4]", "clients: [4, {most: 500}]", "[{fixed: 64}, {fixed: 512}]", "{fixed: 64}")
	for _, c := range []struct {
		text    string
		limit   int
		clients []int
		ids     []string
		notes   int
	}{
		{most, 0, []int{500}, []string{""}, 0},
		{most, 500, []int{500}, []string{""}, 0},
		{most, 499, []int{499}, []string{"clients=499"}, 1},
		{listed, 0, []int{4, 500}, []string{"clients=4", "clients=most(500)"}, 0},
		{listed, 60, []int{4, 60}, []string{"clients=4", "clients=60"}, 1},
	} {
		p := planned(t, c.text, PlanOptions{MaxClients: c.limit})
		if len(p.Points) != len(c.ids) || len(p.Notes) != c.notes {
			t.Fatalf("limit %d: points %+v, notes %q", c.limit, p.Points, p.Notes)
		}
		for i, pt := range p.Points {
			if pt.ID != c.ids[i] || pt.Workload.Clients != c.clients[i] {
				t.Errorf("limit %d: point %q of %d clients, want %q of %d", c.limit, pt.ID, pt.Workload.Clients, c.ids[i], c.clients[i])
			}
		}
		for _, n := range p.Notes {
			if !strings.Contains(n, "in place of 500") || !strings.Contains(n, "prlimit") {
				t.Errorf("note %q", n)
			}
		}
	}
}

// A plain number is refused where the machine does not allow it, and only when it
// is to be run.
func TestTooManyClients(t *testing.T) {
	text := edited(t, "clients: [1, 4]", "clients: [1, 9000]")
	planned(t, text, PlanOptions{})
	planned(t, text, PlanOptions{MaxClients: 9000})
	_, err := NewPlan(parsed(t, text), testRegistry(), PlanOptions{MaxClients: 8999})
	if err == nil || !strings.HasPrefix(err.Error(), "t.yaml:7:16: ") || !strings.Contains(err.Error(), "prlimit --pid") || !strings.Contains(err.Error(), "{most: 9000}") {
		t.Errorf("error %v", err)
	}
	if n := MaxClients(); n < 1 || load.NeedFiles(min(n, 1<<20)) != nil {
		t.Errorf("%d clients are allowed, and cannot be had", n)
	}
}

// The axes reach the workload, and name the point where they vary.
func TestTransportAndTrafficPoints(t *testing.T) {
	p := planned(t, edited(t, "[1, 4]", "4", "[{fixed: 64}, {fixed: 512}]", "{fixed: 64}",
		"  load:", "  transport: [tcp, unix, udp]\n  traffic: [even, {quiet: 75%, share: 2%}, {quiet: 50%, share: 0}]\n  load:"), PlanOptions{})
	want := map[string]record.Workload{
		"traffic=even,transport=tcp":           {Transport: "tcp"},
		"traffic=even,transport=udp":           {Transport: "udp"},
		"traffic=quiet(75%,2%),transport=unix": {Transport: "unix", QuietShare: .75, QuietTraffic: .02},
		"traffic=quiet(50%,0%),transport=udp":  {Transport: "udp", QuietShare: .5},
	}
	if len(p.Points) != 9 {
		t.Errorf("%d points", len(p.Points))
	}
	for _, pt := range p.Points {
		w, w2 := want[pt.ID], pt.Workload
		delete(want, pt.ID)
		if w.Transport != "" && (w2.Transport != w.Transport || w2.QuietShare != w.QuietShare || w2.QuietTraffic != w.QuietTraffic) {
			t.Errorf("%s: %+v", pt.ID, w2)
		}
	}
	if len(want) > 0 {
		t.Errorf("no points %v", want)
	}
	for _, tr := range p.Trials {
		if tr.Warmup != load.WarmupMessages(tr.Workload) {
			t.Errorf("%s: warm-up of %d", tr.ID, tr.Warmup)
		}
	}
}

// untimed is scenarioText without timing trials.
func untimed(t *testing.T, more ...string) string {
	return edited(t, append([]string{
		"blocks: 6,", "blocks: 0,", "metrics: [latency_p50, go_allocs]", "metrics: [go_allocs]", "  metrics: [latency_p50]", "  metrics: [wasted_bytes]",
		"metric: latency_p50", "metric: wasted_bytes", "{blocks: 1}", "{messages: 9}",
	}, more...)...)
}

func TestUntimedPlan(t *testing.T) {
	p := planned(t, untimed(t), PlanOptions{})
	if got, want := len(p.Trials), 12+2*12; got != want || len(purposes(p.Trials, record.Verify, record.Counting)) != want {
		t.Errorf("%d trials, want %d to verify and count", got, want)
	}
	if d := p.Estimate(); d <= 0 || d >= planned(t, scenarioText, PlanOptions{}).Estimate() {
		t.Errorf("about %s", d)
	}
	// A rate that is a share of the capacity is still needed to verify under it.
	open := planned(t, untimed(t, "{closed: 2}", "{open: 50%}"), PlanOptions{})
	if n := len(purposes(open.Trials, record.Capacity)); n != 4 {
		t.Errorf("%d capacities of 4 points", n)
	}
	for _, c := range []struct {
		old, new, at, says string
		o                  PlanOptions
	}{
		{"metrics: [go_allocs]", "metrics: [go_allocs, latency_p50]", "t.yaml:17:22", "metric latency_p50 comes from timing trials", PlanOptions{}},
		{"  metrics: [wasted_bytes]", "  metrics: [cpu_per_msg]", "t.yaml:21:13", "metric cpu_per_msg comes from timing trials", PlanOptions{}},
		{"metric: wasted_bytes", "metric: page_table_bytes", "t.yaml:25:13", "page_table_bytes is not exact", PlanOptions{}},
		{"metric: wasted_bytes", "metric: messages_per_s", "t.yaml:25:13", "is not exact", PlanOptions{}},
		{"  metrics: [wasted_bytes]", "  metrics: [wasted_bytes]\n  plot: pareto", "t.yaml:22:9", "plot pareto shows times", PlanOptions{}},
		{"name: t\n", "name: t\n", "t.yaml:16:19", "nothing to do 3 times", PlanOptions{Blocks: 3}},
	} {
		text := untimed(t)
		if strings.Count(text, c.old) != 1 {
			t.Fatalf("%q is %d times in the scenario", c.old, strings.Count(text, c.old))
		}
		_, err := NewPlan(parsed(t, strings.Replace(text, c.old, c.new, 1)), testRegistry(), c.o)
		if err == nil || !strings.HasPrefix(err.Error(), c.at+": ") || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %s: %s", c.new, err, c.at, c.says)
		}
	}
}
