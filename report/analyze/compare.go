package analyze

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// ErrNotBuilds is a result that CompareBuilds cannot split in two.
var ErrNotBuilds = errors.New("it does not hold two builds: give two results, or one of zcbench run --ab old=BIN new=BIN")

// Compare compares two sets of results, matched by scenario. It fails with an
// *IncomparableError when a scenario on both sides was not measured alike.
func Compare(base, next []*record.Result, o CompareOptions) (*Comparison, error) {
	byName := map[string]*record.Result{}
	for _, side := range [][]*record.Result{base, next} {
		clear(byName)
		for _, r := range side {
			name := r.Header.Scenario.Name
			if first := byName[name]; first != nil {
				return nil, fmt.Errorf("two results of scenario %s on one side, %s and %s: name the one to compare", name, first.Path, r.Path)
			}
			byName[name] = r
		}
	}
	c := &Comparison{}
	matched := map[string]bool{}
	var failed []error
	for _, b := range base {
		name := b.Header.Scenario.Name
		n := byName[name] // of the last side: next
		matched[name] = true
		if n == nil {
			c.Scenarios = append(c.Scenarios, oneSided(b, Vanished))
			continue
		}
		d, err := comparePair(b, n, o)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		c.Scenarios = append(c.Scenarios, *d)
	}
	for _, n := range next {
		if !matched[n.Header.Scenario.Name] {
			c.Scenarios = append(c.Scenarios, oneSided(n, Appeared))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	return c, nil
}

// CompareBuilds compares the two builds of runs made with --ab, paired by block.
func CompareBuilds(results []*record.Result, o CompareOptions) (*Comparison, error) {
	c := &Comparison{}
	for _, res := range results {
		base, next, ok := splitBuilds(res)
		if !ok {
			return nil, fmt.Errorf("%s: %w", res.Path, ErrNotBuilds)
		}
		d := newComparer(base, next, o, nil, true).scenario()
		d.Base.Build, d.New.Build = buildsOf(res)
		c.Scenarios = append(c.Scenarios, *d)
	}
	return c, nil
}

func comparePair(base, next *record.Result, o CompareOptions) (*ScenarioDiff, error) {
	keys := envDiff(base, next, o.Allow)
	if bad := refused(keys, record.Exact); len(bad) > 0 {
		return nil, &IncomparableError{next.Header.Scenario.Name, base.Path, next.Path, bad}
	}
	return newComparer(base, next, o, keys, false).scenario(), nil
}

func runInfo(res *record.Result) *RunInfo {
	h := res.Header
	return &RunInfo{Path: res.Path, Started: h.Started, Tool: h.Tool, Seed: h.Seed,
		Complete: res.Footer != nil && res.Footer.Status == "complete"}
}

// oneSided is a scenario only one side has: an entry for each of its cases.
func oneSided(res *record.Result, o Outcome) ScenarioDiff {
	info := res.Header.Scenario
	s := ScenarioDiff{Name: info.Name, Title: info.Title, Environment: res.Header.Environment}
	reason := "BASE has no result of this scenario"
	if s.New = runInfo(res); o == Vanished {
		s.Base, s.New = s.New, nil
		reason = "NEW has no result of this scenario"
	}
	for _, c := range info.Cases {
		s.Diffs = append(s.Diffs, Delta{Point: c.Point, Case: c.Label, ID: c.ID, Outcome: o, Reason: reason})
	}
	return s
}

// comparer compares two runs of one scenario.
type comparer struct {
	o         CompareOptions
	base, new *run
	keys      []KeyDiff
	metrics   []record.Metric // that either side reports
	paired    bool
	noise     *sessions // nil: none that fits
	noNoise   string    // why
	tested    []*pending
	silent    map[string]bool // sampled metrics left out
	unplanned map[record.Purpose]bool
	sums      map[[2]int][]float64 // distributions of rank sums, by the sizes of the samples
}

func newComparer(base, next *record.Result, o CompareOptions, keys []KeyDiff, paired bool) *comparer {
	c := &comparer{o: o, base: gather(base), new: gather(next), keys: keys, paired: paired,
		silent: map[string]bool{}, unplanned: map[record.Purpose]bool{},
		sums: map[[2]int][]float64{}}
	for _, r := range []*run{c.base, c.new} {
		r.alpha = o.alpha()
		r.fingerprints() // taints cases
	}
	c.metrics = reportedBy(c.new, c.base)
	if !paired {
		c.noise, c.noNoise = o.Noise.of(base, next)
	}
	return c
}

func (c *comparer) scenario() *ScenarioDiff {
	info := c.new.res.Header.Scenario
	s := &ScenarioDiff{Name: info.Name, Title: info.Title, Base: runInfo(c.base.res), New: runInfo(c.new.res), Paired: c.paired,
		Environment: c.new.res.Header.Environment, Differs: c.keys}
	if c.noise != nil {
		s.Sessions = len(c.noise.runs)
	}
	for _, n := range c.new.cases {
		b := c.base.at(n.info.Label, n.info.Point)
		if b == nil {
			s.Diffs = append(s.Diffs, Delta{Point: n.info.Point, Case: n.info.Label, ID: n.info.ID, Outcome: Appeared, Reason: "BASE does not have this case"})
			continue
		}
		for _, m := range c.metrics {
			if d, ok := c.diff(b, n, m); ok {
				s.Diffs = append(s.Diffs, d)
			}
		}
	}
	for _, b := range c.base.cases {
		if c.new.at(b.info.Label, b.info.Point) == nil {
			s.Diffs = append(s.Diffs, Delta{Point: b.info.Point, Case: b.info.Label, ID: b.info.ID, Outcome: Vanished, Reason: "NEW does not have this case"})
		}
	}
	c.decide(s)
	c.claims(s)
	c.notes(s)
	return s
}

// reportedBy lists what either side reports: NEW's in its order, then those only
// BASE has.
func reportedBy(next, base *run) []record.Metric {
	out, _ := next.described()
	older, _ := base.described()
	for _, m := range older {
		if !slices.ContainsFunc(out, func(n record.Metric) bool { return n.Name == m.Name }) {
			out = append(out, m)
		}
	}
	return out
}

// claims lists the claims whose verdicts differ.
func (c *comparer) claims(s *ScenarioDiff) {
	old, _ := c.base.verdicts()
	now, _ := c.new.verdicts()
	for _, n := range now {
		for _, b := range old {
			if b.Claim.ID != n.Claim.ID || b.Status == n.Status {
				continue
			}
			flipped := b.Status == Supported && n.Status == Refuted || b.Status == Refuted && n.Status == Supported
			s.Claims = append(s.Claims, ClaimDiff{ID: n.Claim.ID, Text: n.Claim.Text, Base: b.Status, New: n.Status, Flipped: flipped, Reason: n.Reason})
		}
	}
}

// notes says what the reader must know of the comparison as a whole.
func (c *comparer) notes(s *ScenarioDiff) {
	add := func(l Level, code, format string, args ...any) {
		s.Notes = append(s.Notes, Warning{Level: l, Code: code, Text: fmt.Sprintf(format, args...)})
	}
	s.Notes = append(s.Notes, envNotes(c.keys)...)
	for i, r := range []*run{c.base, c.new} {
		side := [2]string{"BASE", "NEW"}[i]
		if c.paired {
			side = "the run"
			if i > 0 {
				break
			}
		}
		switch f := r.res.Footer; {
		case f == nil:
			add(LevelWarn, CodeKilled, "%s (%s) was killed: %d of %d planned trials are compared", side, r.res.Path, len(r.res.Trials), r.counts.Planned)
		case f.Status != "complete":
			add(LevelWarn, CodeInterrupted, "%s (%s) is %s: %d of %d planned trials are compared", side, r.res.Path, f.Status, len(r.res.Trials), r.counts.Planned)
		}
	}
	if c.paired {
		return
	}
	if a, b := s.Base, s.New; a.Started.Equal(b.Started) && !a.Started.IsZero() && a.Seed == b.Seed {
		add(LevelInfo, "same-run", "BASE and NEW are the same run")
	}
	if c.noNoise != "" && c.o.Noise != nil {
		add(LevelWarn, "noise", "no noise floor: %s", c.noNoise)
	}
	for _, p := range []record.Purpose{record.Timing, record.Counting, record.Verify} {
		if c.unplanned[p] {
			add(LevelInfo, "purpose", "NEW has no %s trials: what only they measure is not compared", p)
		}
	}
	if len(c.silent) > 0 {
		var names []string
		for _, m := range c.metrics {
			if c.silent[m.Name] {
				names = append(names, m.Name)
			}
		}
		add(LevelInfo, "columns", "sampled metrics that are no columns of the scenario are not compared unless --threshold names them: %s", strings.Join(names, ", "))
	}
}
