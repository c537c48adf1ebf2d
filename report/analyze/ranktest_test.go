package analyze

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSmallestReachableP(t *testing.T) {
	rising := func(from, n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(from + i)
		}
		return x
	}
	for _, c := range []struct {
		got, want float64
		what      string
	}{
		{SignedRank(rising(1, 5)).P, 0.0625, "signed-rank n=5"},
		{SignedRank(rising(1, 6)).P, 0.03125, "signed-rank n=6"},
		{SignedRank(rising(1, 10)).P, 0.001953125, "signed-rank n=10"},
		{MannWhitney(rising(1, 4), rising(9, 4)).P, 2.0 / 70, "Mann-Whitney 4+4"},
		{MannWhitney(rising(1, 5), rising(9, 5)).P, 2.0 / 252, "Mann-Whitney 5+5"},
	} {
		if !near(c.got, c.want) {
			t.Errorf("%s: p %v, want %v", c.what, c.got, c.want)
		}
	}
}

func TestConstantNewSideIsADifference(t *testing.T) {
	p := MannWhitney([]float64{7, 7, 7, 7, 7}, []float64{10, 10, 10, 10, 10.01}).P
	if !near(p, 2.0/252) {
		t.Errorf("p %v, want %v", p, 2.0/252)
	}
	if p := MannWhitney([]float64{3, 3, 3}, []float64{3, 3}).P; p != 1 {
		t.Errorf("identical values: p %v, want 1", p)
	}
}

func TestNothingToTest(t *testing.T) {
	for _, x := range [][]float64{nil, {0}, {0, 0, 0}} {
		if got := SignedRank(x); got.P != 1 || got.N != 0 {
			t.Errorf("%v: %+v", x, got)
		}
	}
	if got := MannWhitney(nil, []float64{1}); got.P != 1 {
		t.Errorf("empty side: %+v", got)
	}
	if e := HodgesLehmann(nil, 0.05); !math.IsNaN(e.Value) || e.HasInterval {
		t.Errorf("no values: %+v", e)
	}
}

// Beyond the limit the approximation must be continuous with the exact test.
func TestNormalApproximationIsClose(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 5 {
		x := make([]float64, ExactSignedRankMax+1)
		for i := range x {
			x[i] = math.Round(10*(r.NormFloat64()+0.12)) / 10
			if x[i] == 0 {
				x[i] = 0.1
			}
		}
		approx, exact := SignedRank(x), SignedRank(x[1:])
		if approx.Exact || !exact.Exact {
			t.Fatalf("exactness: %v %v", approx.Exact, exact.Exact)
		}
		if math.Abs(approx.P-exact.P) > 0.05 {
			t.Errorf("approximate %v far from exact %v of one value fewer", approx.P, exact.P)
		}
		a, e := MannWhitney(x[:51], x[51:101]), MannWhitney(x[:50], x[51:101])
		if a.Exact || !e.Exact || math.Abs(a.P-e.P) > 0.1 {
			t.Errorf("Mann-Whitney: approximate %+v, exact of one value fewer %+v", a, e)
		}
	}
}

func TestNormalApproximationFigures(t *testing.T) {
	// By hand: n = 201 untied, all positive: t = 20301, mean 10150.5, variance
	// 201*202*403/24, z = 10150/sqrt(variance).
	x := make([]float64, 201)
	for i := range x {
		x[i] = float64(i + 1)
	}
	z := 10150 / math.Sqrt(201.0*202*403/24)
	if got, want := SignedRank(x).P, math.Erfc(z/math.Sqrt2); math.Abs(got/want-1) > 1e-9 {
		t.Errorf("p %v, want %v", got, want)
	}
}

func TestMedianInterval(t *testing.T) {
	x := []float64{6, 1, 5, 2, 4, 3}
	e := MedianInterval(x, 0.05)
	if !e.HasInterval || e.Lo != 1 || e.Hi != 6 || e.Value != 3.5 || e.Level != 1-2.0/64 {
		t.Errorf("six values: %+v", e)
	}
	if e := MedianInterval(x[:5], 0.05); e.HasInterval || e.Value != 4 {
		t.Errorf("five values: %+v, want the median without an interval", e)
	}
	ten := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if e := MedianInterval(ten, 0.05); e.Lo != 2 || e.Hi != 9 || !near(e.Level, 1-22.0/1024) {
		t.Errorf("ten values: %+v", e)
	}
	if x[0] != 6 {
		t.Error("the caller's slice was sorted")
	}
	big := make([]float64, 2001)
	for i := range big {
		big[i] = float64(i)
	}
	if e := MedianInterval(big, 0.05); !e.HasInterval || e.Lo < 950 || e.Lo > 960 {
		t.Errorf("2001 values: %+v", e)
	}
}

func TestHodgesLehmannKeepsZeros(t *testing.T) {
	x := []float64{0, 0, 0, 0, 0, 0, 0, 1}
	if e := HodgesLehmann(x, 0.05); e.Value != 0 || !e.HasInterval || e.Lo != 0 {
		t.Errorf("mostly zeros: %+v", e)
	}
	if p := SignedRank(x).P; p != 1 {
		t.Errorf("one value left after dropping zeros: p %v", p)
	}
	same := HodgesLehmann([]float64{2, 2, 2, 2, 2, 2}, 0.05)
	if same.Value != 2 || same.Lo != 2 || same.Hi != 2 {
		t.Errorf("identical values: %+v", same)
	}
}

func TestMinBlocks(t *testing.T) {
	for _, c := range []struct {
		m, want int
	}{{0, 1}, {1, 6}, {3, 7}, {4, 8}, {6, 8}, {7, 9}, {25, 10}, {26, 11}} {
		if got := MinBlocks(c.m, 0.05); got != c.want {
			t.Errorf("%d claims: %d blocks, want %d", c.m, got, c.want)
		}
	}
	if CanDecide(5, 1, 0.05) || !CanDecide(6, 1, 0.05) || !CanDecide(1, 0, 0.05) {
		t.Error("CanDecide disagrees with MinBlocks")
	}
}

func TestQuantileEdges(t *testing.T) {
	if got := Quantile7([]float64{3, 1, 2}, 0); got != 1 {
		t.Errorf("q 0 is %v, want the minimum", got)
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		if got := Quantile7([]float64{1}, q); !math.IsNaN(got) {
			t.Errorf("q %v is %v, want NaN", q, got)
		}
	}
	if !math.IsNaN(Median(nil)) || !math.IsNaN(StandardDeviation([]float64{1})) {
		t.Error("an empty sample must give NaN")
	}
	if got := StandardDeviation([]float64{1, 2, 3, 4}); !near(got, math.Sqrt(5.0/3)) {
		t.Errorf("standard deviation %v is not the sample's", got)
	}
}
