package analyze

import (
	"fmt"
	"math"
	"math/big"

	"github.com/zcbench/zcbench/harness/record"
)

// obs is one trial's value of a metric.
type obs struct {
	block, repeat int
	seed          uint64
	v             record.Value
}

func (o obs) float() float64 { return o.v.Float64() }

// purposeOf says which trials yield a metric.
func purposeOf(m record.Metric) record.Purpose {
	switch {
	case m.Purpose != "":
		return m.Purpose
	case m.Kind == record.Exact:
		return record.Counting
	}
	return record.Timing
}

// observe returns the values of m in the case's trials, by block and repeat.
func (c *caseData) observe(m record.Metric) []obs {
	var out []obs
	for _, t := range c.used {
		v, ok := t.Record.Metrics[m.Name]
		if !ok || t.Trial.Purpose != purposeOf(m) {
			continue
		}
		if f := v.Float64(); math.IsNaN(f) || math.IsInf(f, 0) {
			continue // refused at load; a caller may build results otherwise
		}
		out = append(out, obs{t.Trial.Block, t.Trial.Repeat, t.Trial.Seed, v})
	}
	return out
}

// missing says why the case has no value of m.
func (c *caseData) missing(m record.Metric) string {
	if c.skip != nil {
		return "skipped: " + c.skip.Reason
	}
	trials, messages := 0, 0
	for _, t := range c.used {
		if t.Trial.Purpose != purposeOf(m) {
			continue
		}
		trials++
		messages = t.Trial.Messages
		if why := t.Record.Unavailable[m.Name]; why != "" {
			return why
		}
	}
	switch {
	case trials == 0 && c.counts.Failed > 0:
		return fmt.Sprintf("no %s trial succeeded (%d failed)", purposeOf(m), c.counts.Failed)
	case trials == 0:
		return fmt.Sprintf("no valid %s trial", purposeOf(m))
	case m.Kind == record.Histogram && messages > 0:
		return fmt.Sprintf("fewer than ten of a trial's %d messages lie beyond it", messages)
	}
	return "the trials do not report it"
}

// counts are the exact counts of a case by seed.
type counts map[uint64]*big.Rat

// ratOf is the count as a fraction, never rounded.
func ratOf(v record.Value) *big.Rat { return big.NewRat(v.Num, v.Den) }

// exactCounts groups counts by seed. It returns false when a value is not a
// count or two trials of one seed disagree: the metric is then sampled.
func exactCounts(os []obs) (counts, bool) {
	c := counts{}
	for _, o := range os {
		if !o.v.IsCount() {
			return nil, false
		}
		r := ratOf(o.v)
		if have, ok := c[o.seed]; !ok {
			c[o.seed] = r
		} else if have.Cmp(r) != 0 {
			return nil, false
		}
	}
	return c, len(c) > 0
}

// pool sums the counts of one trial of each seed keep accepts, numerator and
// denominator apart; false when the sum does not fit.
func pool(os []obs, keep func(seed uint64) bool) (num, den int64, ok bool) {
	seen := map[uint64]bool{}
	for _, o := range os {
		if seen[o.seed] || !keep(o.seed) {
			continue
		}
		seen[o.seed] = true
		if o.v.Num > 0 && num > math.MaxInt64-o.v.Num || o.v.Num < 0 && num < math.MinInt64-o.v.Num || den > math.MaxInt64-o.v.Den {
			return 0, 0, false
		}
		num, den = num+o.v.Num, den+o.v.Den
	}
	return num, den, den > 0
}

// exactPair returns the exact counts of a and b over the seeds both counted,
// or false when either is not exact or they share no seed.
func exactPair(m record.Metric, a, b []obs) (x, y *big.Rat, ok bool) {
	if m.Kind != record.Exact {
		return nil, nil, false
	}
	ca, okA := exactCounts(a)
	cb, okB := exactCounts(b)
	if !okA || !okB {
		return nil, nil, false
	}
	shared := func(s uint64) bool { return ca[s] != nil && cb[s] != nil }
	an, ad, okA := pool(a, shared)
	bn, bd, okB := pool(b, shared)
	if !okA || !okB {
		return nil, nil, false
	}
	return big.NewRat(an, ad), big.NewRat(bn, bd), true
}

// pair is the values of two cases in one block and repeat.
type pair struct {
	block, repeat int
	a, b          float64
}

// paired matches values by block and repeat, in order; the rest are left out.
func paired(a, b []obs) []pair {
	other := map[[2]int]float64{}
	for _, o := range b {
		other[[2]int{o.block, o.repeat}] = o.float()
	}
	var out []pair
	for _, o := range a {
		if v, ok := other[[2]int{o.block, o.repeat}]; ok {
			out = append(out, pair{o.block, o.repeat, o.float(), v})
		}
	}
	return out
}
