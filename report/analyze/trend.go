package analyze

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// Trends are results of the same scenarios over time.
type Trends struct {
	Scenarios []TrendScenario `json:"scenarios"`
}

// TrendScenario is one scenario over time. What was measured on another machine,
// kernel or text of the scenario is another series: figures are never joined
// across them.
type TrendScenario struct {
	Name   string        `json:"name"`
	Title  string        `json:"title,omitempty"`
	Series []TrendSeries `json:"series"`
}

// TrendSeries are the runs whose figures may be compared, oldest first.
type TrendSeries struct {
	// Label says what tells the series from the scenario's first; of the first it
	// is empty when there is no other.
	Label       string             `json:"label,omitempty"`
	Environment record.Environment `json:"environment"` // of the newest run
	Metrics     []record.Metric    `json:"metrics"`     // the scenario's columns
	Runs        []TrendRun         `json:"runs"`
	Lines       []TrendLine        `json:"lines"`
}

// TrendRun is one result of a series.
type TrendRun struct {
	Path     string      `json:"path"`
	Started  time.Time   `json:"started"`
	Tool     record.Tool `json:"tool"`
	Complete bool        `json:"complete"`
}

// TrendLine is one metric of one case over the runs of a series.
type TrendLine struct {
	Point     string        `json:"point"`
	PointName string        `json:"point_name,omitempty"`
	Case      string        `json:"case"`
	Baseline  bool          `json:"baseline,omitempty"`
	Metric    string        `json:"metric"`
	Unit      string        `json:"unit"`
	Per       string        `json:"per,omitempty"`
	Better    record.Better `json:"better,omitempty"`
	Values    []TrendValue  `json:"values"` // rising in Run; runs without a value are left out
	// Change is the newest value over the oldest, a difference where a zero forbids
	// that. It is arithmetic, no test.
	Change *Effect `json:"change,omitempty"`
	// Constant is set when all values are exact counts and equal.
	Constant bool `json:"constant,omitempty"`
}

// TrendValue is the value of one run.
type TrendValue struct {
	Run         int     `json:"run"` // index into the series' runs
	V           float64 `json:"v"`
	HasInterval bool    `json:"has_interval,omitempty"`
	Lo          float64 `json:"lo,omitempty"`
	Hi          float64 `json:"hi,omitempty"`
	Exact       bool    `json:"exact,omitempty"`
}

// Trend lines results up over time.
func Trend(results []*record.Result) (*Trends, error) {
	if len(results) == 0 {
		return nil, fmt.Errorf("trend: no results given")
	}
	results = slices.Clone(results)
	slices.SortStableFunc(results, func(a, b *record.Result) int {
		return cmp.Or(a.Header.Started.Compare(b.Header.Started), cmp.Compare(a.Path, b.Path))
	})
	var names []string
	series := map[string][][]*record.Result{}
	for _, r := range results {
		if first, _ := buildsOf(r); first != "" {
			return nil, fmt.Errorf("trend: %s holds two builds (--ab), neither of which is a point in time", r.Path)
		}
		name := r.Header.Scenario.Name
		if series[name] == nil {
			names = append(names, name)
		}
		series[name] = joined(series[name], r)
	}
	slices.Sort(names)
	t := &Trends{}
	for _, name := range names {
		s := TrendScenario{Name: name}
		for i, runs := range series[name] {
			one := newSeries(runs)
			if len(series[name]) > 1 {
				one.Label = seriesLabel(series[name], i)
			}
			s.Title = runs[len(runs)-1].Header.Scenario.Title
			s.Series = append(s.Series, one)
		}
		t.Scenarios = append(t.Scenarios, s)
	}
	return t, nil
}

// joined adds a result to the series it may be compared with, or starts one.
func joined(series [][]*record.Result, r *record.Result) [][]*record.Result {
	for i, s := range series {
		if len(envDiff(s[0], r, nil)) == 0 {
			series[i] = append(s, r)
			return series
		}
	}
	return append(series, []*record.Result{r})
}

// seriesLabel names what differs among the series, as it is in this one.
func seriesLabel(all [][]*record.Result, i int) string {
	var keys []string
	for _, other := range all {
		for _, k := range envDiff(other[0], all[i][0], nil) {
			if !slices.Contains(keys, k.Key) {
				keys = append(keys, k.Key)
			}
		}
	}
	slices.Sort(keys)
	h := all[i][0].Header
	var words []string
	for _, k := range keys {
		v := envWords(h.Environment, k)
		switch k {
		case KeyDigest:
			v = short(h.Scenario.Digest)
		case KeySmoke:
			v = fmt.Sprint(h.Scenario.Smoke)
		}
		words = append(words, k+" "+v)
	}
	return strings.Join(words, ", ")
}

func newSeries(results []*record.Result) TrendSeries {
	last := results[len(results)-1]
	s := TrendSeries{Environment: last.Header.Environment}
	var runs []*run
	for _, res := range results {
		r := gather(res)
		r.fingerprints()
		runs = append(runs, r)
		s.Runs = append(s.Runs, TrendRun{res.Path, res.Header.Started, res.Header.Tool, res.Footer != nil && res.Footer.Status == "complete"})
	}
	described, columns := runs[len(runs)-1].described()
	s.Metrics = described[:len(columns)]
	points := runs[len(runs)-1].pointInfos()
	type key struct{ label, point string }
	seen := map[key]bool{}
	for _, r := range slices.Backward(runs) { // the newest run's order first
		for _, c := range r.cases {
			k := key{c.info.Label, c.info.Point}
			if seen[k] {
				continue
			}
			seen[k] = true
			name := ""
			for _, p := range points {
				if p.ID == c.info.Point && len(points) > 1 {
					name = pointName(p, len(points))
				}
			}
			for _, m := range s.Metrics {
				l := newLine(runs, c, m)
				if l.PointName = name; len(l.Values) > 0 {
					s.Lines = append(s.Lines, l)
				}
			}
		}
	}
	return s
}

func newLine(runs []*run, of *caseData, m record.Metric) TrendLine {
	l := TrendLine{Point: of.info.Point, Case: of.info.Label, Baseline: of.info.Baseline,
		Metric: m.Name, Unit: m.Unit, Per: m.Per, Better: m.Better}
	for i, r := range runs {
		c := r.at(of.info.Label, of.info.Point)
		if c == nil || c.tainted.mark != "" {
			continue
		}
		own, known := r.metrics[m.Name]
		if !known || own.Unit != m.Unit || own.Per != m.Per {
			continue
		}
		os := c.observe(own)
		if len(os) == 0 {
			continue
		}
		var cell Cell
		cell.fill(own, os, r.alpha)
		l.Values = append(l.Values, TrendValue{Run: i, V: cell.Median, HasInterval: cell.HasInterval, Lo: cell.Lo, Hi: cell.Hi, Exact: cell.Exact})
	}
	if n := len(l.Values); n > 0 {
		l.Change = change(l.Values[0].V, l.Values[n-1].V)
		l.Constant = !slices.ContainsFunc(l.Values, func(v TrendValue) bool { return !v.Exact || v.V != l.Values[0].V })
	}
	return l
}

// change is plain arithmetic on two values; nil when it does not fit a float.
func change(from, to float64) *Effect {
	e := &Effect{Stat: Ratio, Estimate: to / from, N: 1}
	if from <= 0 || to <= 0 {
		e.Stat, e.Zero, e.Estimate = Diff, true, to-from
	}
	if math.IsNaN(e.Estimate) || math.IsInf(e.Estimate, 0) {
		return nil
	}
	return e
}
