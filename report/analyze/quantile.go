package analyze

import (
	"math"

	"github.com/montanaflynn/stats"
)

// Quantile7 is the quantile of x at share q, 0..1, interpolated as R's type 7
// does. It is NaN when x is empty or q is out of range.
func Quantile7(x []float64, q float64) float64 {
	if len(x) == 0 || q < 0 || q > 1 || math.IsNaN(q) {
		return math.NaN()
	}
	if q == 0 { // Percentile refuses 0
		v, err := stats.Min(x)
		return orNaN(v, err)
	}
	v, err := stats.Percentile(x, q*100)
	return orNaN(v, err)
}

// Median of x; NaN when x is empty.
func Median(x []float64) float64 { return orNaN(stats.Median(x)) }

// StandardDeviation of the sample x (n-1 in the divisor); NaN below two values.
func StandardDeviation(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	return orNaN(stats.StandardDeviationSample(x))
}

func orNaN(v float64, err error) float64 {
	if err != nil {
		return math.NaN()
	}
	return v
}
