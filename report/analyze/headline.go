package analyze

import (
	"fmt"
	"math"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// clause is what a headline says of one metric at one point.
type clause struct {
	metric record.Metric
	effect *Effect
	text   string
}

// headlineAt compares the headline's cases at one point.
func (r *run) headlineAt(point string) []clause {
	h := r.res.Header.Scenario.Headline
	a, b := r.at(h.A, point), r.at(h.B, point)
	if a == nil || b == nil {
		return nil
	}
	var out []clause
	for _, name := range h.Metrics {
		m, ok := r.metrics[name]
		if !ok {
			continue
		}
		oa, ob := a.observe(m), b.observe(m)
		c := clause{metric: m, effect: effect(m, oa, ob, Ratio, r.alpha)}
		c.text = clauseWords(c.effect, m, oa, ob)
		out = append(out, c)
	}
	return out
}

// clauseWords gives both values of counts, which say more than their ratio, and
// the effect with its interval of everything else.
func clauseWords(e *Effect, m record.Metric, a, b []obs) string {
	name, per := figure.Name(m.Name), figure.Per(m.Per)
	switch {
	case e == nil:
		return name + " not measured"
	case e.Exact:
		x, y, _ := exactPair(m, a, b)
		xf, _ := x.Float64()
		yf, _ := y.Float64()
		unit := m.Unit
		if unit == record.UnitPages && strings.Contains(name, "pages") {
			unit = record.UnitOne // the name says it
		}
		if x.Cmp(y) == 0 {
			return name + " " + figure.Count(xf, unit) + per + " on both"
		}
		return name + " " + figure.Count(xf, unit) + " against " + figure.Count(yf, unit) + per
	}
	words := name + perWord(m) + " " + effectWords(e, m, "")
	if e.HasInterval && !e.Differs() {
		words += ", no difference shown"
	}
	return words
}

// perWord is the denominator, unless the metric's name holds it already.
func perWord(m record.Metric) string {
	if m.Per == record.PerSecond {
		return ""
	}
	return figure.Per(m.Per)
}

// sentence joins the clauses of one point.
func (r *run) sentence(cs []clause) string {
	if len(cs) == 0 {
		return ""
	}
	var parts []string
	for _, c := range cs {
		parts = append(parts, c.text)
	}
	h := r.res.Header.Scenario.Headline
	return fmt.Sprintf("%s against %s: %s.", h.A, h.B, strings.Join(parts, "; "))
}

// overPoints gives each metric's range over several points.
func (r *run) overPoints(all [][]clause) string {
	var parts []string
	measured := 0
	for _, cs := range all {
		if len(cs) > 0 {
			measured++
		}
	}
	for _, name := range r.res.Header.Scenario.Headline.Metrics {
		var es []*Effect
		var m record.Metric
		for _, cs := range all {
			for _, c := range cs {
				if c.metric.Name == name && c.effect != nil {
					es, m = append(es, c.effect), c.metric
				}
			}
		}
		if len(es) > 0 {
			parts = append(parts, figure.Name(name)+perWord(m)+" "+spanWords(es, m, len(all)))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	h := r.res.Header.Scenario.Headline
	return fmt.Sprintf("%s against %s over %s: %s.", h.A, h.B, plural(measured, "point"), strings.Join(parts, "; "))
}

// spanWords is the range of one metric's effects over points.
func spanWords(es []*Effect, m record.Metric, points int) string {
	var words []string
	for _, stat := range []string{Ratio, Diff} {
		var of []*Effect
		for _, e := range es {
			if e.Stat == stat {
				of = append(of, e)
			}
		}
		if len(of) == 0 {
			continue
		}
		w := rangeWords(of, stat, m)
		if len(of) < points {
			w += fmt.Sprintf(" at %d of them", len(of))
		}
		words = append(words, w)
	}
	return strings.Join(words, ", ")
}

func rangeWords(es []*Effect, stat string, m record.Metric) string {
	lo, hi, told := math.Inf(1), math.Inf(-1), 0
	for _, e := range es {
		lo, hi = math.Min(lo, e.Estimate), math.Max(hi, e.Estimate)
		if e.Differs() {
			told++
		}
	}
	show := figure.Times
	if stat == Diff {
		show = func(v float64) string { return figure.Signed(v, m.Unit) }
	}
	w := show(lo)
	if show(hi) != w {
		w += " to " + show(hi)
	}
	switch {
	case told == len(es):
		return w
	case told == 0:
		return w + " (no difference shown)"
	}
	return w + fmt.Sprintf(" (a difference shown at %d of %d)", told, len(es))
}
