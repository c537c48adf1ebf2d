package analyze

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// tied draws n values from a handful, so that ties and zeros abound.
func tied(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(r.IntN(7)-3) / 2
	}
	return x
}

// bruteMidrank counts instead of sorting: twice the midrank of v in x.
func bruteMidrank(x []float64, v float64) int {
	r := 1
	for _, w := range x {
		if w < v {
			r += 2
		} else if w == v {
			r++
		}
	}
	return r
}

// bruteSignedRank tries every assignment of signs.
func bruteSignedRank(x []float64) (p, less, greater float64) {
	var a []float64
	var sign []bool
	for _, v := range x {
		if v != 0 {
			a, sign = append(a, math.Abs(v)), append(sign, v > 0)
		}
	}
	seen := 0
	var ranks []int
	for i, v := range a {
		ranks = append(ranks, bruteMidrank(a, v))
		if sign[i] {
			seen += ranks[i]
		}
	}
	var below, above int
	for mask := range 1 << len(a) {
		s := 0
		for i, r := range ranks {
			if mask>>i&1 == 1 {
				s += r
			}
		}
		if s <= seen {
			below++
		}
		if s >= seen {
			above++
		}
	}
	n := float64(int(1) << len(a))
	less, greater = float64(below)/n, float64(above)/n
	return math.Min(1, 2*math.Min(less, greater)), less, greater
}

// bruteMannWhitney tries every choice of which values are x's.
func bruteMannWhitney(x, y []float64) (p, less, greater float64) {
	all := append(slices.Clone(x), y...)
	var ranks []int
	seen := 0
	for i, v := range all {
		ranks = append(ranks, bruteMidrank(all, v))
		if i < len(x) {
			seen += ranks[i]
		}
	}
	mean := len(x) * (len(all) + 1)
	var total, far, below, above float64
	for mask := range 1 << len(all) {
		s, n := 0, 0
		for i, r := range ranks {
			if mask>>i&1 == 1 {
				s, n = s+r, n+1
			}
		}
		if n != len(x) {
			continue
		}
		total++
		if abs(s-mean) >= abs(seen-mean) {
			far++
		}
		if s <= seen {
			below++
		}
		if s >= seen {
			above++
		}
	}
	return far / total, below / total, above / total
}

func TestSignedRankMatchesBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		x := tied(r, 1+r.IntN(10))
		got := SignedRank(x)
		p, less, greater := bruteSignedRank(x)
		if !near(got.P, p) || !near(got.Less, less) || !near(got.Greater, greater) {
			t.Fatalf("%v: got %+v, want p %v less %v greater %v", x, got, p, less, greater)
		}
	}
}

func TestMannWhitneyMatchesBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		x, y := tied(r, 1+r.IntN(6)), tied(r, 1+r.IntN(5))
		got := MannWhitney(x, y)
		p, less, greater := bruteMannWhitney(x, y)
		if !near(got.P, p) || !near(got.Less, less) || !near(got.Greater, greater) {
			t.Fatalf("%v | %v: got %+v, want p %v less %v greater %v", x, y, got, p, less, greater)
		}
	}
}

// The interval and the one-sided p-values must be two views of one decision, at
// every level and for every sample, ties and zeros included.
func TestIntervalAgreesWithP(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	decided := 0
	for range 5000 {
		x := tied(r, 4+r.IntN(9))
		for i := range x {
			x[i] += float64(r.IntN(3))
		}
		m := float64(r.IntN(9)-3) / 4
		alpha := []float64{0.2, 0.1, 0.05, 0.01}[r.IntN(4)]
		e := HodgesLehmann(x, alpha)
		if below := 2*LocationBelow(x, m) <= alpha; below != (e.HasInterval && e.Hi < m) {
			t.Fatalf("%v against %v at %v: p says %v, interval %+v", x, m, alpha, below, e)
		}
		above := 2*LocationAbove(x, m) <= alpha
		if above != (e.HasInterval && e.Lo > m) {
			t.Fatalf("%v against %v at %v: p says %v, interval %+v", x, m, alpha, above, e)
		}
		if above {
			decided++
		}
		// TOST at alpha is the interval at 1-2alpha.
		wide := HodgesLehmann(x, 2*alpha)
		inside := wide.HasInterval && wide.Lo > m-2 && wide.Hi < m+2
		if (Equivalence(x, m-2, m+2) <= alpha) != inside {
			t.Fatalf("%v within %v+-2 at %v: p %v, interval %+v", x, m, alpha, Equivalence(x, m-2, m+2), wide)
		}
	}
	if decided < 100 {
		t.Errorf("only %d cases decided: the test looks at nothing", decided)
	}
}

// Over every assignment of signs to tied magnitudes, a p of at most a must turn
// up in at most a share a of them: ties may cost power, never honesty.
func TestLocationBelowIsValidAmongTies(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		x := tied(r, 1+r.IntN(8))
		ps := make([]float64, 1<<len(x))
		signed := make([]float64, len(x))
		for mask := range ps {
			for i, v := range x {
				signed[i] = math.Abs(v)
				if mask>>i&1 == 1 {
					signed[i] = -signed[i]
				}
			}
			ps[mask] = LocationBelow(signed, 0)
		}
		slices.Sort(ps)
		for i, p := range ps {
			if share := float64(i+1) / float64(len(ps)); (i+1 == len(ps) || ps[i+1] > p) && p < share-1e-12 {
				t.Fatalf("magnitudes of %v: p of at most %v in a share %v of outcomes", x, p, share)
			}
		}
	}
}
