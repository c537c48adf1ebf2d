package analyze

import (
	"math"
	"math/big"

	"github.com/zcbench/zcbench/harness/record"
)

// effect is the effect of a against b at error level alpha: plain arithmetic
// between exact counts, else over the pairs of one block and repeat. It is nil
// when the two share nothing to compare.
func effect(m record.Metric, a, b []obs, stat string, alpha float64) *Effect {
	if x, y, ok := exactPair(m, a, b); ok {
		return exactEffect(x, y, stat)
	}
	return sampledEffect(paired(a, b), stat, alpha)
}

// exactEffect never divides by zero: a zero on either side makes it a difference.
func exactEffect(x, y *big.Rat, stat string) *Effect {
	e := &Effect{Stat: stat, N: 1, Exact: true}
	if stat == Ratio && (x.Sign() <= 0 || y.Sign() <= 0) {
		e.Stat, e.Zero = Diff, true
	}
	z := new(big.Rat)
	if e.Stat == Ratio {
		z.Quo(x, y)
	} else {
		z.Sub(x, y)
	}
	e.Estimate, _ = z.Float64()
	if x.Cmp(y) == 0 {
		e.P = 1
	} else if e.Estimate == e.Null() {
		// Unequal counts whose ratio rounds to 1 stay unequal.
		e.Estimate = math.Nextafter(e.Null(), float64(x.Cmp(y))*math.MaxFloat64)
	}
	return e
}

// anyNotPositive reports whether a ratio of some pair has no logarithm.
func anyNotPositive(ps []pair) bool {
	for _, p := range ps {
		if p.a <= 0 || p.b <= 0 {
			return true
		}
	}
	return false
}

func logRatios(ps []pair) []float64 {
	x := make([]float64, len(ps))
	for i, p := range ps {
		x[i] = math.Log(p.a) - math.Log(p.b)
		if p.a == p.b {
			x[i] = 0
		}
	}
	return x
}

func differences(ps []pair) []float64 {
	x := make([]float64, len(ps))
	for i, p := range ps {
		x[i] = p.a - p.b
	}
	return x
}

func sampledEffect(ps []pair, stat string, alpha float64) *Effect {
	if len(ps) == 0 {
		return nil
	}
	e := &Effect{Stat: stat, N: len(ps)}
	if stat == Ratio && anyNotPositive(ps) {
		e.Stat, e.Zero = Diff, true
	}
	x, back := differences(ps), func(v float64) float64 { return v }
	if e.Stat == Ratio {
		x, back = logRatios(ps), math.Exp
	}
	h := HodgesLehmann(x, alpha)
	e.Estimate, e.P = back(h.Value), SignedRank(x).P
	if h.HasInterval {
		e.HasInterval, e.Lo, e.Hi, e.Level = true, back(h.Lo), back(h.Hi), h.Level
	}
	finite := !math.IsInf(e.Estimate+e.Lo+e.Hi, 0) && !math.IsNaN(e.Estimate)
	for i, p := range ps {
		v := x[i]
		if e.Stat == Ratio {
			v = p.a / p.b
		}
		finite = finite && !math.IsInf(v, 0) && !math.IsNaN(v)
		e.Pairs = append(e.Pairs, Sample{p.block, p.repeat, v})
	}
	if !finite {
		return nil // values near the largest float: nothing sayable
	}
	return e
}
