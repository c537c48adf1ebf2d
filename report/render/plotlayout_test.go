package render

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

func TestSpreadKeepsLabelsApartAndInside(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		slots := make([]slot, 1+rng.IntN(12))
		var total vg.Length
		for i := range slots {
			slots[i] = slot{vg.Length(rng.Float64() * 100), vg.Length(1 + rng.Float64()*15)}
			total += slots[i].height
		}
		hi := max(total, 100)
		got := spread(slots, 0, hi)
		for i := range slots {
			if got[i]-slots[i].height/2 < -1e-6 || got[i]+slots[i].height/2 > hi+1e-6 {
				t.Fatalf("%v of %v leaves 0..%v", got[i], slots[i], hi)
			}
			for k := range i {
				if apart := math.Abs(float64(got[i] - got[k])); apart < float64(slots[i].height+slots[k].height)/2-1e-6 {
					t.Fatalf("labels %v and %v overlap: %v", slots[i], slots[k], apart)
				}
			}
		}
	}
	if got := spread([]slot{{10, 4}, {50, 4}}, 0, 100); got[0] != 10 || got[1] != 50 {
		t.Errorf("labels with room are moved to %v", got)
	}
}

func TestPlacedLabelsAvoidEachOtherAndPoints(t *testing.T) {
	frame := box{Max: vg.Point{X: 300, Y: 200}}
	var labels []pointLabel
	var points []box
	for i := range 6 { // six points close together, one in a corner
		at := vg.Point{X: 150 + vg.Length(i*5), Y: 100 + vg.Length(i%2*6)}
		if i == 5 {
			at = vg.Point{X: 298, Y: 198}
		}
		labels = append(labels, pointLabel{at, vg.Point{X: 60, Y: 14}})
		points = append(points, around(at, at, 4))
	}
	boxes := placeLabels(labels, points, frame)
	for i, b := range boxes {
		if outside(b, frame) > 0 {
			t.Errorf("label %d at %v leaves the frame", i, b)
		}
		for k, o := range boxes[:i] {
			if overlap(b, o) > 0 {
				t.Errorf("labels %d and %d overlap", i, k)
			}
		}
		for k, o := range points {
			if overlap(b, o) > 0 {
				t.Errorf("label %d covers point %d", i, k)
			}
		}
	}
}

func TestDecimateKeepsEndsAndPeaks(t *testing.T) {
	pts := make([]xy, 100_000)
	for i := range pts {
		pts[i] = xy{float64(i), math.Sin(float64(i) / 900)}
	}
	pts[43_211].y, pts[77_002].y = 9, -9
	got := decimate(pts, maxPoints)
	if len(got) > maxPoints+3 || len(got) < maxPoints/4 {
		t.Errorf("%d points, want at most %d", len(got), maxPoints)
	}
	for _, want := range []xy{pts[0], pts[43_211], pts[77_002], pts[len(pts)-1]} {
		if !slices.Contains(got, want) {
			t.Errorf("%v is lost", want)
		}
	}
	if !slices.IsSortedFunc(got, func(a, b xy) int { return int(a.x - b.x) }) {
		t.Error("points change their order")
	}
}

func TestTicksReadWell(t *testing.T) {
	for _, c := range []struct {
		r    axisRange
		n    int
		unit string
		want string
	}{
		{axisRange{1e-5, 1e-3, true}, 3, record.UnitSeconds, "10 us, 100 us, 1 ms"},
		{axisRange{0.1, 10, true}, 3, unitRatio, "0.1x, 1x, 10x"},
		{axisRange{0.93, 1.41, true}, 3, unitRatio, "1.0x, 1.2x, 1.4x"},
		{axisRange{0.99, 1.02, true}, 3, unitRatio, "0.99x, 1.00x, 1.01x, 1.02x"},
		{axisRange{0, 65536, false}, 4, record.UnitBytes, "0, 20 KiB, 40 KiB, 60 KiB"},
		{axisRange{0, 1200, false}, 4, record.UnitPages, "0, 500, 1000"},
		{axisRange{0, 5e-6, false}, 5, record.UnitSeconds, "0, 1 us, 2 us, 3 us, 4 us, 5 us"},
		{axisRange{1e-9, 1e3, true}, 3, record.UnitSeconds, "1 ns, 1 us, 1 ms, 1 s, 1000 s"},
	} {
		var labels []string
		for _, tick := range c.r.ticks(c.n, c.unit) {
			if !tick.IsMinor() {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, ", "); got != c.want {
			t.Errorf("ticks of %+v in %s: %s, want %s", c.r, c.unit, got, c.want)
		}
	}
}

func TestAnyRangeHasTicksThatFit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range 5000 {
		lo := math.Pow(10, rng.Float64()*40-20)
		r := axisRange{lo, lo * math.Pow(10, rng.Float64()*6), rng.IntN(2) == 0}.padded(0.05)
		ticks := r.thin(r.ticks(1+rng.IntN(6), unitRatio), 150)
		var ends []vg.Length
		shown := 0
		for _, tick := range ticks {
			if tick.Value < r.lo*(1-1e-6) || tick.Value > r.hi*(1+1e-6) || math.IsNaN(tick.Value) {
				t.Fatalf("tick %v outside of %v", tick, r)
			}
			if tick.IsMinor() {
				continue
			}
			shown++
			mid, half := vg.Length(r.norm(tick.Value))*150, nameStyle().Width(tick.Label)/2
			if len(ends) > 0 && mid-half < ends[len(ends)-1] {
				t.Fatalf("label %q of %v runs into the one before", tick.Label, r)
			}
			ends = append(ends, mid+half)
		}
		if shown == 0 || len(ticks) > 200 {
			t.Fatalf("%d labels of %d ticks on %+v", shown, len(ticks), r)
		}
	}
}

func TestElisionKeepsNamesApart(t *testing.T) {
	sty := nameStyle()
	base := strings.Repeat("a", 300)
	names := []string{base + "1" + base, base + "2" + base, "ring-fixed{chunk=4KiB}" + baselineSuffix, "short"}
	got := shortNames(sty, names, 90)
	seen := map[string]bool{}
	for i, lines := range got {
		if w := widest(sty, lines); w > 90 {
			t.Errorf("%q is %v wide", lines, w)
		}
		if key := strings.Join(lines, " "); seen[key] {
			t.Errorf("two names read %q", key)
		} else {
			seen[key] = true
		}
		if i == 2 && strings.Join(lines, "|") != "ring-fixed|{chunk=4KiB}|(baseline)" {
			t.Errorf("a baseline breaks as %q", lines)
		}
	}
	if s := elideEnd(sty, "the reason is long and goes on", 80); !strings.HasPrefix(s, "the reason") || !strings.HasSuffix(s, "…") || sty.Width(s) > 80 {
		t.Errorf("a sentence is cut to %q", s)
	}
}

func TestLatencyLinesShowOnlyWhatSamplesSupport(t *testing.T) {
	r := plotReport(plotCases(), "p")
	d := r.Scenarios[0].Points[0].Cases[0].Distributions[0]
	p := pointViews(&r.Scenarios[0])[0]
	l := latencyPanel(p)
	end := l.curves[0].pts[len(l.curves[0].pts)-1]
	last := d.Quantiles[len(d.Quantiles)-1]
	if math.Abs(end.x-percentileX(last.Q)) > 1e-9 || end.y != last.V {
		t.Errorf("the line ends at %v, the data at %v", end, last)
	}
	var at []float64
	for _, s := range l.curves[0].spots {
		at = append(at, math.Round(100*s.x))
	}
	if want := []float64{30, 100, 200, 300}; !slices.EqualFunc(at, want, func(a, b float64) bool { return math.Abs(a-b) <= 2 }) {
		t.Errorf("markers at %v, want near p50, p90, p99, p99.9: %v", at, want)
	}
}

func TestParetoFront(t *testing.T) {
	cell := func(v float64) analyze.Cell { return analyze.Cell{Unit: "1", Median: v} }
	p := pointView{}
	for _, c := range [][2]float64{{1, 9}, {3, 3}, {3, 4}, {9, 1}, {9, 9}, {3, 3}} {
		p.cases = append(p.cases, caseView{Case: &analyze.Case{Cells: map[string]analyze.Cell{paretoX: cell(c[0]), paretoY: cell(c[1])}}})
	}
	var front []bool
	for _, d := range newScatterPanel(p, record.Metric{}, record.Metric{}).dots {
		front = append(front, d.front)
	}
	if want := []bool{true, true, false, true, false, true}; !slices.Equal(front, want) {
		t.Errorf("front %v, want %v", front, want)
	}
}
