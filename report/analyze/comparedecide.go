package analyze

import (
	"fmt"
	"math"

	"github.com/zcbench/zcbench/report/internal/figure"
)

// await notes a test whose verdict needs Holm's correction over all of them.
// The diff is appended to the scenario right after.
func (c *comparer) await(d *Delta, p pending) {
	d.PAdjusted = d.Effect.P // until decide corrects it
	c.tested = append(c.tested, &p)
}

// decide corrects the p-values of the sampled metrics for their number and
// settles their outcomes.
func (c *comparer) decide(s *ScenarioDiff) {
	var ps []float64
	for i, at := range waiting(s.Diffs) {
		c.tested[i].at, c.tested[i].p = at, s.Diffs[at].Effect.P
		ps = append(ps, c.tested[i].p)
	}
	s.Family = len(ps)
	for i, adjusted := range Holm(ps) {
		t := c.tested[i]
		d := &s.Diffs[t.at]
		d.PAdjusted = adjusted
		c.settle(d, t, len(ps))
	}
}

// waiting are the diffs still without an outcome, in order.
func waiting(ds []Delta) []int {
	var out []int
	for i := range ds {
		if d := &ds[i]; d.Outcome == Inconclusive && d.Reason == "" {
			out = append(out, i)
		}
	}
	return out
}

func (c *comparer) settle(d *Delta, t *pending, family int) {
	alpha := c.o.alpha()
	significant := d.PAdjusted <= alpha
	switch {
	case significant && !within(d.Effect, d.Limit):
		d.Outcome = outcomeOf(d)
		d.Reason = fmt.Sprintf("%s, beyond %s", pWords(d, family), limitWords(d))
	case within(d.Effect, d.Limit) && (significant || insideLimit(d.Effect, d.Limit)):
		d.Outcome, d.Reason = Unchanged, "within "+limitWords(d)
	case t.smallest*float64(family) > alpha:
		d.Reason = tooFew(t, family)
	case !significant && !within(d.Effect, d.Limit):
		d.Reason = fmt.Sprintf("beyond %s, but %s", limitWords(d), pWords(d, family))
	default:
		d.Reason = "the interval reaches beyond " + limitWords(d)
	}
}

// pWords is the p that decides.
func pWords(d *Delta, family int) string {
	p := "p " + figure.Digits(d.PAdjusted, 2)
	if family > 1 {
		p += fmt.Sprintf(" corrected for %d metrics", family)
	}
	return p
}

func tooFew(t *pending, family int) string {
	many := ""
	if family > 1 {
		many = fmt.Sprintf(" among %d metrics", family)
	}
	if t.m == 0 {
		return fmt.Sprintf("%d blocks are too few to tell%s: run more with --blocks", t.n, many)
	}
	return fmt.Sprintf("%d against %d values are too few to tell%s: run more with --blocks", t.n, t.m, many)
}

// outcomeOf reads the direction of an effect that counts.
func outcomeOf(d *Delta) Outcome {
	up := d.Effect.Estimate > d.Effect.Null()
	switch {
	case d.Better == "":
		return Changed
	case up == (direction(d.Better) > 0):
		return Regressed
	}
	return Improved
}

// within reports whether the estimate lies within the limit. Of a ratio the
// limit is symmetric: 5% is from 1/1.05 to 1.05.
func within(e *Effect, limit float64) bool { return inside(e.Stat, e.Estimate, limit) }

func inside(stat string, v, limit float64) bool {
	if stat == Ratio {
		return v <= 1+limit && v >= 1/(1+limit)
	}
	return math.Abs(v) <= limit
}

// insideLimit reports whether the whole interval does.
func insideLimit(e *Effect, limit float64) bool {
	return e.HasInterval && inside(e.Stat, e.Lo, limit) && inside(e.Stat, e.Hi, limit)
}

// limitWords names what a difference must exceed, and why that much.
func limitWords(d *Delta) string {
	v := figure.Format(d.Limit, d.Unit)
	if d.Effect.Stat == Ratio {
		v = figure.Digits(d.Limit*100, 3) + "%"
	}
	if d.Floor > 0 && d.Floor >= d.Limit {
		return "the noise floor of " + v
	}
	return "the threshold of " + v
}
