package analyze

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Counting without making the values must agree with making and sorting them.
func TestPairValuesMatchSorting(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		x, y := tied(r, 1+r.IntN(9)), tied(r, 1+r.IntN(9))
		if r.IntN(2) == 0 {
			for i := range x {
				x[i] *= math.Exp(30 * r.NormFloat64())
			}
		}
		var averages, shifts []float64
		sorted := slices.Sorted(slices.Values(x))
		for i, a := range sorted {
			for _, b := range sorted[i:] {
				averages = append(averages, midpoint(a, b))
			}
			for _, b := range y {
				shifts = append(shifts, a-b)
			}
		}
		for _, c := range []struct {
			p    pairValues
			want []float64
		}{{newWalsh(x), averages}, {newDifferences(x, y), shifts}} {
			slices.Sort(c.want)
			if c.p.size() != len(c.want) {
				t.Fatalf("%d values, want %d", c.p.size(), len(c.want))
			}
			for i, w := range c.want {
				if got := ranked(c.p, i+1); got != w {
					t.Fatalf("%v, %v: value %d is %v, want %v", x, y, i+1, got, w)
				}
				below, _ := slices.BinarySearch(c.want, w)
				if got := c.p.below(w); got != below {
					t.Fatalf("%v: %d below %v, want %d", x, got, w, below)
				}
			}
		}
	}
}

func TestFloatsInOrder(t *testing.T) {
	fs := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, 0, math.SmallestNonzeroFloat64, 1, math.Nextafter(1, 2), math.Inf(1)}
	for i, f := range fs {
		if fromOrdinal(ordinal(f)) != f || i > 0 && ordinal(fs[i-1]) >= ordinal(f) {
			t.Errorf("%v is out of order", f)
		}
	}
	if ordinal(math.Copysign(0, -1)) > ordinal(0) {
		t.Error("-0 lies above 0")
	}
}

// The least effort: 1,650 blocks have 1.4 million pairs, which nobody keeps.
func TestLargeSamplesNeedLittleMemory(t *testing.T) {
	x := make([]float64, 1650)
	for i := range x {
		x[i] = float64(i)
	}
	n := testing.AllocsPerRun(1, func() { HodgesLehmann(x, 0.05) })
	if e := HodgesLehmann(x, 0.05); e.Value != 824.5 || !e.HasInterval || n > 50 {
		t.Errorf("%+v after %v allocations", e, n)
	}
}

func TestUntiedMannWhitneyMatchesBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 1000 {
		x, y := make([]float64, 1+r.IntN(6)), make([]float64, 1+r.IntN(6))
		for _, v := range [][]float64{x, y} {
			for i := range v {
				v[i] = r.NormFloat64()
			}
		}
		got := MannWhitney(x, y)
		p, less, greater := bruteMannWhitney(x, y)
		if !near(got.P, p) || !near(got.Less, less) || !near(got.Greater, greater) {
			t.Fatalf("%v | %v: got %+v, want p %v less %v greater %v", x, y, got, p, less, greater)
		}
	}
}
