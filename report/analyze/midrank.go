package analyze

import (
	"cmp"
	"math"
	"slices"
)

// doubledMidranks returns twice the midrank of each value, which is an integer
// even among ties, and the sum of t^3-t over the groups of t tied values.
func doubledMidranks(x []float64) (ranks []int, ties float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	ranks = make([]int, len(x))
	for i := 0; i < len(order); {
		j := i + 1
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for _, k := range order[i:j] {
			ranks[k] = i + 1 + j // first rank i+1, last rank j
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return ranks, ties
}

// normalUpper is the probability that a standard normal exceeds z.
func normalUpper(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// normalQuantile is the standard normal quantile of p.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// Test is the outcome of a rank test.
type Test struct {
	P       float64 // two-sided
	Less    float64 // one-sided, alternative: the location is below zero (x below y)
	Greater float64 // one-sided, alternative: above
	N       int     // values that entered the ranking
	Exact   bool    // false: normal approximation
}

// untestable is what a test of no data says: nothing.
func untestable() Test { return Test{P: 1, Less: 1, Greater: 1, Exact: true} }

// tails reads the distribution pmf of an integer statistic at t.
func tails(pmf []float64, t int) (below, above float64) {
	for s, p := range pmf {
		if s <= t {
			below += p
		}
		if s >= t {
			above += p
		}
	}
	return math.Min(below, 1), math.Min(above, 1)
}

// normalTest is a rank test by the normal approximation with continuity
// correction c, of a statistic t of the given mean and variance.
func normalTest(t, mean, variance, c float64, n int) Test {
	if variance <= 0 {
		u := untestable()
		u.N, u.Exact = n, false
		return u
	}
	sd := math.Sqrt(variance)
	less := normalUpper(-(t - mean + c) / sd)
	greater := normalUpper((t - mean - c) / sd)
	return Test{P: math.Min(1, 2*math.Min(less, greater)), Less: less, Greater: greater, N: n}
}
