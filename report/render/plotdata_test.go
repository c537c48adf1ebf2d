package render

import (
	"math"
	"math/rand/v2"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

// plotCase is a case of a hand-made report.
type plotCase struct {
	name          string
	latency       float64 // median, s
	spread        float64
	pages, cpu    float64
	wasted        float64
	noLatency     bool
	noSeries      bool
	effectsAbsent string
}

// plotCases are named as a real run's.
func plotCases() []plotCase {
	return []plotCase{
		{name: "ring-fixed{chunk=4KiB}", latency: 38e-6, spread: 0.5, pages: 1024, cpu: 5.1e-6, wasted: 1843.2},
		{name: "ring-fixed{chunk=64KiB}", latency: 33e-6, spread: 0.5, pages: 998, cpu: 4.2e-6, wasted: 62668.8},
		{name: "ring-inc", latency: 33.5e-6, spread: 0.5, pages: 310, cpu: 4.1e-6, wasted: 12},
		{name: "slot", latency: 31e-6, spread: 0.45, pages: 128, cpu: 4.4e-6},
		{name: "heap", latency: 44e-6, spread: 0.8, pages: 402, cpu: 6.3e-6, noSeries: true, effectsAbsent: "the allocator hides its pages"},
		{name: "epoll-read", latency: 36e-6, spread: 0.6, pages: 96, cpu: 5.6e-6, noLatency: true},
	}
}

// plotReport builds a report of the cases at each of the named points; the
// second case is the baseline.
func plotReport(cases []plotCase, points ...string) *analyze.Report {
	s := analyze.Scenario{
		Info:    record.ScenarioInfo{Name: "uring", Title: "Fixed or incremental?", Question: "Which holds fewer pages?"},
		Metrics: plotMetrics(), Columns: []string{"latency_p50", "latency_p99", "cpu_per_msg", "wasted_bytes", "buffer_pages_mean"},
		Headline: "Incremental consumption holds 0.31x the pages.",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range points {
		p := analyze.Point{Name: name}
		for i, c := range cases {
			p.Cases = append(p.Cases, makeCase(rng, c, cases[min(1, len(cases)-1)], i == min(1, len(cases)-1)))
		}
		s.Points = append(s.Points, p)
	}
	return &analyze.Report{Scenarios: []analyze.Scenario{s}}
}

func plotMetrics() []record.Metric {
	return []record.Metric{
		{Name: "latency_p50", Unit: "s", Better: record.Lower, Kind: record.Histogram},
		{Name: "latency_p99", Unit: "s", Better: record.Lower, Kind: record.Histogram},
		{Name: "cpu_per_msg", Unit: "s", Per: "msg", Better: record.Lower, Kind: record.Sampled},
		{Name: "wasted_bytes", Unit: "B", Per: "msg", Better: record.Lower, Kind: record.Exact},
		{Name: "buffer_pages_mean", Unit: "page", Better: record.Lower, Kind: record.Sampled},
	}
}

func makeCase(rng *rand.Rand, c, base plotCase, isBase bool) analyze.Case {
	out := analyze.Case{Name: c.name, Info: record.CaseInfo{Label: c.name, Baseline: isBase}, Cells: map[string]analyze.Cell{}}
	vals := func(c plotCase) map[string]float64 {
		return map[string]float64{"latency_p50": c.latency, "latency_p99": c.latency * math.Exp(2.33*c.spread),
			"cpu_per_msg": c.cpu, "wasted_bytes": c.wasted, "buffer_pages_mean": c.pages}
	}
	own, other := vals(c), vals(base)
	for _, m := range plotMetrics() {
		v := own[m.Name]
		cell := analyze.Cell{Metric: m.Name, Unit: m.Unit, Per: m.Per, Median: v, Lo: v * 0.97, Hi: v * 1.02, HasInterval: true, Level: 0.95, N: 10}
		switch {
		case c.effectsAbsent != "" && m.Name == "buffer_pages_mean":
			cell = analyze.Cell{Metric: m.Name, Unit: m.Unit, Unavailable: c.effectsAbsent}
		case isBase:
		case v == 0 || other[m.Name] == 0:
			cell.Effect = &analyze.Effect{Stat: analyze.Diff, Estimate: v - other[m.Name], Zero: true, N: 10}
		case m.Kind == record.Exact:
			cell.Effect = &analyze.Effect{Stat: analyze.Ratio, Estimate: v / other[m.Name], Exact: true, N: 3}
		default:
			r := v / other[m.Name]
			cell.Effect = &analyze.Effect{Stat: analyze.Ratio, Estimate: r, HasInterval: true, Lo: r * 0.96, Hi: r * 1.035, Level: 0.95, P: .01, N: 10}
		}
		out.Cells[m.Name] = cell
	}
	if !c.noLatency {
		out.Distributions = []analyze.Distribution{latencyOf(c)}
	}
	if !c.noSeries {
		for i := range 3 {
			out.Series = append(out.Series, seriesOf(rng, c, i))
		}
	}
	return out
}

func latencyOf(c plotCase) analyze.Distribution {
	d := analyze.Distribution{Name: "latency", Unit: "s", N: 20000, Trials: 10}
	for x := 0.0; x <= 3.3; x += 0.02 {
		q := 1 - math.Pow(10, -x)
		d.Quantiles = append(d.Quantiles, analyze.Quantile{Q: q, V: c.latency * math.Exp(c.spread*math.Sqrt2*math.Erfinv(2*math.Max(q, 1e-3)-1))})
	}
	return d
}

func seriesOf(rng *rand.Rand, c plotCase, repeat int) analyze.Series {
	s := analyze.Series{Name: "buffer_pages", Unit: "page", Repeat: repeat, WarmupEnd: 1000}
	for i := range 200 {
		s.X = append(s.X, int64(i*25))
		s.Y = append(s.Y, int64(c.pages*(1-math.Exp(-float64(i)/25))*(1+0.01*rng.NormFloat64())))
	}
	return s
}
