package analyze

import (
	"math"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func cellOf(t *testing.T, s Scenario, label, metric string) Cell {
	t.Helper()
	c := s.Points[0].Case(label)
	if c == nil {
		t.Fatalf("no case %s", label)
	}
	cell, ok := c.Cells[metric]
	if !ok {
		t.Fatalf("%s has no cell %s", label, metric)
	}
	return cell
}

func TestPairingIsByBlockWhateverTheOrder(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", levels(1, 2, 4, 8, 16, 32)...).add("new", "p", levels(2, 4, 8, 16, 32, 64)...)
	slices.Reverse(b.res.Trials)
	e := cellOf(t, b.analyze(t), "new", "cpu_per_msg").Effect
	if !near(e.Estimate, 2) || !near(e.Lo, 2) || !near(e.Hi, 2) || e.N != 6 || e.Stat != Ratio || !near(e.P, 1.0/32) {
		t.Errorf("every block doubles, got %+v", e)
	}
	if len(e.Pairs) != 6 || !near(e.Pairs[3].V, 2) || e.Pairs[3].Block != 3 {
		t.Errorf("pairs %+v", e.Pairs)
	}
}

func TestSameValuesAreExactlyOne(t *testing.T) {
	vs := around(33e-6, 0.3, 10, 1)
	s := newMini(timedMetric).add("old", "p", vs...).add("new", "p", vs...).analyze(t)
	e := cellOf(t, s, "new", "cpu_per_msg").Effect
	if e.Estimate != 1 || e.Lo != 1 || e.Hi != 1 || e.P != 1 || e.Differs() {
		t.Errorf("equal sides: %+v", e)
	}
}

func TestUnpairedBlocksAreLeftOutAndSaid(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", levels(1, 1, 1, 1, 1, 1, 1)...).add("new", "p", levels(3, 3, 3, 3, 3, 3, 3)...)
	b.res.Trials[2].Record.Status, b.res.Trials[2].Record.Error = record.Failed, "killed by signal 9"
	b.res.Trials[3].Invalid = "generator-limited"
	s := b.analyze(t)
	if e := cellOf(t, s, "new", "cpu_per_msg").Effect; e.N != 5 || e.HasInterval {
		t.Errorf("five pairs are left and too few for an interval: %+v", e)
	}
	if c := s.Counts; c.Used != 12 || c.Failed != 1 || c.Invalid != 1 {
		t.Errorf("counts %+v", c)
	}
	mustWarn(t, s, CodeFailed, LevelWarn, "t002", "old@p", "killed by signal 9")
	mustWarn(t, s, CodeMissing, LevelWarn, "old@p (5 of 7)")
	mustWarn(t, s, CodeInvalid, LevelInfo, "1 trial", "generator-limited")
	if c := cellOf(t, s, "old", "cpu_per_msg"); c.N != 5 || c.HasInterval || c.Effect != nil {
		t.Errorf("baseline cell %+v", c)
	}
}

func TestLastAttemptCounts(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", levels(1, 1)...)
	again := b.res.Trials[1]
	again.Trial.ID, again.Trial.Attempt = "again", 1
	again.Record.Metrics = map[string]record.Value{"cpu_per_msg": record.Level(9)}
	b.res.Trials = append([]record.TrialLine{again}, b.res.Trials...)
	s := b.analyze(t)
	if c := cellOf(t, s, "old", "cpu_per_msg"); c.N != 2 || c.Median != 5 {
		t.Errorf("the rerun must replace its block: %+v", c)
	}
	if s.Counts.Invalid != 1 || s.Counts.Used != 2 {
		t.Errorf("counts %+v", s.Counts)
	}
}

func TestZeroMakesDifferencesInEveryBlock(t *testing.T) {
	s := newMini(timedMetric).add("old", "p", levels(0, 1, 1, 1, 1, 1)...).add("new", "p", levels(2, 2, 2, 3, 2, 2)...).analyze(t)
	e := cellOf(t, s, "new", "cpu_per_msg").Effect
	if e.Stat != Diff || !e.Zero || e.Pairs[0].V != 2 || e.Pairs[1].V != 1 || math.IsInf(e.Estimate, 0) {
		t.Errorf("zero baseline in one block: %+v", e)
	}
	s = newMini(timedMetric).add("old", "p", levels(0, 0, 0)...).add("new", "p", levels(0, 0, 0)...).analyze(t)
	if e := cellOf(t, s, "new", "cpu_per_msg").Effect; e.Stat != Diff || e.Estimate != 0 || e.P != 1 || e.Differs() {
		t.Errorf("0 -> 0 is unchanged: %+v", e)
	}
}

func TestExactCounts(t *testing.T) {
	s := newMini(countMetric).add("old", "p", repeated(2000, 1000, 3)...).add("new", "p", repeated(1000, 1000, 3)...).
		add("none", "p", repeated(0, 1000, 3)...).analyze(t)
	c := cellOf(t, s, "new", "go_allocs")
	if !c.Exact || c.Num != 1000 || c.Den != 1000 || c.Median != 1 || c.HasInterval || c.N != 3 {
		t.Errorf("cell %+v", c)
	}
	if e := c.Effect; !e.Exact || e.Stat != Ratio || e.Estimate != 0.5 || e.HasInterval || !e.Differs() {
		t.Errorf("effect %+v", e)
	}
	if e := cellOf(t, s, "none", "go_allocs").Effect; e.Stat != Diff || e.Estimate != -2 || !e.Zero {
		t.Errorf("none against two: %+v", e)
	}
}

func TestCountsThatDisagreeAreSampled(t *testing.T) {
	b := newMini(countMetric).add("old", "p", repeated(2000, 1000, 3)...).
		add("new", "p", record.Count(1000, 1000), record.Count(1001, 1000), record.Count(1000, 1000))
	s := b.analyze(t)
	c := cellOf(t, s, "new", "go_allocs")
	if c.Exact || !slices.Contains(c.Marks, MarkDemoted) || c.Median != 1 {
		t.Errorf("cell %+v", c)
	}
	if c.Effect.Exact || c.Effect.N != 3 {
		t.Errorf("effect %+v", c.Effect)
	}
	mustWarn(t, s, CodeDemoted, LevelInfo, "new@p")
}

func TestCountsMayDifferBetweenSeeds(t *testing.T) {
	b := newMini(countMetric).add("old", "p", record.Count(10, 10), record.Count(30, 10)).add("new", "p", record.Count(5, 10), record.Count(15, 10))
	for i := range b.res.Trials {
		b.res.Trials[i].Trial.Seed = uint64(i % 2)
		b.res.Trials[i].Record.Fingerprint.Sum = uint64(i % 2)
	}
	c := cellOf(t, b.analyze(t), "new", "go_allocs")
	if !c.Exact || c.Num != 20 || c.Den != 20 || !c.Effect.Exact || c.Effect.Estimate != 0.5 {
		t.Errorf("two seeds: %+v %+v", c, c.Effect)
	}
	// A seed only one side counted does not enter the comparison.
	b.res.Trials[3].Trial.Seed = 9
	b.res.Trials[3].Record.Metrics["go_allocs"] = record.Count(700, 10)
	if c := cellOf(t, b.analyze(t), "new", "go_allocs"); c.Effect.Estimate != 0.5 || !c.Effect.Exact {
		t.Errorf("one seed shared: %+v", c.Effect)
	}
}

func TestEqualFractionsAgree(t *testing.T) {
	s := newMini(countMetric).add("old", "p", record.Count(1, 3), record.Count(2, 6)).analyze(t)
	if c := cellOf(t, s, "old", "go_allocs"); !c.Exact {
		t.Errorf("1/3 and 2/6 are one count: %+v", c)
	}
	// 2^53+1 and 2^53 are equal as floats, not as counts.
	s = newMini(countMetric).add("old", "p", record.Count(1<<53, 1)).add("new", "p", record.Count(1<<53+1, 1)).analyze(t)
	if e := cellOf(t, s, "new", "go_allocs").Effect; !e.Differs() || e.Estimate == 1 {
		t.Errorf("unequal counts read equal: %+v", e)
	}
	// Sums that do not fit are not exact; nothing panics.
	b := newMini(countMetric).add("old", "p", record.Count(math.MaxInt64, 1), record.Count(math.MaxInt64, 1))
	b.res.Trials[1].Trial.Seed = 8
	if c := cellOf(t, b.analyze(t), "old", "go_allocs"); c.Exact || math.IsInf(c.Median, 0) {
		t.Errorf("overflow: %+v", c)
	}
}

func TestCountedOnceIsSaid(t *testing.T) {
	s := newMini(countMetric).add("old", "p", record.Count(1, 1)).analyze(t)
	if c := cellOf(t, s, "old", "go_allocs"); !slices.Contains(c.Marks, MarkOnce) {
		t.Errorf("marks %v", c.Marks)
	}
}

func TestUnavailableKeepsItsReason(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", levels(1, 2)...).add("new", "p", levels(1, 2)...).add("gone", "p")
	for i := range 2 {
		b.res.Trials[2+i].Record.Metrics = nil
		b.res.Trials[2+i].Record.Unavailable = map[string]string{"cpu_per_msg": "no rusage here"}
	}
	b.res.Skips = []record.Skip{{Case: "gone", Reason: "io_uring refused (EPERM)", Remedy: "allow it in seccomp"}}
	s := b.analyze(t)
	if c := cellOf(t, s, "new", "cpu_per_msg"); c.Unavailable != "no rusage here" || c.N != 0 || c.Effect != nil {
		t.Errorf("cell %+v", c)
	}
	if c := cellOf(t, s, "gone", "cpu_per_msg"); c.Unavailable != "skipped: io_uring refused (EPERM)" {
		t.Errorf("skipped cell %+v", c)
	}
	if sk := s.Points[0].Case("gone").Skip; sk == nil || sk.Remedy != "allow it in seccomp" {
		t.Errorf("skip %+v", sk)
	}
}

func TestNothingToAnalyze(t *testing.T) {
	if _, err := Analyze(); err == nil {
		t.Error("no results must be an error")
	}
	if _, err := Analyze(nil); err == nil {
		t.Error("a nil result must be an error")
	}
	s := analyzed(t, &record.Result{})
	if s.Complete || len(warned(s, CodeKilled)) != 1 {
		t.Errorf("an empty result is a killed run: %+v", s.Warnings)
	}
}
