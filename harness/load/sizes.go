package load

import (
	"math"
	"math/rand/v2"

	"github.com/zcbench/zcbench/harness/record"
)

// Quantile returns the size in bytes at share u (0 < u < 1) of a distribution,
// never less than HeaderBytes. A cdf is read as steps: the smallest size whose
// cumulative share reaches u.
func Quantile(s record.Sizes, u float64) int64 {
	var v int64
	switch s.Kind {
	case "fixed":
		v = s.Bytes
	case "uniform":
		v = s.Min + int64(u*float64(s.Max-s.Min+1))
	case "lognormal":
		v = int64(math.Round(float64(s.Median) * math.Exp(s.Sigma*math.Sqrt2*math.Erfinv(2*u-1))))
	case "bimodal":
		v = s.Small
		if u >= 1-s.Share {
			v = s.Large
		}
	case "cdf":
		v = s.Points[len(s.Points)-1].Bytes
		for _, p := range s.Points {
			if p.Cum >= u {
				v = p.Bytes
				break
			}
		}
	}
	if s.Min > 0 && v < s.Min {
		v = s.Min
	}
	if s.Max > 0 && v > s.Max {
		v = s.Max
	}
	return max(v, HeaderBytes)
}

// Largest returns the largest size a distribution yields, in bytes.
func Largest(s record.Sizes) int64 { return Quantile(s, math.Nextafter(1, 0)) }

// Stratified returns n sizes, one from the middle of each of n equally likely
// strata, in seeded random order: two windows of the same length then hold the
// same sizes, however heavy the tail.
func Stratified(s record.Sizes, n int, rng *rand.Rand) []uint32 {
	out := make([]uint32, n)
	for i := range out {
		out[i] = uint32(Quantile(s, (float64(i)+0.5)/float64(n)))
	}
	rng.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// Mean returns the mean of n stratified sizes in bytes.
func Mean(s record.Sizes, n int) float64 {
	var sum float64
	for i := range n {
		sum += float64(Quantile(s, (float64(i)+0.5)/float64(n)))
	}
	return sum / float64(n)
}

// Bands splits sizes for reporting: small up to the one-third quantile of the
// distribution, large above the 90 % quantile, medium between. Bounds are
// inclusive upper limits in bytes. However many messages have the largest size,
// they are the large ones. Sizes that are all alike have no bands: small then is
// the largest size.
func Bands(s record.Sizes) (small, medium int64) {
	small, medium = Quantile(s, 1.0/3), Quantile(s, 0.9)
	largest := Largest(s)
	if smallest := Quantile(s, math.SmallestNonzeroFloat64); smallest < largest {
		small, medium = min(small, largest-1), min(medium, largest-1)
	}
	return small, medium
}
