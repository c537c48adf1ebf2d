package analyze

import (
	"math"
	"slices"
)

// Estimate is a Hodges-Lehmann estimate and its exact interval.
type Estimate struct {
	Value float64
	// HasInterval is false when the sample is too small for the confidence asked.
	HasInterval bool
	Lo, Hi      float64
	Level       float64 // confidence the interval really has, at least the one asked
}

// sortedMedian is the median of values that rise.
func sortedMedian(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	h := len(v) / 2
	if len(v)%2 == 1 {
		return v[h]
	}
	return v[h-1] + (v[h]-v[h-1])/2
}

// HodgesLehmann estimates the location of x: the median of its Walsh averages,
// with the interval that inverts the exact signed-rank test at error level
// alpha. Zeros are kept. Ties only widen it.
func HodgesLehmann(x []float64, alpha float64) Estimate {
	return pairEstimate(newWalsh(x), alpha, untiedCDF(len(x)))
}

// intervalIndex finds the largest k for which the k-th smallest and k-th
// largest of m ordered values still cover at confidence 1-alpha, cdf being the
// null distribution of the statistic they invert. k is 0 when none does.
func intervalIndex(m int, alpha float64, cdf func(t int) float64) (k int, level float64) {
	// cdf rises, so bisect for the first k that asks too much.
	lo, hi := 0, (m+1)/2+1
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if 2*cdf(mid-1) <= alpha {
			lo = mid
		} else {
			hi = mid
		}
	}
	if lo == 0 || 2*lo > m+1 {
		return 0, 0
	}
	return lo, 1 - 2*cdf(lo-1)
}

// HodgesLehmannShift estimates the shift of x against y: the median of all
// differences x-y, with the interval that inverts the exact rank-sum test.
func HodgesLehmannShift(x, y []float64, alpha float64) Estimate {
	if len(x) == 0 || len(y) == 0 {
		return Estimate{Value: math.NaN()}
	}
	return pairEstimate(newDifferences(x, y), alpha, mannWhitneyCDF(len(x), len(y), untiedRankSums))
}

// mannWhitneyCDF is the distribution function of the untied Mann-Whitney count
// of samples of n and m values.
func mannWhitneyCDF(n, m int, untied func(n, m int) []float64) func(u int) float64 {
	if n+m > ExactMannWhitneyMax {
		mean, sd := float64(n*m)/2, math.Sqrt(float64(n*m)*float64(n+m+1)/12)
		return func(u int) float64 { return normalUpper(-(float64(u) + 0.5 - mean) / sd) }
	}
	cdf := slices.Clone(untied(n, m))
	for i := 1; i < len(cdf); i++ {
		cdf[i] += cdf[i-1]
	}
	least := n * (n + 1) / 2
	return func(u int) float64 {
		if u < 0 {
			return 0
		}
		return math.Min(1, cdf[min(u+least, len(cdf)-1)])
	}
}

// MedianInterval is the median of x and the exact, distribution-free interval
// that inverts the sign test (order statistics).
func MedianInterval(x []float64, alpha float64) Estimate {
	s := slices.Clone(x)
	slices.Sort(s)
	e := Estimate{Value: sortedMedian(s)}
	k, level := intervalIndex(len(s), alpha, func(t int) float64 { return binomialHalfCDF(t, len(s)) })
	if k > 0 {
		e.HasInterval, e.Lo, e.Hi, e.Level = true, s[k-1], s[len(s)-k], level
	}
	return e
}

// binomialHalfCDF is the probability of at most t heads in n fair tosses; it
// is approximated beyond 1000 tosses, where 2^-n nears the smallest float.
func binomialHalfCDF(t, n int) float64 {
	if n > 1000 {
		return normalUpper(-(float64(t) + 0.5 - float64(n)/2) / (math.Sqrt(float64(n)) / 2))
	}
	term := math.Ldexp(1, -n)
	var sum float64
	for k := 0; k <= t && k <= n; k++ {
		sum += term
		term *= float64(n-k) / float64(k+1)
	}
	return math.Min(sum, 1)
}

// LocationBelow is the one-sided exact p that the location of x is below m: the
// smallest alpha/2 at which the HodgesLehmann interval ends below m. It counts
// Walsh averages against the untied distribution, so interval and p always
// agree; ties make it larger, never smaller.
func LocationBelow(x []float64, m float64) float64 {
	w := newWalsh(x)
	return untiedCDF(len(x))(w.size() - w.below(m))
}

// LocationAbove is LocationBelow on the other side.
func LocationAbove(x []float64, m float64) float64 {
	neg := make([]float64, len(x))
	for i, v := range x {
		neg[i] = -v
	}
	return LocationBelow(neg, -m)
}

// Equivalence is the p of two one-sided tests: that the location of x lies
// within (lo, hi). It is at most alpha iff the interval at 1-2alpha does.
func Equivalence(x []float64, lo, hi float64) float64 {
	return math.Max(LocationBelow(x, hi), LocationAbove(x, lo))
}
