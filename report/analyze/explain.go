package analyze

import (
	"fmt"
	"math"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// SmokeReason is said of every sampled claim of a smoke run.
const SmokeReason = "a smoke run decides nothing about sampled figures"

// explain adds the effect at the claim's level to a point, and what it was
// held against.
func (r *run) explain(s *claimState, q *question, pv *PointVerdict) {
	c := s.v.Claim
	stat := c.Stat
	if stat == "" {
		stat = Ratio
	}
	a, b := r.at(c.A, q.point).observe(s.metric), r.at(c.B, q.point).observe(s.metric)
	alpha := s.alpha
	if c.Expect == expectSame && pv.Status == Supported {
		alpha *= 2 // the interval two one-sided tests invert
	}
	pv.Effect = effect(s.metric, a, b, stat, alpha)
	at := fmt.Sprintf(" at %s%%", figure.Digits(100*(1-alpha), 3))
	pv.Reason = effectWords(pv.Effect, s.metric, at) + "; " + asked(c, s.metric)
	if q.exact {
		x, y, _ := exactPair(s.metric, a, b)
		xf, _ := x.Float64()
		yf, _ := y.Float64()
		pv.Reason = fmt.Sprintf("%s against %s, counted; %s", figure.Count(xf, s.metric.Unit),
			figure.Count(yf, s.metric.Unit)+figure.Per(s.metric.Per), asked(c, s.metric))
	}
}

// effectWords is an effect with its interval: "0.98x (0.97–0.99)", at being
// added to the interval.
func effectWords(e *Effect, m record.Metric, at string) string {
	if e == nil {
		return "no effect can be given"
	}
	value, span := figure.Effect(e.Stat == Ratio, e.Estimate, e.Lo, e.Hi, e.HasInterval, m.Unit)
	switch {
	case e.Exact:
		return value
	case e.HasInterval:
		return fmt.Sprintf("%s (%s%s)", value, span, at)
	}
	return fmt.Sprintf("%s (%s: too few for an interval%s)", value, plural(e.N, "pair"), at)
}

// asked is what the claim demands, in words.
func asked(c record.Claim, m record.Metric) string {
	lower, upper := bounds(c)
	show := figure.Times
	if c.Stat == Diff {
		show = func(v float64) string { return figure.Signed(v, m.Unit) }
	}
	switch c.Expect {
	case expectLess:
		return "asked: below " + show(upper)
	case expectGreater:
		return "asked: above " + show(lower)
	}
	return "asked: between " + show(lower) + " and " + show(upper)
}

// conclude writes the reason of a verdict from those of its points.
func (s *claimState) conclude() {
	var first string
	n := 0
	for _, pv := range s.v.Points {
		if pv.Status != s.v.Status {
			continue
		}
		if n == 0 {
			first = pv.Reason
			if len(s.v.Points) > 1 {
				first = "at " + pv.Point + ": " + pv.Reason
			}
		}
		n++
	}
	s.v.Reason = first
	if n > 1 {
		s.v.Reason += fmt.Sprintf(" (and %s more)", plural(n-1, "point"))
	}
	switch {
	case s.v.Status == NotMeasurable:
		s.v.Reason = s.missed
	case s.v.Status != Undecided:
	case s.smoked:
		s.v.Reason = SmokeReason
	default:
		s.needMore()
	}
}

// needMore estimates the blocks that would decide an undecided claim: the most
// any of its undecided points needs.
func (s *claimState) needMore() {
	for _, q := range s.asked {
		if q.exact || q.status(s.alpha) != Undecided {
			continue
		}
		lo, hi := q.blocks(s.v.Claim.Expect, s.alpha)
		if lo == 0 || s.v.BlocksLo < 0 {
			s.v.BlocksLo, s.v.BlocksHi = -1, -1
			continue
		}
		s.v.BlocksLo, s.v.BlocksHi = max(s.v.BlocksLo, lo), max(s.v.BlocksHi, hi)
	}
	if s.v.BlocksLo <= 0 {
		s.v.BlocksLo, s.v.BlocksHi = 0, 0
		s.v.Reason += "; it lies so close to the margin that no reasonable number of blocks would decide it"
		return
	}
	unit := "blocks"
	if purposeOf(s.metric) == record.Counting {
		unit = "counting trials"
	}
	span := fmt.Sprintf("%d to %d", s.v.BlocksLo, s.v.BlocksHi)
	if s.v.BlocksLo == s.v.BlocksHi {
		span = fmt.Sprint(s.v.BlocksLo)
	}
	s.v.Reason += fmt.Sprintf("; a fresh run of %s %s would probably decide it", span, unit)
}

const (
	// blocksMax is the largest number of blocks worth asking for.
	blocksMax = 1000
	// signedRankEfficiency of the test against the t test on normal data, 3/pi.
	signedRankEfficiency = 3 / math.Pi
	powerHigh            = 0.9 // of the upper end of the range; the lower end has one half
)

// blocks estimates how many pairs would decide the question at level alpha if
// estimate and spread stay as they are: with a chance of one half, and of nine
// in ten. Both are 0 when that is more than blocksMax.
func (q *question) blocks(expect string, alpha float64) (lo, hi int) {
	d, sd := q.distance()
	z := normalQuantile(1 - alpha/2)
	if expect == expectSame && d > 0 {
		z = normalQuantile(1 - alpha)
	}
	d = math.Abs(d)
	least := max(MinBlocks(1, alpha), len(q.pairs)+1)
	if math.IsNaN(sd) { // a single pair has no spread
		return least, max(least, 2*MinBlocks(1, alpha))
	}
	need := func(power float64) float64 {
		k := (z + normalQuantile(power)) * sd / d
		return math.Ceil(k * k / signedRankEfficiency)
	}
	a, b := need(0.5), need(powerHigh)
	if !(a <= blocksMax) {
		return 0, 0
	}
	lo = max(least, int(a))
	return lo, max(lo, int(math.Min(b, blocksMax)))
}

// distance is how far the estimate lies from the nearest margin, negative
// outside of those of same, and the spread of a pair.
func (q *question) distance() (d, sd float64) {
	d = math.Inf(1)
	if q.upper != nil {
		d, sd = q.upper.m-HodgesLehmann(q.upper.x, DefaultAlpha).Value, StandardDeviation(q.upper.x)
	}
	if q.lower != nil {
		d = math.Min(d, HodgesLehmann(q.lower.x, DefaultAlpha).Value-q.lower.m)
		sd = StandardDeviation(q.lower.x)
	}
	return d, sd
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
