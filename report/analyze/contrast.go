package analyze

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/zcbench/zcbench/harness/record"
)

// Expectations of a claim.
const (
	expectLess    = "less"
	expectGreater = "greater"
	expectSame    = "same"
)

// contrast asks on which side of m the location of x lies.
type contrast struct {
	x []float64
	m float64
}

// question is a compare claim at one point, ready to be decided at any level.
// Support and refute are the smallest levels at which it is: two-sided for less
// and greater, one-sided (TOST) for the support of same.
type question struct {
	point           string
	support, refute float64
	exact           bool
	pairs           []pair
	upper, lower    *contrast // one of them for less and greater, both for same
}

// checkClaim says what is wrong with a compare claim, or nothing.
func checkClaim(c record.Claim) string {
	switch {
	case c.Expect != expectLess && c.Expect != expectGreater && c.Expect != expectSame:
		return fmt.Sprintf("expect is %q: want less, greater or same", c.Expect)
	case c.Stat != "" && c.Stat != Ratio && c.Stat != Diff:
		return fmt.Sprintf("stat is %q: want ratio or diff", c.Stat)
	case math.IsNaN(c.By) || math.IsInf(c.By, 0) || c.By < 0:
		return fmt.Sprintf("by is %v: want a number above 0", c.By)
	case c.Stat != Diff && c.Expect == expectLess && c.By >= 1:
		return fmt.Sprintf("by is %v: nothing positive is less by its whole self", c.By)
	}
	return ""
}

// bounds are the margins of a claim on the scale of its effect: less is below
// upper, greater above lower, same between the two.
func bounds(c record.Claim) (lower, upper float64) {
	if c.Stat == Diff {
		switch c.Expect {
		case expectLess:
			return 0, -c.By
		case expectGreater:
			return c.By, 0
		}
		return -c.By, c.By
	}
	switch c.Expect {
	case expectLess:
		return 0, 1 - c.By
	case expectGreater:
		return 1 + c.By, 0
	}
	return 1 / (1 + c.By), 1 + c.By
}

// ask prepares a claim at a point from the values of a and b.
func ask(c record.Claim, m record.Metric, a, b []obs) *question {
	if x, y, ok := exactPair(m, a, b); ok {
		q := &question{exact: true, support: 1}
		if exactHolds(c, x, y) {
			q.support, q.refute = 0, 1
		}
		return q
	}
	q := &question{pairs: paired(a, b)}
	if len(q.pairs) == 0 {
		return nil
	}
	if allZero(q.pairs) && c.Stat != Diff {
		// Nothing against nothing is the same in every pair, and never less.
		certain := math.Ldexp(1, 1-len(q.pairs))
		q.support, q.refute = 1, certain
		if c.Expect == expectSame {
			q.support, q.refute = certain, 1
		}
		return q
	}
	q.contrasts(c)
	q.levels(c.Expect)
	return q
}

func allZero(ps []pair) bool {
	for _, p := range ps {
		if p.a != 0 || p.b != 0 {
			return false
		}
	}
	return true
}

// contrasts puts the claim as a question about locations: of log ratios, of
// differences, or, where a zero forbids the logarithm, of a - k b.
func (q *question) contrasts(c record.Claim) {
	lower, upper := bounds(c)
	make1 := func(bound float64) *contrast {
		switch {
		case c.Stat == Diff:
			return &contrast{differences(q.pairs), bound}
		case anyNotPositive(q.pairs):
			x := make([]float64, len(q.pairs))
			for i, p := range q.pairs {
				x[i] = p.a - bound*p.b
			}
			return &contrast{x, 0}
		}
		return &contrast{logRatios(q.pairs), math.Log(bound)}
	}
	if c.Expect != expectGreater {
		q.upper = make1(upper)
	}
	if c.Expect != expectLess {
		q.lower = make1(lower)
	}
}

func (q *question) levels(expect string) {
	var belowUpper, aboveUpper, belowLower, aboveLower float64
	if q.upper != nil {
		belowUpper, aboveUpper = LocationBelow(q.upper.x, q.upper.m), LocationAbove(q.upper.x, q.upper.m)
	}
	if q.lower != nil {
		belowLower, aboveLower = LocationBelow(q.lower.x, q.lower.m), LocationAbove(q.lower.x, q.lower.m)
	}
	switch expect {
	case expectLess:
		q.support, q.refute = 2*belowUpper, 2*aboveUpper
	case expectGreater:
		q.support, q.refute = 2*aboveLower, 2*belowLower
	default:
		q.support, q.refute = math.Max(belowUpper, aboveLower), 2*math.Min(aboveUpper, belowLower)
	}
}

// status reads the question at error level alpha.
func (q *question) status(alpha float64) VerdictStatus {
	switch {
	case q.refute <= alpha:
		return Refuted
	case q.support <= alpha:
		return Supported
	}
	return Undecided
}

// exactHolds decides a claim about two exact counts by integer arithmetic; the
// margin is the decimal number the scenario wrote, not its nearest float.
func exactHolds(c record.Claim, x, y *big.Rat) bool {
	by, one := decimal(c.By), big.NewRat(1, 1)
	scaled := func(k *big.Rat) *big.Rat { return new(big.Rat).Mul(k, y) }
	low, high := scaled(new(big.Rat).Sub(one, by)), scaled(new(big.Rat).Add(one, by))
	sameLow := scaled(new(big.Rat).Inv(new(big.Rat).Add(one, by)))
	if c.Stat == Diff {
		low, high = new(big.Rat).Sub(y, by), new(big.Rat).Add(y, by)
		sameLow = low
	}
	switch c.Expect {
	case expectLess:
		return x.Cmp(low) < 0
	case expectGreater:
		return x.Cmp(high) > 0
	}
	return x.Cmp(sameLow) >= 0 && x.Cmp(high) <= 0
}

func decimal(f float64) *big.Rat {
	r, ok := new(big.Rat).SetString(strconv.FormatFloat(f, 'g', -1, 64))
	if !ok {
		return new(big.Rat) // checkClaim has refused what is not finite
	}
	return r
}
