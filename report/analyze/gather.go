package analyze

import (
	"cmp"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
)

// DefaultAlpha is the error level when a result states none.
const DefaultAlpha = 0.05

// ClassKey is the environment key that says what kind of machine measured:
// hardware, soft or guest.
const ClassKey = "class"

// caseKey tells cases apart: under --ab two builds share an id.
type caseKey struct{ id, build string }

// caseData is one case and the trials that count.
type caseData struct {
	info   record.CaseInfo
	name   string
	used   []*record.TrialLine // ok and valid, one for each purpose, block and repeat
	counts TrialCounts
	marks  map[markKey]int // of the used trials
	skip   *record.Skip
	// tainted says why no claim may rest on the case.
	tainted taint
}

// markKey counts a mark for each purpose of trials.
type markKey struct {
	mark    string
	purpose record.Purpose
}

// taint is why a case's figures mean nothing: it did other work than the rest,
// or delivered wrong data.
type taint struct{ mark, reason string }

var (
	wrongData   = taint{MarkWrongData, "its payload check failed"}
	unequalWork = taint{MarkUnequalWork, "it did other work than the cases it is compared with"}
)

// run is one result file sorted for analysis.
type run struct {
	res     *record.Result
	alpha   float64
	class   string
	metrics map[string]record.Metric
	cases   []*caseData
	byKey   map[caseKey]*caseData
	floor   []*record.TrialLine
	failed  []*record.TrialLine
	counts  TrialCounts
	strays  []string // cases of trials the scenario does not list
}

func gather(res *record.Result) *run {
	info := res.Header.Scenario
	r := &run{res: res, alpha: info.Alpha, metrics: map[string]record.Metric{}, byKey: map[caseKey]*caseData{}}
	if r.alpha <= 0 || r.alpha >= 1 {
		r.alpha = DefaultAlpha
	}
	if v, ok := res.Header.Environment.Get(ClassKey); ok && v != "n/a" {
		r.class = v
	}
	for _, m := range res.Header.Metrics {
		r.metrics[m.Name] = m
	}
	for _, c := range info.Cases {
		d := &caseData{info: c, name: c.Label, marks: map[markKey]int{}}
		if c.Build != "" {
			d.name += " [" + c.Build + "]"
		}
		r.cases = append(r.cases, d)
		r.byKey[caseKey{c.ID, c.Build}] = d
	}
	r.counts.Planned = res.Header.Planned
	for i := range res.Trials {
		r.place(&res.Trials[i])
	}
	for _, c := range r.cases {
		c.settle(&r.counts)
		c.disturbed()
		c.findSkip(res)
	}
	return r
}

// scenario is the scenario as it was run: with the blocks beyond its plan, under --for.
func (r *run) scenario() record.ScenarioInfo {
	info := r.res.Header.Scenario
	for i := range r.res.Trials {
		if t := &r.res.Trials[i]; r.res.Header.ForNS > 0 && t.Trial.Purpose == record.Timing {
			info.Blocks = max(info.Blocks, t.Trial.Block+1)
		}
	}
	return info
}

// place puts a trial where it counts, or counts it where it does not.
func (r *run) place(t *record.TrialLine) {
	c := r.byKey[caseKey{t.Trial.Case, t.Trial.Build}]
	own := &TrialCounts{}
	if c != nil {
		own = &c.counts
	}
	switch {
	case t.Invalid != "":
		r.counts.Invalid++
		own.Invalid++
	case t.Record.Status == record.Skipped:
		r.counts.Skipped++
		own.Skipped++
	case t.Record.Status != record.OK:
		r.counts.Failed++
		own.Failed++
		r.failed = append(r.failed, t)
		if c != nil && t.Trial.Purpose == record.Verify {
			c.tainted = wrongData
		}
	case t.Trial.Purpose == record.Floor:
		r.counts.Used++
		r.floor = append(r.floor, t)
	case t.Trial.Purpose == record.Capacity:
		r.counts.Used++
	case c == nil:
		r.strays = append(r.strays, t.Trial.Case)
	default:
		c.used = append(c.used, t)
	}
}

// settle sorts the trials of a case by purpose, block and repeat and keeps the
// last attempt of each; the ones it replaced count as invalid.
func (c *caseData) settle(all *TrialCounts) {
	slices.SortStableFunc(c.used, func(a, b *record.TrialLine) int {
		return cmp.Or(cmp.Compare(a.Trial.Purpose, b.Trial.Purpose), cmp.Compare(a.Trial.Block, b.Trial.Block),
			cmp.Compare(a.Trial.Repeat, b.Trial.Repeat), cmp.Compare(b.Trial.Attempt, a.Trial.Attempt))
	})
	before := len(c.used)
	c.used = slices.CompactFunc(c.used, func(a, b *record.TrialLine) bool {
		return a.Trial.Purpose == b.Trial.Purpose && a.Trial.Block == b.Trial.Block && a.Trial.Repeat == b.Trial.Repeat
	})
	replaced := before - len(c.used)
	c.counts.Invalid += replaced
	all.Invalid += replaced
	for _, t := range c.used {
		c.counts.add(t.Trial.Purpose)
		all.add(t.Trial.Purpose)
		if t.Trial.Purpose == record.Verify {
			continue // no figure rests on how fast it went
		}
		for _, m := range trialMarks(t) {
			c.marks[markKey{m, t.Trial.Purpose}]++
		}
	}
}

func (n *TrialCounts) add(p record.Purpose) {
	n.Used++
	switch p {
	case record.Timing:
		n.Timing++
	case record.Counting:
		n.Counting++
	case record.Verify:
		n.Verify++
	}
}

const receiverLimited = "receiver-limited"

// trialMarks are the marks of a trial, each once, with what its generator says.
func trialMarks(t *record.TrialLine) []string {
	marks := slices.Clone(t.Marks)
	if t.Generator != nil && t.Generator.Limited == "receiver" {
		marks = append(marks, receiverLimited)
	}
	slices.Sort(marks)
	return slices.Compact(marks)
}

// findSkip looks up why a case without a single trial was skipped. A trial that
// skipped itself says so, too.
func (c *caseData) findSkip(res *record.Result) {
	if len(c.used) > 0 {
		return
	}
	for i, s := range res.Skips {
		if s.Case == c.info.Label || s.Case == c.info.ID {
			c.skip = &res.Skips[i]
			return
		}
	}
	for i := range res.Trials {
		t := &res.Trials[i]
		if t.Record.Status == record.Skipped && t.Trial.Case == c.info.ID && t.Trial.Build == c.info.Build {
			c.skip = &record.Skip{Case: c.info.Label, Reason: t.Record.Error, Remedy: t.Record.Remedy}
			return
		}
	}
}

// at returns the case labelled label at a point, or nil; the first build's
// under --ab.
func (r *run) at(label, point string) *caseData {
	for _, c := range r.cases {
		if c.info.Label == label && c.info.Point == point {
			return c
		}
	}
	return nil
}

// reference returns what effects of a case are counted against: the baseline of
// its point, but under --ab, for a case of the second build, the same case of
// the first.
func (r *run) reference(c *caseData) *caseData {
	if c.info.Build != "" {
		if first := r.at(c.info.Label, c.info.Point); first != nil && first.info.Build != c.info.Build {
			return first
		}
	}
	return r.baseline(c.info.Point, c.info.Build)
}

// baseline returns the baseline case of a point, the one of the same build if
// there is one, or nil.
func (r *run) baseline(point, build string) *caseData {
	var any *caseData
	for _, c := range r.cases {
		if !c.info.Baseline || c.info.Point != point {
			continue
		}
		if c.info.Build == build {
			return c
		}
		if any == nil {
			any = c
		}
	}
	return any
}
