package render

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// drawn are the texts and hovers of a plot of the kind, nil if there is none.
func drawn(t *testing.T, r *analyze.Report, kind string) (texts []string, svg string) {
	t.Helper()
	plots, err := Plots(r, PlotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range plots {
		if p.Kind == kind {
			var b bytes.Buffer
			if err := p.SVG(&b); err != nil {
				t.Fatal(err)
			}
			return checkSVG(t, b.Bytes()), b.String()
		}
	}
	return nil, ""
}

func TestMemoryIsDividedByClients(t *testing.T) {
	cells := map[string]analyze.Cell{
		"buffer_pages_mean": {Unit: "page", Median: 1024}, "page_table_bytes": {Unit: "B", Median: 160 << 10},
		"ring_bytes": {Unit: "B", Median: 0}, "socket_bytes_mean": {Unit: "B", Unavailable: "no netlink here"},
		"socket_bytes_peak": {Unit: "B", Median: 32 << 10}, "pinned_bytes": {Unit: "B", Median: 16 << 10},
		"kernel_bytes_per_client": {Unit: "B", Median: 5 << 10},
	}
	m := memoryOf(&analyze.Case{Cells: cells}, 16, 4096)
	want := []float64{256 << 10, 10 << 10, 0, 2 << 10}
	for i, p := range m.parts {
		if p.bytes != want[i] || p.why != "" {
			t.Errorf("%s: %v (%s), want %v", p.name, p.bytes, p.why, want[i])
		}
	}
	if m.total != 268<<10 || m.pinned.bytes != 1<<10 || m.objects.bytes != 5<<10 || !m.whole() {
		t.Errorf("together %v, pinned %v, kernel objects %v", m.total, m.pinned.bytes, m.objects.bytes)
	}
	for name, c := range map[string]struct {
		case_ analyze.Case
		page  float64
		why   string
	}{
		"no page size": {analyze.Case{Cells: cells}, 0, "page size"},
		"no cell":      {analyze.Case{}, 4096, "no trial reports"},
		"skipped":      {analyze.Case{Cells: cells, Skip: &record.Skip{}}, 4096, "not measured"},
		"not finite":   {analyze.Case{Cells: map[string]analyze.Cell{"buffer_pages_mean": {Unit: "page", Median: math.NaN()}}}, 4096, "usable"},
	} {
		if m := memoryOf(&c.case_, 16, c.page); m.whole() || !strings.Contains(m.parts[0].why, c.why) {
			t.Errorf("%s: whole %v, reason %q", name, m.whole(), m.parts[0].why)
		}
	}
}

func TestMemoryPlotTellsEveryPart(t *testing.T) {
	res := fixture.Result()
	for i := range res.Trials {
		r := &res.Trials[i].Record
		if res.Trials[i].Trial.Strategy == "heap" && r.Metrics["socket_bytes_mean"].Float != nil {
			delete(r.Metrics, "socket_bytes_mean")
			r.Unavailable = map[string]string{"socket_bytes_mean": "sock_diag refused"}
		}
	}
	rep := reportOf(t, res)
	texts, svg := drawn(t, rep, PlotMemory)
	slot := rep.Scenarios[0].Points[0].Case("slot")
	m := memoryOf(slot, 16, 4096)
	for _, want := range []string{
		"bytes for each of 16 clients", "page tables 4.5 KiB", "rings 256 B", "pinned 256 B", "sockets n/a", "together",
	} {
		found := slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, want) })
		if want == "together" {
			sum := 0.0
			for _, p := range m.parts {
				sum += p.bytes
			}
			found = sum == m.total && slices.Contains(texts, "40.5 KiB")
		}
		if !found {
			t.Errorf("no text %q in %q", want, texts)
		}
	}
	all := strings.Join(texts, " ")
	if !strings.Contains(all, "sockets unavailable, sock_diag refused") || !strings.Contains(all, "heap") || !slices.ContainsFunc(texts, func(s string) bool { return strings.HasPrefix(s, "≥ ") }) {
		t.Errorf("an unavailable part is not said: %q", texts)
	}
	if !strings.Contains(svg, "<title>slot: page tables 4.5 KiB for each client</title>") {
		t.Error("hovering a part of a bar tells nothing")
	}
}

func TestPlotsOfReceivesNeedTheirData(t *testing.T) {
	r := plotReport(plotCases(), "p") // without clients and fairness
	if texts, _ := drawn(t, r, PlotMemory); texts != nil {
		t.Errorf("memory by client without clients: %q", texts)
	}
	if texts, _ := drawn(t, r, PlotStarvation); texts != nil {
		t.Errorf("starvation without quiet clients: %q", texts)
	}
	r.Scenarios[0].Info.Headline.Plot = PlotStarvation
	if texts, _ := drawn(t, r, PlotStarvation); !strings.Contains(strings.Join(texts, " "), "No latency of quiet and busy clients") {
		t.Errorf("the plot the scenario asks for does not say why it is empty: %q", texts)
	}
}

func TestPostsGetNoPlotsOfReceives(t *testing.T) {
	r := alter(func(c *analyze.Case, _ int) { c.Series, c.Distributions = nil, nil })
	p := &r.Scenarios[0].Points[0]
	p.Info.Workload.Kind = "rdma-post-send"
	for i := range p.Cases {
		delete(p.Cases[i].Cells, paretoX)
	}
	plots, err := Plots(r, PlotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pl := range plots {
		if pl.Kind != PlotEffects && pl.Kind != PlotWaste {
			t.Errorf("posts get a plot of %s", pl.Kind)
		}
	}
	if len(plots) == 0 {
		t.Error("no plot at all")
	}
}

func TestStarvationPlotSetsQuietBesideBusy(t *testing.T) {
	rep := reportOf(t, fixture.Shared())
	texts, svg := drawn(t, rep, PlotStarvation)
	p := &rep.Scenarios[0].Points[0]
	c := p.Case("ring-fixed{group=shared}")
	ratio := c.Cells[quietP99].Median / c.Cells[busyP99].Median
	if ratio < 5 || !slices.ContainsFunc(texts, func(s string) bool { return strings.HasSuffix(s, "x") && strings.HasPrefix(s, "19") }) {
		t.Errorf("the quiet clients' wait of %.1fx is not told: %q", ratio, texts)
	}
	for _, want := range []string{"quiet clients", "busy clients", "starved receives per message", "quiet 0.44, all 0.143", "quiet 0, all 0"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q", want)
		}
	}
	for _, want := range []string{"p99 of quiet clients", "median of busy clients", "0.44 receives refused per message sent to quiet clients", "0.143 receives refused per message of all clients"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no hover tells %q", want)
		}
	}
}

func TestWastePlotHasABarForEachCost(t *testing.T) {
	texts, svg := drawn(t, reportOf(t, fixture.Result()), PlotWaste)
	for _, want := range []string{"wasted bytes per message", "copied bytes per message", "receives per message", "61.2 KiB", "600 B"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q in %q", want, texts)
		}
	}
	if !strings.Contains(svg, "<title>ring-inc: 12 B per message</title>") {
		t.Error("hovering a bar tells nothing")
	}
}

func TestResidencyOfWideSpanIsLogarithmic(t *testing.T) {
	for name, c := range map[string]struct {
		ends []float64
		ys   []float64
		log  bool
	}{
		"near":       {[]float64{300, 1000}, []float64{0, 1, 300, 1000}, false},
		"wide":       {[]float64{3, 40000}, []float64{0, 1, 3, 40000}, true},
		"zero":       {[]float64{0, 1000}, []float64{0, 1000}, false},
		"zeros, too": {[]float64{0, 5, 1000}, []float64{0, 5, 1000}, true},
		"one":        {[]float64{7}, []float64{0, 7}, false},
		"none":       {nil, []float64{0}, false},
	} {
		r := levelRange(c.ys, c.ends)
		if r.log != c.log || !(r.hi > r.lo) || (!c.log && r.lo != 0) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	cases := plotCases()
	cases[0].pages, cases[3].pages = 90_000, 12
	texts, _ := drawn(t, plotReport(cases, "p"), PlotResidency)
	if !slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, "log scale") }) || !slices.Contains(texts, "100k") || !slices.Contains(texts, "10") {
		t.Errorf("no logarithmic axis: %q", texts)
	}
}

func TestTenThousandSamplesKeepTheirPeak(t *testing.T) {
	r := longSeries(10_000)
	s := &r.Scenarios[0].Points[0].Cases[5].Series[0]
	s.Y[6543] = 2_000 // one sample, above everything
	plots, err := Plots(r, PlotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	l := plots[0].pic.panels[0].(*linePanel)
	for _, cv := range l.curves {
		pts := decimate(cv.pts, pointsFor(500))
		if len(pts) > 620 {
			t.Errorf("%s keeps %d points", cv.name, len(pts))
		}
		if cv.name == r.Scenarios[0].Points[0].Cases[5].Name && !slices.Contains(pts, xy{6543, 2000}) {
			t.Error("the peak is lost")
		}
	}
}

func TestDensityKeepsTheSamples(t *testing.T) {
	d := &analyze.Distribution{N: 1000, Buckets: []analyze.Bucket{{From: 0, To: 1e-9, Count: 3}, {From: 1e-6, To: 1.1e-6, Count: 400}, {From: 2e-6, To: 5e-6, Count: 597}}}
	lo, hi := coreOf(d)
	if lo <= 0 || hi != 5e-6 {
		t.Errorf("core %g to %g", lo, hi)
	}
	x := axisRange{lo: 5e-7, hi: 1e-5, log: true}
	got := densityOf(d, x)
	sum, peak := 0.0, 0.0
	for _, v := range got {
		sum, peak = sum+v, math.Max(peak, v)
	}
	if peak != 1 {
		t.Errorf("peak %g", peak)
	}
	narrow, wide := 0.0, 0.0
	for k, v := range got {
		if at := x.lo * math.Pow(x.hi/x.lo, (float64(k)+0.5)/ridgeBins); at < 1.5e-6 {
			narrow += v
		} else {
			wide += v
		}
	}
	if r := wide / narrow; math.Abs(r-597.0/400) > 0.02 {
		t.Errorf("shares of the two groups are as %.3f, want %.3f", r, 597.0/400)
	}
}
