package analyze

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
)

// pending is a sampled metric whose outcome waits for Holm's correction.
type pending struct {
	at       int // index into the scenario's diffs
	p        float64
	smallest float64 // p that so many values can reach
	n, m     int
}

// diff compares one metric of a case both sides have; false when there is
// nothing to say.
func (c *comparer) diff(b, n *caseData, m record.Metric) (Delta, bool) {
	d := Delta{Point: n.info.Point, Case: n.info.Label, ID: n.info.ID, Metric: m.Name, Unit: m.Unit, Per: m.Per, Better: m.Better}
	mb, known := c.base.metrics[m.Name]
	if !known {
		mb = m
	}
	xs, ys := b.observe(mb), n.observe(m)
	d.Base, d.New = sideValue(mb, xs), sideValue(m, ys)
	named := false
	if _, named = c.o.Metrics[m.Name]; !named && !c.gated(m, mb) {
		if len(xs)+len(ys) > 0 {
			c.silent[m.Name] = true
		}
		return d, false
	}
	switch {
	case len(xs) == 0 && len(ys) == 0:
		return d, false
	case len(xs) == 0:
		d.Outcome, d.Reason = Appeared, "BASE: "+b.missing(mb)
		return d, true
	case len(ys) == 0 && !c.planned(purposeOf(m)):
		c.unplanned[purposeOf(m)] = true
		return d, false
	case len(ys) == 0:
		d.Outcome, d.Reason = Vanished, "NEW: "+n.missing(m)
		return d, true
	case n.tainted.mark != "" && b.tainted.mark == "":
		d.Outcome, d.Reason = Vanished, "NEW's figures mean nothing: "+n.tainted.reason
		return d, true
	case b.tainted.mark != "":
		d.Outcome, d.Reason = Inconclusive, "BASE's figures mean nothing: "+b.tainted.reason
		return d, true
	case mb.Unit != m.Unit || mb.Per != m.Per || mb.Better != m.Better:
		d.Outcome, d.Reason = Inconclusive, "the two results do not mean the same by this metric: its unit, denominator or direction differs"
		return d, true
	case m.Kind == record.Exact && mb.Kind == record.Exact && heldDiffer(&d, b, n):
		return d, true
	case m.Kind == record.Exact && mb.Kind == record.Exact && c.counts(&d, xs, ys):
		return d, true
	}
	c.sampled(&d, b, n, m, xs, ys)
	return d, true
}

// gated reports whether a metric is compared unasked: counts always, others
// when they are a column of the scenario and have a better direction.
func (c *comparer) gated(m, mb record.Metric) bool {
	if m.Kind == record.Exact && mb.Kind == record.Exact {
		return true
	}
	return m.Better != "" && slices.Contains(c.new.res.Header.Scenario.Metrics, m.Name)
}

// planned reports whether NEW ran trials of a purpose, whatever became of them.
func (c *comparer) planned(p record.Purpose) bool {
	return slices.ContainsFunc(c.new.res.Trials, func(t record.TrialLine) bool { return t.Trial.Purpose == p })
}

func sideValue(m record.Metric, os []obs) *DiffValue {
	if len(os) == 0 {
		return nil
	}
	v := &DiffValue{N: len(os), Median: Median(values(os))}
	if m.Kind == record.Exact {
		if _, ok := exactCounts(os); ok {
			v.Num, v.Den, v.Exact = pool(os, func(uint64) bool { return true })
		}
		if v.Exact {
			v.Median = float64(v.Num) / float64(v.Den)
		}
	}
	return v
}

func values(os []obs) []float64 {
	out := make([]float64, len(os))
	for i, o := range os {
		out[i] = o.float()
	}
	return out
}

// counts compares a metric that is exact by its descriptor. It returns false
// when trials disagree among themselves and nothing can be said from counts
// alone: then it is sampled.
func (c *comparer) counts(d *Delta, xs, ys []obs) bool {
	cb, okB := exactCounts(xs)
	cn, okN := exactCounts(ys)
	if !okB || !okN {
		return c.varying(d, xs, ys, okB, okN)
	}
	d.Exact = true
	worse, better, shared := 0, 0, 0
	sums := [2]*big.Rat{new(big.Rat), new(big.Rat)}
	for seed, b := range cb {
		n := cn[seed]
		if n == nil {
			continue
		}
		shared++
		sums[0].Add(sums[0], b)
		sums[1].Add(sums[1], n)
		switch n.Cmp(b) * direction(d.Better) {
		case 1:
			worse++
		case -1:
			better++
		}
	}
	if shared == 0 {
		d.Exact, d.Outcome, d.Reason = false, Inconclusive, "counted with different seeds: run both with the same --seed"
		return true
	}
	d.Effect = exactEffect(sums[1], sums[0], Ratio)
	if x, y, ok := exactPair(record.Metric{Kind: record.Exact}, ys, xs); ok {
		d.Effect = exactEffect(x, y, Ratio)
	}
	d.Outcome = exactOutcome(worse, better, d.Better)
	if worse+better > 0 {
		c.tolerate(d)
	}
	return true
}

func exactOutcome(worse, better int, dir record.Better) Outcome {
	switch {
	case worse+better == 0:
		return Unchanged
	case dir == "":
		return Changed
	case worse > 0:
		return Regressed
	}
	return Improved
}

// direction is 1 when more is worse (or neither is), -1 when more is better.
func direction(b record.Better) int {
	if b == record.Higher {
		return -1
	}
	return 1
}

// tolerate lets a count move as far as a threshold that names it says.
func (c *comparer) tolerate(d *Delta) {
	t, named := c.o.threshold(d.Metric)
	if !named || d.Effect == nil {
		return
	}
	d.Limit = t.V
	small := math.Abs(d.New.Median-d.Base.Median) <= t.V
	if !t.Absolute {
		small = d.Effect.Stat == Ratio && within(d.Effect, t.V)
	}
	if !small {
		return
	}
	d.Outcome, d.Reason = Unchanged, "differs, within the threshold given for this count"
}

// clearOf is how many times the spread of both sides' trials a count that does
// not repeat must have moved to be told apart without a noise floor. Three
// trials a side of nothing but noise do so once in 2500 times.
const clearOf = 3

// varying compares a count whose trials disagree on one side or both. One that
// lies beyond the other side in every trial, far beyond what it varies by, has
// moved: an added allocation is not to hide behind a runtime's odd one. It
// returns false when both sides vary and do not lie that far apart.
func (c *comparer) varying(d *Delta, xs, ys []obs, baseRepeats, newRepeats bool) bool {
	low, high := bounded(xs)
	lowN, highN := bounded(ys)
	gap, moved := 0.0, 0
	switch {
	case lowN > high:
		gap, moved = lowN-high, direction(d.Better)
	case highN < low:
		gap, moved = low-highN, -direction(d.Better)
	}
	d.Effect = c.shift(values(ys), values(xs), false)
	why := "its counting trials disagree in both"
	switch {
	case baseRepeats:
		why = "its counting trials disagree in NEW, not in BASE"
	case newRepeats:
		why = "its counting trials disagree in BASE, not in NEW"
	case gap <= clearOf*(high-low+highN-lowN):
		return false
	}
	d.Outcome, d.Reason = Inconclusive, why
	if moved != 0 {
		d.Outcome, d.Reason = exactOutcome(max(moved, 0), max(-moved, 0), d.Better), why+", but all of NEW's lie on one side of all of BASE's"
		c.tolerate(d)
	}
	return true
}

func bounded(os []obs) (low, high float64) {
	v := values(os)
	return slices.Min(v), slices.Max(v)
}

// sampled compares values that scatter: the outcome follows once all are known.
func (c *comparer) sampled(d *Delta, b, n *caseData, m record.Metric, xs, ys []obs) {
	d.Outcome = Inconclusive
	if bad := refused(c.keys, record.Sampled); len(bad) > 0 {
		d.Reason = "not comparable, the environment differs: " + keyNames(bad)
		return
	}
	if c.base.guestTimed(b, m) || c.new.guestTimed(n, m) {
		d.Reason = "timings of a guest whose window saw system calls or faults decide nothing"
		return
	}
	t, _ := c.o.threshold(m.Name)
	x, y := values(xs), values(ys)
	if sameValues(x, y) {
		d.Effect, d.Outcome, d.Reason = c.shift(y, x, t.Absolute), Unchanged, "the same values"
		return
	}
	p := pending{n: len(x), m: len(y)}
	if c.paired {
		ps := paired(ys, xs)
		d.Effect = sampledEffect(ps, statOf(t), c.o.alpha())
		p.n, p.m, p.smallest = len(ps), 0, math.Min(1, math.Ldexp(1, 1-len(ps)))
	} else {
		d.Effect = c.shift(y, x, t.Absolute)
		p.smallest = smallestRankSum(len(x), len(y))
	}
	if d.Effect == nil {
		d.Reason = "no effect can be computed from these values"
		return
	}
	d.Limit = limitOf(t, d)
	if c.paired {
		c.await(d, p)
		return
	}
	if c.noise == nil {
		d.Reason = "no noise floor: " + c.noNoise
		return
	}
	floor, ok := c.noise.floor(n.info.Label, n.info.Point, m, d.Effect.Stat)
	if !ok {
		d.Reason = "the noise sessions have no floor for it"
		return
	}
	d.Floor, d.Limit = floor, math.Max(d.Limit, floor)
	c.await(d, p)
}

func statOf(t Threshold) string {
	if t.Absolute {
		return Diff
	}
	return Ratio
}

func sameValues(x, y []float64) bool {
	x, y = slices.Clone(x), slices.Clone(y)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// limitOf is the threshold on the scale of the effect.
func limitOf(t Threshold, d *Delta) float64 {
	if t.Absolute || d.Effect.Stat == Ratio {
		return t.V
	}
	return t.V * math.Abs(d.Base.Median) // a share of nothing is nothing
}

// smallestRankSum is the smallest two-sided p of an exact rank-sum test of n
// and m untied values.
func smallestRankSum(n, m int) float64 {
	lg := func(v int) float64 { x, _ := math.Lgamma(float64(v + 1)); return x }
	return math.Min(1, 2*math.Exp(lg(n)+lg(m)-lg(n+m)))
}

// shift is the effect of y over x, unpaired: the Hodges-Lehmann ratio, or the
// difference where a value that is not positive or asDiff forbids a ratio.
func (c *comparer) shift(y, x []float64, asDiff bool) *Effect {
	e := &Effect{Stat: Ratio, N: min(len(x), len(y))}
	if len(x) == 0 || len(y) == 0 {
		return nil
	}
	a, b, back := y, x, math.Exp
	if slices.Min(y) <= 0 || slices.Min(x) <= 0 {
		e.Zero = !asDiff
		asDiff = true
	}
	if asDiff {
		e.Stat, back = Diff, func(v float64) float64 { return v }
	} else {
		a, b = logs(y), logs(x)
	}
	h := pairEstimate(newDifferences(a, b), c.o.alpha(), mannWhitneyCDF(len(a), len(b), c.rankSums))
	e.Estimate, e.P = back(h.Value), mannWhitney(y, x, c.rankSums).P
	if h.HasInterval {
		e.HasInterval, e.Lo, e.Hi, e.Level = true, back(h.Lo), back(h.Hi), h.Level
	}
	if s := e.Estimate + e.Lo + e.Hi; math.IsNaN(s) || math.IsInf(s, 0) {
		return nil // values near the largest float
	}
	return e
}

// rankSums is untiedRankSums, computed once for each pair of sizes.
func (c *comparer) rankSums(n, m int) []float64 {
	k := [2]int{n, m}
	if c.sums[k] == nil {
		c.sums[k] = untiedRankSums(n, m)
	}
	return c.sums[k]
}

func logs(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = math.Log(v)
	}
	return out
}

// heldDiffer is for messages held for a time: counting trials hold as many as
// come in that time at the measured capacity, which differs from run to run, and
// so do their counts.
func heldDiffer(d *Delta, b, n *caseData) bool {
	x, y := heldMessages(b), heldMessages(n)
	if x == y {
		return false
	}
	d.Outcome = Inconclusive
	d.Reason = fmt.Sprintf("the time messages are held for came to %d of them in BASE and %d in NEW, by the capacity each measured: counts follow that", x, y)
	return true
}

// heldMessages is how many messages the counting trials of a case hold.
func heldMessages(c *caseData) int {
	for _, t := range c.used {
		if t.Trial.Purpose == record.Counting {
			return t.Trial.Workload.HoldMessages
		}
	}
	return 0
}
