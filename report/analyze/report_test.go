package analyze

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

func TestHeadlineReadsWell(t *testing.T) {
	s := analyzed(t, fixture.Result())
	const want = "ring-inc against ring-fixed{chunk=64KiB}: wasted bytes 12 B against 61.2 KiB per message; resident buffer pages 0.242x (0.240–0.244); " +
		"p99 latency 1.01x (0.97–1.04), no difference shown; CPU time per message 0.97x (0.93–1.01), no difference shown."
	if s.Headline != want {
		t.Errorf("got  %s\nwant %s", s.Headline, want)
	}
	if s.Points[0].Headline != want {
		t.Errorf("the only point's headline differs: %s", s.Points[0].Headline)
	}
	sweep := analyzed(t, fixture.Sweep())
	for _, want := range []string{"ring-inc against ring-fixed{chunk=64KiB} over 3 points: ", "wasted bytes per message 0.000191x;",
		"p99 latency 0.999x to 1.05x (a difference shown at 1 of 3)", "(no difference shown)."} {
		if !strings.Contains(sweep.Headline, want) {
			t.Errorf("sweep headline lacks %q: %s", want, sweep.Headline)
		}
	}
}

func TestHeadlineOfWhatIsMissing(t *testing.T) {
	res := fixture.New(fixture.Spec{Blocks: 2})
	res.Header.Scenario.Headline.Metrics = []string{"go_allocs", "dtlb_misses", "cpu_per_msg", "nope"}
	h := analyzed(t, res).Headline
	for _, want := range []string{"Go allocations 0 per message on both", "data-TLB misses not measured", "(2 pairs: too few for an interval)"} {
		if !strings.Contains(h, want) {
			t.Errorf("headline lacks %q: %s", want, h)
		}
	}
	res.Header.Scenario.Headline.A = "gone"
	if h := analyzed(t, res).Headline; h != "" {
		t.Errorf("headline about a case that is not there: %s", h)
	}
}

func TestSweepGroupsByPoint(t *testing.T) {
	s := analyzed(t, fixture.Sweep())
	if len(s.Points) != 3 {
		t.Fatalf("%d points", len(s.Points))
	}
	if s.Points[1].Name != "clients 16, load open(80%)" {
		t.Errorf("point name %q", s.Points[1].Name)
	}
	for _, p := range s.Points {
		if len(p.Cases) != 6 || p.Baseline() == nil || p.Baseline().Info.Label != "ring-fixed{chunk=64KiB}" {
			t.Errorf("point %s: %d cases", p.Info.ID, len(p.Cases))
		}
		if e := p.Case("slot").Cells["latency_p50"].Effect; e == nil || e.N != 10 {
			t.Errorf("point %s: effect %+v", p.Info.ID, e)
		}
	}
}

func TestDistributionsMergeTheTrials(t *testing.T) {
	res := fixture.Result()
	var all []int64
	for _, tr := range res.Trials {
		if tr.Trial.Purpose == record.Timing && tr.Trial.Strategy == "slot" {
			h, err := hdrhistogram.Decode([]byte(tr.Record.Histograms["latency"]))
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range h.Distribution() {
				for range b.Count {
					all = append(all, b.From)
				}
			}
		}
	}
	slices.Sort(all)
	d := analyzed(t, res).Points[0].Case("slot").Distribution("latency")
	if d == nil || d.N != int64(len(all)) || d.Trials != 10 || d.Unit != "s" {
		t.Fatalf("distribution %+v", d)
	}
	last := 0.0
	var bars int64
	for _, q := range d.Quantiles {
		// The library rounds the rank to the nearest; three digits are kept.
		rank := int(q.Q * float64(len(all)))
		lo, hi := float64(all[rank-1])*1e-9, float64(all[rank])*1e-9
		if q.V < lo*0.998 || q.V > hi*1.002 {
			t.Errorf("quantile %v is %v, want %v to %v", q.Q, q.V, lo, hi)
		}
		if float64(d.N)*(1-q.Q) < 10-1e-6 || q.V < last {
			t.Errorf("quantile %v of %d samples: too few beyond it, or falling", q.Q, d.N)
		}
		last = q.V
	}
	for _, b := range d.Buckets {
		bars += b.Count
	}
	if bars != d.N || !slices.ContainsFunc(d.Quantiles, func(q Quantile) bool { return near(q.Q, 0.999) }) {
		t.Errorf("bars hold %d of %d samples", bars, d.N)
	}
}

func TestPercentilesAreMediansOfTrials(t *testing.T) {
	res := fixture.Result()
	var p99 []float64
	for _, tr := range res.Trials {
		if tr.Trial.Purpose == record.Timing && tr.Trial.Strategy == "slot" {
			p99 = append(p99, tr.Record.Metrics["latency_p99"].Float64())
		}
	}
	slices.Sort(p99)
	s := analyzed(t, res)
	if c := cellOf(t, s, "slot", "latency_p99"); !near(c.Median, (p99[4]+p99[5])/2) || c.Lo != p99[1] || c.Hi != p99[8] {
		t.Errorf("cell %+v of %v", c, p99)
	}
	// p99.9 of 2000 messages has two samples beyond it: no trial reports it.
	res.Header.Scenario.Metrics = append(res.Header.Scenario.Metrics, "latency_p999")
	if c := cellOf(t, analyzed(t, res), "slot", "latency_p999"); !strings.Contains(c.Unavailable, "fewer than ten of a trial's 2000 messages") {
		t.Errorf("p99.9: %+v", c)
	}
}

func TestBadHistogramsWarn(t *testing.T) {
	for name, text := range map[string]string{"not base64": "%%%", "short": "AAAA", "empty": "", "garbage": strings.Repeat("HISTFAAA", 40)} {
		res := fixture.New(fixture.Spec{Blocks: 2})
		for i := range res.Trials {
			if tr := &res.Trials[i]; tr.Trial.Purpose == record.Timing && tr.Trial.Strategy == "slot" && tr.Trial.Block == 0 {
				tr.Record.Histograms["latency"] = text
			}
		}
		s := analyzed(t, res)
		if ws := warned(s, CodeHistogram); len(ws) != 1 || !strings.Contains(ws[0].Text, "latency cannot be read") {
			t.Errorf("%s: %+v", name, ws)
		}
		if d := s.Points[0].Case("slot").Distribution("latency"); d == nil || d.Trials != 1 {
			t.Errorf("%s: the other trial's histogram is lost: %+v", name, d)
		}
	}
}

func TestSeriesComeFromCountingTrials(t *testing.T) {
	c := analyzed(t, fixture.Result()).Points[0].Case("ring-inc")
	if len(c.Series) != 6 || c.Series[2].Repeat != 2 || c.Series[0].Name != "buffer_pages" || c.Series[0].WarmupEnd == 0 || len(c.Series[0].X) != 60 {
		t.Errorf("%d series", len(c.Series))
	}
}

func TestBuildsKeepApart(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", levels(1, 1)...).add("new", "p", levels(2, 2)...)
	for i, c := range slices.Clone(b.res.Header.Scenario.Cases) {
		c.Build = "B"
		b.res.Header.Scenario.Cases[i].Build = "A"
		b.res.Header.Scenario.Cases = append(b.res.Header.Scenario.Cases, c)
	}
	for _, tr := range slices.Clone(b.res.Trials) {
		v := tr.Record.Metrics["cpu_per_msg"].Float64()
		tr.Trial.Build, tr.Trial.ID = "B", tr.Trial.ID+"b"
		tr.Record.Metrics = map[string]record.Value{"cpu_per_msg": record.Level(v * v * 10)}
		b.res.Trials = append(b.res.Trials, tr)
	}
	for i := range 4 {
		b.res.Trials[i].Trial.Build = "A"
	}
	p := b.analyze(t).Points[0]
	if len(p.Cases) != 4 || p.Cases[3].Name != "new [B]" || p.Cases[1].Name != "new [A]" {
		t.Fatalf("cases %+v", p.Cases)
	}
	for i, want := range map[int]float64{1: 2, 2: 10, 3: 20} {
		if e := p.Cases[i].Cells["cpu_per_msg"].Effect; !near(e.Estimate, want) {
			t.Errorf("%s: effect %v, want %v", p.Cases[i].Name, e.Estimate, want)
		}
	}
}

func TestReportIsFiniteJSON(t *testing.T) {
	rep, err := Analyze(fixture.Result(), fixture.Sweep(), fixture.New(fixture.Spec{Blocks: 1, Repeats: 1}), &record.Result{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(rep); err != nil { // refuses NaN and infinities
		t.Error(err)
	}
	if len(rep.Scenarios) != 4 {
		t.Errorf("%d scenarios", len(rep.Scenarios))
	}
}

func TestExtremeValuesStayFinite(t *testing.T) {
	huge := levels(math.MaxFloat64, math.MaxFloat64, math.MaxFloat64)
	tiny := levels(5e-324, 5e-324, 5e-324)
	b := newMini(timedMetric).add("old", "p", tiny...).add("new", "p", huge...).add("minus", "p", levels(-math.MaxFloat64, 1, 2)...).
		claim(record.Claim{Expect: "less", By: 0.1}).claim(record.Claim{Stat: "diff", Expect: "same", By: 0.1})
	rep, err := Analyze(b.res)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(rep); err != nil {
		t.Error(err)
	}
}
