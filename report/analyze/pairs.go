package analyze

import (
	"math"
	"slices"
)

// pairValues are the values of all pairs of a sample, or of two, in a form that
// counts them without making them: a run of 1,650 blocks has millions.
type pairValues interface {
	size() int
	atMost(v float64) int // how many values are at most v
	below(v float64) int  // how many are less
}

// walsh are the averages of all pairs of x, each value with itself included.
type walsh struct{ x []float64 }

func newWalsh(x []float64) walsh {
	x = slices.Clone(x)
	slices.Sort(x)
	return walsh{x}
}

// midpoint rises with either argument, rounding included, which halving the
// difference would not.
func midpoint(a, b float64) float64 { return a/2 + b/2 }

func (w walsh) size() int { return len(w.x) * (len(w.x) + 1) / 2 }

func (w walsh) atMost(v float64) int { return w.count(func(m float64) bool { return m <= v }) }

func (w walsh) below(v float64) int { return w.count(func(m float64) bool { return m < v }) }

// count walks the staircase below which the averages are low.
func (w walsh) count(low func(m float64) bool) int {
	n, j := 0, len(w.x)
	for i := range w.x {
		for j > i && !low(midpoint(w.x[i], w.x[j-1])) {
			j--
		}
		if j <= i {
			break
		}
		n += j - i
	}
	return n
}

// diffPairs are x-y of all pairs of two samples.
type diffPairs struct{ x, y []float64 }

func newDifferences(x, y []float64) diffPairs {
	x, y = slices.Clone(x), slices.Clone(y)
	slices.Sort(x)
	slices.Sort(y)
	return diffPairs{x, y}
}

func (d diffPairs) size() int { return len(d.x) * len(d.y) }

func (d diffPairs) atMost(v float64) int { return d.count(func(m float64) bool { return m <= v }) }

func (d diffPairs) below(v float64) int { return d.count(func(m float64) bool { return m < v }) }

func (d diffPairs) count(low func(m float64) bool) int {
	n, j := 0, 0
	for _, x := range d.x {
		for j < len(d.y) && !low(x-d.y[j]) {
			j++
		}
		n += len(d.y) - j
	}
	return n
}

// ranked returns the k-th smallest of the values, k from 1: the least float
// that k of them do not exceed, found by bisection over the floats in order.
func ranked(p pairValues, k int) float64 {
	lo, hi := ordinal(math.Inf(-1)), ordinal(math.Inf(1))
	for lo < hi {
		mid := lo + int64(uint64(hi-lo)/2)
		if p.atMost(fromOrdinal(mid)) >= k {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if v := fromOrdinal(lo); v != 0 {
		return v
	}
	return 0 // never -0
}

// ordinal numbers the floats in their order.
func ordinal(f float64) int64 {
	i := int64(math.Float64bits(f))
	if i < 0 {
		return math.MinInt64 - i
	}
	return i
}

func fromOrdinal(i int64) float64 {
	if i < 0 {
		i = math.MinInt64 - i
	}
	return math.Float64frombits(uint64(i))
}

// middle is the median of the values, NaN if there are none.
func middle(p pairValues) float64 {
	n := p.size()
	if n == 0 {
		return math.NaN()
	}
	low := ranked(p, (n+1)/2)
	if n%2 == 1 {
		return low
	}
	return low + (ranked(p, n/2+1)-low)/2
}

// pairEstimate is the median of the values and the interval that cdf, the null
// distribution of their number on one side, leaves at error level alpha.
func pairEstimate(p pairValues, alpha float64, cdf func(t int) float64) Estimate {
	n := p.size()
	e := Estimate{Value: middle(p)}
	k, level := intervalIndex(n, alpha, cdf)
	if k > 0 {
		e.HasInterval, e.Lo, e.Hi, e.Level = true, ranked(p, k), ranked(p, n-k+1), level
	}
	return e
}
