package analyze

import "math"

// ExactSignedRankMax is the largest number of non-zero values for which
// SignedRank is exact; beyond it the normal approximation is used.
const ExactSignedRankMax = 200

// SignedRank is the Wilcoxon signed-rank test of the location of x against
// zero. Zeros are dropped, ties share midranks, and the null distribution is
// that of the ranks at hand, so it is exact among ties too.
func SignedRank(x []float64) Test {
	var abs []float64
	var positive []bool
	for _, v := range x {
		if v != 0 {
			abs = append(abs, math.Abs(v))
			positive = append(positive, v > 0)
		}
	}
	if len(abs) == 0 {
		return untestable()
	}
	ranks, ties := doubledMidranks(abs)
	t := 0
	for i, r := range ranks {
		if positive[i] {
			t += r
		}
	}
	n := float64(len(ranks))
	if len(ranks) > ExactSignedRankMax {
		variance := n*(n+1)*(2*n+1)/24 - ties/48
		return normalTest(float64(t)/2, n*(n+1)/4, variance, 0.5, len(ranks))
	}
	below, above := tails(signedRankPMF(ranks), t)
	return Test{P: math.Min(1, 2*math.Min(below, above)), Less: below, Greater: above, N: len(ranks), Exact: true}
}

// signedRankPMF is the distribution of the sum of a random subset of ranks,
// each rank taken with probability one half.
func signedRankPMF(ranks []int) []float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	pmf := make([]float64, total+1)
	pmf[0] = 1
	reach := 0
	for _, r := range ranks {
		reach += r
		for s := reach; s >= 0; s-- {
			p := pmf[s] / 2
			if s >= r {
				p += pmf[s-r] / 2
			}
			pmf[s] = p
		}
	}
	return pmf
}

// untiedCDF returns the distribution function of the signed-rank statistic of n
// untied values: the probability of at most t.
func untiedCDF(n int) func(t int) float64 {
	if n > ExactSignedRankMax {
		f := float64(n)
		mean, sd := f*(f+1)/4, math.Sqrt(f*(f+1)*(2*f+1)/24)
		return func(t int) float64 { return normalUpper(-(float64(t) + 0.5 - mean) / sd) }
	}
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	cdf := signedRankPMF(ranks)
	for i := 1; i < len(cdf); i++ {
		cdf[i] += cdf[i-1]
	}
	return func(t int) float64 {
		if t < 0 {
			return 0
		}
		return math.Min(1, cdf[min(t, len(cdf)-1)])
	}
}
