package analyze

import (
	"math"
	"slices"
)

// ExactMannWhitneyMax is the largest number of values of both samples together
// for which MannWhitney is exact; beyond it the normal approximation is used.
const ExactMannWhitneyMax = 100

// MannWhitney is the rank-sum test of x against y, exact for any sizes and
// ties: the null distribution is that of the midranks at hand. Among ties it
// is not symmetric; the two-sided p counts every outcome at least as far from
// the mean as the one observed.
func MannWhitney(x, y []float64) Test { return mannWhitney(x, y, untiedRankSums) }

// mannWhitney takes the null distribution of untied samples of n and m values
// from untied, which may remember it.
func mannWhitney(x, y []float64, untied func(n, m int) []float64) Test {
	if len(x) == 0 || len(y) == 0 {
		return untestable()
	}
	pooled := append(append([]float64(nil), x...), y...)
	ranks, ties := doubledMidranks(pooled)
	w := 0
	for _, r := range ranks[:len(x)] {
		w += r
	}
	n, m, total := float64(len(x)), float64(len(y)), float64(len(pooled))
	if len(pooled) > ExactMannWhitneyMax {
		variance := n * m / 12 * (total + 1 - ties/(total*(total-1)))
		return normalTest(float64(w)/2, n*(total+1)/2, variance, 0.5, len(pooled))
	}
	// The doubled ranks average total+1, so the mean of w is an integer.
	mean := len(x) * (len(pooled) + 1)
	var pmf []float64
	double := 1
	if ties == 0 {
		pmf, double = untied(len(x), len(y)), 2
	} else {
		pmf = rankSumPMF(ranks, len(x))
	}
	t := Test{N: len(pooled), Exact: true}
	t.Less, t.Greater = tails(pmf, w/double)
	for s, p := range pmf {
		if abs(double*s-mean) >= abs(w-mean) {
			t.P += p
		}
	}
	t.P = math.Min(t.P, 1)
	return t
}

// untiedRankSums is the distribution of the sum of n of the ranks 1 to n+m.
func untiedRankSums(n, m int) []float64 {
	ranks := make([]int, n+m)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return rankSumPMF(ranks, n)
}

func abs(i int) int {
	if i < 0 {
		return -i
	}
	return i
}

// rankSumPMF is the distribution of the sum of n of the ranks, every choice
// equally likely.
func rankSumPMF(ranks []int, n int) []float64 {
	ranks = slices.Sorted(slices.Values(ranks))
	least := make([]int, len(ranks)+1) // least[k]: sum of the k smallest
	for i, r := range ranks {
		least[i+1] = least[i] + r
	}
	total := least[len(ranks)]
	// ways[k][s]: choices of k of the ranks seen so far that sum to s.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for i, r := range ranks {
		for k := min(i+1, n); k >= 1; k-- {
			to, from := ways[k], ways[k-1]
			// The k-1 others are among the i ranks before this one.
			most := least[i] - least[i-k+1]
			for s := least[k-1]; s <= most; s++ {
				to[s+r] += from[s]
			}
		}
	}
	var all float64
	for _, w := range ways[n] {
		all += w
	}
	for s := range ways[n] {
		ways[n][s] /= all
	}
	return ways[n]
}
