package analyze

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// one is a result with the values of one metric of one case.
func one(m record.Metric, vs ...record.Value) *record.Result {
	return newMini(m).add("new", "p", vs...).res
}

// quietNoise are sessions whose figures about v differ by at most the share spread.
func quietNoise(m record.Metric, v, spread float64) *Noise {
	var rs []*record.Result
	for i := range MinSessions {
		rs = append(rs, one(m, around(v*(1+spread*float64(i)/float64(MinSessions-1)), 0, 5, 0)...))
	}
	return NewNoise(rs)
}

func compared(t *testing.T, base, next *record.Result, o CompareOptions) ScenarioDiff {
	t.Helper()
	c, err := Compare([]*record.Result{base}, []*record.Result{next}, o)
	if err != nil {
		t.Fatal(err)
	}
	return c.Scenarios[0]
}

// only is the one delta of a comparison.
func only(t *testing.T, base, next *record.Result, o CompareOptions) Delta {
	t.Helper()
	s := compared(t, base, next, o)
	if len(s.Diffs) != 1 {
		t.Fatalf("%d deltas, want one: %+v", len(s.Diffs), s.Diffs)
	}
	return s.Diffs[0]
}

func withBetter(m record.Metric, b record.Better) record.Metric {
	m.Better = b
	return m
}

func TestCompareExactCounts(t *testing.T) {
	count := func(num, den int64, n int) []record.Value { return repeated(num, den, n) }
	for _, c := range []struct {
		name      string
		m         record.Metric
		base, new []record.Value
		want      Outcome
		exact     bool
		says      string
	}{
		{"same", countMetric, count(7, 3, 3), count(7, 3, 3), Unchanged, true, ""},
		{"same ratio of other integers", countMetric, count(1, 3, 3), count(2, 6, 3), Unchanged, true, ""},
		{"one more", countMetric, count(100, 100, 3), count(101, 100, 3), Regressed, true, ""},
		{"one fewer", countMetric, count(101, 100, 3), count(100, 100, 3), Improved, true, ""},
		{"one more of very many", countMetric, count(1<<60, 3, 3), count(1<<60+1, 3, 3), Regressed, true, ""},
		{"thirds no float tells apart", countMetric, count(1<<62-1, 1<<62, 3), count(1<<62-2, 1<<62-1, 3), Improved, true, ""},
		{"zero to zero", countMetric, count(0, 9, 3), count(0, 9, 3), Unchanged, true, ""},
		{"zero to one", countMetric, count(0, 9, 3), count(1, 9, 3), Regressed, true, ""},
		{"one to zero", countMetric, count(1, 9, 3), count(0, 9, 3), Improved, true, ""},
		{"more is better", withBetter(countMetric, record.Higher), count(1, 1, 3), count(2, 1, 3), Improved, true, ""},
		{"less is worse", withBetter(countMetric, record.Higher), count(2, 1, 3), count(1, 1, 3), Regressed, true, ""},
		{"neither is better", withBetter(countMetric, ""), count(1, 1, 3), count(2, 1, 3), Changed, true, ""},
		{"varies in both", countMetric, []record.Value{record.Count(1, 1), record.Count(2, 1)}, []record.Value{record.Count(2, 1), record.Count(1, 1)}, Unchanged, false, "same values"},
		{"varies in both, no floor", countMetric, []record.Value{record.Count(1, 1), record.Count(3, 1)}, []record.Value{record.Count(2, 1), record.Count(4, 1)}, Inconclusive, false, "noise floor"},
		{"varies a little in both, far apart", countMetric, []record.Value{record.Count(233, 200), record.Count(232, 200)},
			[]record.Value{record.Count(433, 200), record.Count(432, 200)}, Regressed, false, "disagree in both"},
		{"varies in new, all above", countMetric, count(0, 1, 3), []record.Value{record.Count(1, 1), record.Count(2, 1)}, Regressed, false, "in NEW"},
		{"varies in new, about", countMetric, count(1, 1, 3), []record.Value{record.Count(1, 1), record.Count(2, 1)}, Inconclusive, false, "in NEW"},
		{"varied in base, all below now", countMetric, []record.Value{record.Count(1, 1), record.Count(2, 1)}, count(0, 1, 3), Improved, false, "in BASE"},
	} {
		d := only(t, one(c.m, c.base...), one(c.m, c.new...), CompareOptions{})
		if d.Outcome != c.want || d.Exact != c.exact || !strings.Contains(d.Reason, c.says) {
			t.Errorf("%s: %s, exact %t, %q; want %s, %t, %q", c.name, d.Outcome, d.Exact, d.Reason, c.want, c.exact, c.says)
		}
		if e := d.Effect; e == nil || math.IsInf(e.Estimate, 0) || math.IsNaN(e.Estimate) {
			t.Errorf("%s: effect %+v", c.name, e)
		} else if c.exact && (e.Estimate == e.Null()) != (c.want == Unchanged) {
			t.Errorf("%s: effect %v of outcome %s", c.name, e.Estimate, d.Outcome)
		}
	}
}

func TestCompareSeedsOfCounts(t *testing.T) {
	base, next := one(countMetric, repeated(5, 1, 3)...), one(countMetric, repeated(5, 1, 3)...)
	for i := range next.Trials {
		next.Trials[i].Trial.Seed = 8
	}
	if d := only(t, base, next, CompareOptions{}); d.Outcome != Inconclusive || !strings.Contains(d.Reason, "--seed") {
		t.Errorf("other seeds: %+v", d)
	}
	// Two seeds whose sums agree: one has still grown.
	base, next = one(countMetric, record.Count(1, 1), record.Count(2, 1)), one(countMetric, record.Count(2, 1), record.Count(1, 1))
	base.Trials[1].Trial.Seed, next.Trials[1].Trial.Seed = 8, 8
	if d := only(t, base, next, CompareOptions{}); d.Outcome != Regressed {
		t.Errorf("seeds that swap counts: %+v", d)
	}
}

func TestThresholdOfACountMustNameIt(t *testing.T) {
	base, next := one(countMetric, repeated(100, 1, 3)...), one(countMetric, repeated(103, 1, 3)...)
	for name, c := range map[string]struct {
		o    CompareOptions
		want Outcome
	}{
		"general":       {CompareOptions{Threshold: 0.5}, Regressed},
		"named":         {CompareOptions{Metrics: map[string]Threshold{"go_allocs": {V: 0.05}}}, Unchanged},
		"named, small":  {CompareOptions{Metrics: map[string]Threshold{"go_allocs": {V: 0.02}}}, Regressed},
		"absolute":      {CompareOptions{Metrics: map[string]Threshold{"go_allocs": {V: 3, Absolute: true}}}, Unchanged},
		"absolute less": {CompareOptions{Metrics: map[string]Threshold{"go_allocs": {V: 2, Absolute: true}}}, Regressed},
	} {
		if d := only(t, base, next, c.o); d.Outcome != c.want {
			t.Errorf("%s: %s, want %s", name, d.Outcome, c.want)
		}
	}
	zero := one(countMetric, repeated(0, 1, 3)...)
	if d := only(t, zero, next, CompareOptions{Metrics: map[string]Threshold{"go_allocs": {V: 10}}}); d.Outcome != Regressed {
		t.Errorf("no share of nothing is something: %s", d.Outcome)
	}
}

func TestCompareSampled(t *testing.T) {
	higher := withBetter(timedMetric, record.Higher)
	five := []float64{7, 7, 7, 7, 7}
	for _, c := range []struct {
		name      string
		m         record.Metric
		base, new []record.Value
		spread    float64 // of the noise sessions; below 0: none
		o         CompareOptions
		want      Outcome
		says      string
	}{
		{"no floor", timedMetric, around(1, .02, 10, 0), around(2, .02, 10, 1), -1, CompareOptions{}, Inconclusive, "noise floor"},
		{"doubled", timedMetric, around(1, .02, 10, 0), around(2, .02, 10, 1), .01, CompareOptions{}, Regressed, "threshold of 5%"},
		{"halved", timedMetric, around(2, .02, 10, 0), around(1, .02, 10, 1), .01, CompareOptions{}, Improved, ""},
		{"higher is better", higher, around(1, .02, 10, 0), around(2, .02, 10, 1), .01, CompareOptions{}, Improved, ""},
		{"higher is better, halved", higher, around(2, .02, 10, 0), around(1, .02, 10, 1), .01, CompareOptions{}, Regressed, ""},
		{"within the threshold", timedMetric, around(1, .02, 10, 0), around(1.03, .02, 10, 1), .01, CompareOptions{}, Unchanged, "threshold of 5%"},
		{"a smaller threshold", timedMetric, around(1, .02, 10, 0), around(1.03, .02, 10, 1), .01, CompareOptions{Threshold: .02}, Regressed, "threshold of 2%"},
		{"within the floor", timedMetric, around(1, .02, 10, 0), around(1.2, .02, 10, 1), .3, CompareOptions{}, Unchanged, "noise floor of 30%"},
		{"beyond the floor", timedMetric, around(1, .02, 10, 0), around(1.5, .02, 10, 1), .3, CompareOptions{}, Regressed, "noise floor of 30%"},
		{"wide", timedMetric, around(1, .9, 10, 0), around(1.1, .9, 10, 1), .01, CompareOptions{}, Inconclusive, "but p "},
		{"constant against near-constant", timedMetric, levels(five...), levels(10, 10, 10, 10, 10.01), .01, CompareOptions{}, Regressed, "p 0.0079"},
		{"too few", timedMetric, levels(1, 1.01), levels(2, 2.01), .01, CompareOptions{}, Inconclusive, "2 against 2 values are too few"},
		{"one of each", timedMetric, levels(1), levels(2), .01, CompareOptions{}, Inconclusive, "too few"},
		{"one of each, equal", timedMetric, levels(1), levels(1), -1, CompareOptions{}, Unchanged, "same values"},
		{"identical values", timedMetric, levels(five...), levels(five...), -1, CompareOptions{}, Unchanged, "same values"},
		{"zero to zero", timedMetric, levels(0, 0, 0, 0, 0), levels(0, 0, 0, 0, 0), -1, CompareOptions{}, Unchanged, "same values"},
		{"zero to something", timedMetric, levels(0, 0, 0, 0, 0), levels(3, 3, 3, 3, 3), 0, CompareOptions{}, Regressed, "threshold of 0 ns"},
		{"something to zero", timedMetric, levels(3, 3, 3, 3, 3), levels(0, 0, 0, 0, 0), 0, CompareOptions{}, Improved, ""},
		{"absolute threshold", timedMetric, around(1, .02, 10, 0), around(2, .02, 10, 1), .01,
			CompareOptions{Metrics: map[string]Threshold{"cpu_per_msg": {V: 1.5, Absolute: true}}}, Unchanged, "threshold of 1.5 s"},
		{"absolute threshold exceeded", timedMetric, around(1, .02, 10, 0), around(2, .02, 10, 1), .01,
			CompareOptions{Metrics: map[string]Threshold{"cpu_per_msg": {V: .5, Absolute: true}}}, Regressed, "threshold of 500 ms"},
	} {
		if c.spread >= 0 {
			c.o.Noise = quietNoise(c.m, c.base[0].Float64(), c.spread)
		}
		d := only(t, one(c.m, c.base...), one(c.m, c.new...), c.o)
		if d.Outcome != c.want || !strings.Contains(d.Reason, c.says) {
			t.Errorf("%s: %s (%q), want %s (%q)", c.name, d.Outcome, d.Reason, c.want, c.says)
		}
		if e := d.Effect; e == nil || math.IsInf(e.Estimate, 0) || math.IsNaN(e.Estimate) {
			t.Errorf("%s: effect %+v", c.name, e)
		}
	}
}

// Neutral sampled metrics, and those that are no columns, are compared only when asked.
func TestCompareOnlyWhatIsGated(t *testing.T) {
	base, next := one(timedMetric, levels(1, 1, 1)...), one(timedMetric, levels(2, 2, 2)...)
	for _, r := range []*record.Result{base, next} {
		r.Header.Scenario.Metrics = nil
	}
	if s := compared(t, base, next, CompareOptions{}); len(s.Diffs) != 0 || !noted(s, "cpu_per_msg") {
		t.Errorf("a metric that is no column: %+v %+v", s.Diffs, s.Notes)
	}
	o := CompareOptions{Metrics: map[string]Threshold{"cpu_per_msg": {V: .1}}}
	if s := compared(t, base, next, o); len(s.Diffs) != 1 {
		t.Errorf("a metric asked for by name: %+v", s.Diffs)
	}
}

func noted(s ScenarioDiff, words ...string) bool {
	for _, n := range s.Notes {
		ok := true
		for _, w := range words {
			ok = ok && strings.Contains(n.Text, w)
		}
		if ok {
			return true
		}
	}
	return false
}

func TestCompareOneSided(t *testing.T) {
	base := newMini(countMetric).add("old", "p", repeated(1, 1, 2)...).add("gone", "p", repeated(1, 1, 2)...).res
	next := newMini(countMetric).add("old", "p", repeated(1, 1, 2)...).add("fresh", "p", repeated(9, 1, 2)...).res
	s := compared(t, base, next, CompareOptions{})
	got := map[string]Outcome{}
	for _, d := range s.Diffs {
		got[d.Case] = d.Outcome
	}
	want := map[string]Outcome{"old": Unchanged, "fresh": Appeared, "gone": Vanished}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	// A skip in NEW is a missing value with its reason.
	next = newMini(countMetric).add("old", "p", repeated(1, 1, 2)...).add("gone", "p").res
	next.Skips = []record.Skip{{Case: "gone", Reason: "this kernel refuses it"}}
	s = compared(t, base, next, CompareOptions{})
	if d := s.Diffs[1]; d.Outcome != Vanished || !strings.Contains(d.Reason, "this kernel refuses it") {
		t.Errorf("a skipped case: %+v", d)
	}
	// Scenarios only one side has.
	other := one(countMetric, repeated(1, 1, 2)...)
	other.Header.Scenario.Name = "other"
	c, err := Compare([]*record.Result{base}, []*record.Result{other}, CompareOptions{})
	if err != nil || c.Count(Vanished) != 2 || c.Count(Appeared) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := Compare([]*record.Result{base, base}, []*record.Result{base}, CompareOptions{}); err == nil {
		t.Error("two results of one scenario on a side are not refused")
	}
}

func TestWrongDataIsNotAFigure(t *testing.T) {
	base, next := one(countMetric, repeated(5, 1, 2)...), one(countMetric, repeated(1, 1, 2)...)
	b := &mini{next, countMetric}
	b.trial(next.Header.Scenario.Cases[0], record.Verify, 0, record.Count(0, 1))
	next.Trials[len(next.Trials)-1].Record.Status = record.Failed
	if d := only(t, base, next, CompareOptions{}); d.Outcome != Vanished || !strings.Contains(d.Reason, "payload check failed") {
		t.Errorf("fewer allocations, but wrong data: %+v", d)
	}
}

// A run of counts only against a full one does not lose its timings.
func TestCountsAgainstAFullRun(t *testing.T) {
	full, counts := fixture.Result(), fixture.Result()
	kept := counts.Trials[:0]
	for _, tr := range counts.Trials {
		if tr.Trial.Purpose == record.Counting {
			kept = append(kept, tr)
		}
	}
	counts.Trials = kept
	s := compared(t, full, counts, CompareOptions{})
	if n := s.Count(Vanished); n != 0 || !noted(s, "no timing trials") {
		t.Errorf("%d missing; notes %+v", n, s.Notes)
	}
	if s.Count(Unchanged) == 0 {
		t.Error("nothing was compared")
	}
}

func TestResultAgainstItself(t *testing.T) {
	for _, res := range []*record.Result{fixture.Result(), fixture.Sweep(), fixture.New(fixture.Spec{Blocks: 1, Repeats: 1})} {
		s := compared(t, res, res, CompareOptions{})
		if len(s.Diffs) == 0 || len(s.Claims) != 0 || !noted(s, "same run") {
			t.Errorf("%d deltas, claims %+v, notes %+v", len(s.Diffs), s.Claims, s.Notes)
		}
		for _, d := range s.Diffs {
			if d.Outcome != Unchanged || d.Effect.Estimate != d.Effect.Null() {
				t.Errorf("%s: %s, effect %v", d.Title(), d.Outcome, d.Effect.Estimate)
			}
		}
	}
}

func TestCompareEnvironment(t *testing.T) {
	with := func(key, value string) *record.Result {
		r := fixture.Result()
		for i := range r.Header.Environment {
			if r.Header.Environment[i].Key == key {
				r.Header.Environment[i].Value, r.Header.Environment[i].Unavailable = value, ""
			}
		}
		return r
	}
	base := fixture.Result()
	for name, c := range map[string]struct {
		next  *record.Result
		allow []string
		key   string // named by an IncomparableError
	}{
		"other kernel":         {with("kernel", "6.12.0"), nil, ""},
		"other arch":           {with("arch", "arm64"), nil, "arch"},
		"other page size":      {with("page_size", "65536"), nil, "page_size"},
		"arch allowed":         {with("arch", "arm64"), []string{"arch"}, ""},
		"another is allowed":   {with("arch", "arm64"), []string{"kernel"}, "arch"},
		"governor known there": {with("governor", "performance"), nil, ""},
	} {
		_, err := Compare([]*record.Result{base}, []*record.Result{c.next}, CompareOptions{Allow: c.allow})
		var bad *IncomparableError
		if errors.As(err, &bad) != (c.key != "") || c.key != "" && (bad.Keys[0].Key != c.key || !strings.Contains(err.Error(), "--allow-env-mismatch "+c.key)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	digest := fixture.Result()
	digest.Header.Scenario.Digest = "feed"
	smoke := fixture.New(fixture.Spec{Smoke: true})
	for key, next := range map[string]*record.Result{KeyDigest: digest, KeySmoke: smoke} {
		if _, err := Compare([]*record.Result{base}, []*record.Result{next}, CompareOptions{}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", key, err)
		}
		s := compared(t, base, next, CompareOptions{Allow: []string{key}})
		if !noted(s, key, "as allowed") {
			t.Errorf("%s allowed: %+v", key, s.Notes)
		}
	}
}

func TestAnotherKernelRefusesSampledByName(t *testing.T) {
	base, next := fixture.Result(), fixture.New(fixture.Spec{Seed: 2})
	for i := range next.Trials { // the counts of one seed
		if next.Trials[i].Trial.Purpose == record.Counting {
			next.Trials[i].Trial.Seed = base.Header.Seed * 1000
		}
	}
	for i := range next.Header.Environment {
		if next.Header.Environment[i].Key == "kernel" {
			next.Header.Environment[i].Value = "6.12.0"
		}
	}
	s := compared(t, base, next, CompareOptions{})
	exact, refused := 0, 0
	for _, d := range s.Diffs {
		switch {
		case d.Exact:
			exact++
			if d.Outcome != Unchanged {
				t.Errorf("%s: %s (%s)", d.Title(), d.Outcome, d.Reason)
			}
		case d.Outcome == Inconclusive && strings.Contains(d.Reason, "kernel"):
			refused++
		default:
			t.Errorf("%s is sampled, on two kernels, and %s (%s)", d.Title(), d.Outcome, d.Reason)
		}
	}
	if exact == 0 || refused == 0 || !noted(s, "kernel", "6.18.0 against 6.12.0") {
		t.Errorf("%d exact, %d refused, notes %+v", exact, refused, s.Notes)
	}
}

func TestFlippedClaims(t *testing.T) {
	build := func(a, b int64) *record.Result {
		return newMini(countMetric).add("old", "p", repeated(b, 1, 2)...).add("new", "p", repeated(a, 1, 2)...).
			claim(record.Claim{ID: "cheaper", Expect: "less", By: 0.1}).res
	}
	for name, c := range map[string]struct {
		base, next *record.Result
		claims     int
		flipped    bool
	}{
		"same":    {build(1, 2), build(1, 2), 0, false},
		"flipped": {build(1, 2), build(3, 2), 1, true},
		"back":    {build(3, 2), build(1, 2), 1, true},
	} {
		s := compared(t, c.base, c.next, CompareOptions{})
		if len(s.Claims) != c.claims || c.claims > 0 && s.Claims[0].Flipped != c.flipped {
			t.Errorf("%s: %+v", name, s.Claims)
		}
	}
	lost := build(1, 2)
	lost.Header.Scenario.Cases = lost.Header.Scenario.Cases[:1]
	if s := compared(t, build(1, 2), lost, CompareOptions{}); len(s.Claims) != 1 || s.Claims[0].Flipped {
		t.Errorf("a verdict that is lost is not flipped: %+v", s.Claims)
	}
}

func TestKilledRunsAreComparedWithAWarning(t *testing.T) {
	base, next := fixture.Result(), fixture.Result()
	next.Footer = nil
	if s := compared(t, base, next, CompareOptions{}); !noted(s, "NEW", "killed") {
		t.Errorf("%+v", s.Notes)
	}
	base.Footer = &record.Footer{Ended: time.Now(), Status: "interrupted"}
	if s := compared(t, base, next, CompareOptions{}); !noted(s, "BASE", "interrupted") {
		t.Errorf("%+v", s.Notes)
	}
}

// Names that a careless reader would take for something else stay themselves.
func TestCompareOddNames(t *testing.T) {
	long := strings.Repeat("x", 300)
	names := []string{"nan", "null", "Inf", long + "a", long + "b"}
	build := func(raised string) *record.Result {
		b := newMini(countMetric)
		for _, n := range names {
			v := int64(5)
			if n == raised {
				v++
			}
			b.add(n, "p", repeated(v, 1, 2)...)
		}
		return b.res
	}
	for _, n := range names {
		s := compared(t, build(""), build(n), CompareOptions{})
		for _, d := range s.Diffs {
			if (d.Outcome == Regressed) != (d.Case == n) {
				t.Errorf("with %q raised, %q is %s", n, d.Case, d.Outcome)
			}
		}
	}
}

func TestHolmHoldsTheFamily(t *testing.T) {
	// p of 5 against 5 fully apart is .0079: enough for 6 metrics, not for 7.
	build := func(n int, v float64) *record.Result {
		b := newMini(timedMetric)
		for i := range n {
			b.add(fmt.Sprint("c", i), "p", around(v, .02, 5, i)...)
		}
		return b.res
	}
	for n, want := range map[int]Outcome{6: Regressed, 7: Inconclusive} {
		var rs []*record.Result
		for range MinSessions {
			rs = append(rs, build(n, 1))
		}
		s := compared(t, build(n, 1), build(n, 2), CompareOptions{Noise: NewNoise(rs)})
		if s.Family != n || s.Count(want) != n {
			t.Errorf("%d metrics: family %d, %d %s: %+v", n, s.Family, s.Count(want), want, s.Diffs[0])
		}
		if want == Inconclusive && !strings.Contains(s.Diffs[0].Reason, "among 7 metrics") {
			t.Errorf("reason %q", s.Diffs[0].Reason)
		}
	}
}

// A hold by time comes to another number of messages in each run: what counts
// differ by then says nothing.
func TestCountsOfMessagesHeldForATime(t *testing.T) {
	held := func(calls int64, messages int) *record.Result {
		r := one(countMetric, repeated(calls, 100, 3)...)
		for i := range r.Trials {
			r.Trials[i].Trial.Workload.HoldMessages = messages
		}
		return r
	}
	d := only(t, held(5, 310), held(6, 298), CompareOptions{})
	if d.Outcome != Inconclusive || !strings.Contains(d.Reason, "310") || !strings.Contains(d.Reason, "298") {
		t.Errorf("got %s: %s", d.Outcome, d.Reason)
	}
	if d := only(t, held(5, 310), held(6, 310), CompareOptions{}); d.Outcome != Regressed {
		t.Errorf("held alike: %s", d.Outcome)
	}
}
