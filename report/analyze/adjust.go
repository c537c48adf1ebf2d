package analyze

import (
	"cmp"
	"math"
	"slices"
)

// Holm adjusts p-values for the family-wise error rate, step down.
func Holm(p []float64) []float64 {
	order := rising(p)
	out := make([]float64, len(p))
	worst := 0.0
	for i, k := range order {
		worst = math.Max(worst, math.Min(1, p[k]*float64(len(p)-i)))
		out[k] = worst
	}
	return out
}

// BenjaminiHochberg adjusts p-values for the false discovery rate, step up.
func BenjaminiHochberg(p []float64) []float64 {
	order := rising(p)
	out := make([]float64, len(p))
	best := 1.0
	for i := len(order) - 1; i >= 0; i-- {
		k := order[i]
		best = math.Min(best, p[k]*float64(len(p))/float64(i+1))
		out[k] = best
	}
	return out
}

func rising(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}

// MinBlocks is the smallest number of blocks with which the signed-rank test
// can reach significance at family-wise level alpha among m claims:
// 2^(1-n) m <= alpha. It is 1 for no claims.
func MinBlocks(m int, alpha float64) int {
	n := 1
	for n < 1000 && math.Ldexp(float64(m), 1-n) > alpha {
		n++
	}
	return n
}

// CanDecide reports whether n blocks can reach significance for m timed claims.
func CanDecide(n, m int, alpha float64) bool { return m == 0 || n >= MinBlocks(m, alpha) }
