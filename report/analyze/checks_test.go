package analyze

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

func TestUnequalWorkIsAnErrorNamingTheCase(t *testing.T) {
	res := fixture.Result()
	n := 0
	for i := range res.Trials {
		tr := &res.Trials[i]
		if tr.Trial.Strategy == "slot" && tr.Trial.Purpose == record.Timing && tr.Trial.Block >= 3 && tr.Trial.Block <= 4 {
			tr.Record.Fingerprint.Ops--
			n++
		}
	}
	if n != 2 {
		t.Fatalf("edited %d trials, want 2", n)
	}
	s := analyzed(t, res)
	mustWarn(t, s, CodeFingerprint, LevelError, "slot@clients=16,load=open(50%) did 1999 messages", "block 3, block 4", "the others 2000")
	ws := warned(s, CodeFingerprint)
	if len(ws) != 1 || len(ws[0].Cases) != 1 || !strings.HasPrefix(ws[0].Cases[0], "slot@") {
		t.Errorf("warnings %+v", ws)
	}
	if s.Warnings[0].Level != LevelError {
		t.Error("the error does not come first")
	}
	if got := s.Points[0].Case("slot").Marks; !slices.Contains(got, MarkUnequalWork) {
		t.Errorf("marks of the case: %v", got)
	}
}

func TestTwoCasesThatDisagreeAreBothNamed(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", levels(1)...).add("new", "p", levels(1)...)
	b.res.Trials[1].Record.Fingerprint.Sum = 99
	ws := warned(b.analyze(t), CodeFingerprint)
	if len(ws) != 1 || len(ws[0].Cases) != 2 {
		t.Errorf("warnings %+v", ws)
	}
}

func TestPointsAreNotComparedWithEachOther(t *testing.T) {
	b := newMini(timedMetric).add("old", "p1", levels(1, 1)...).add("old", "p2", levels(1, 1)...)
	for i := 2; i < 4; i++ {
		b.res.Trials[i].Record.Fingerprint.Ops = 5
	}
	if ws := warned(b.analyze(t), CodeFingerprint); len(ws) != 0 {
		t.Errorf("two points of different work: %+v", ws)
	}
}

func TestNearFloor(t *testing.T) {
	res := fixture.Result()
	for i := range res.Trials {
		if res.Trials[i].Trial.Purpose == record.Floor {
			res.Trials[i].Record.Metrics["cpu_per_msg"] = record.Level(1.5e-6) // slot takes 4.4, ring-inc 4.1
		}
	}
	s := analyzed(t, res)
	mustWarn(t, s, CodeNearFloor, LevelWarn, "3x", "CPU time of ring-inc")
	if c := cellOf(t, s, "ring-inc", "cpu_per_msg"); !slices.Contains(c.Marks, MarkNearFloor) {
		t.Errorf("ring-inc at 4.1 us against a floor of 1.5: %v", c.Marks)
	}
	if c := cellOf(t, s, "heap", "cpu_per_msg"); slices.Contains(c.Marks, MarkNearFloor) {
		t.Errorf("heap at 6.3 us is not within 3x of 1.5")
	}
	rate := record.Metric{Better: record.Higher, Per: record.PerSecond, Unit: record.UnitOne}
	if !nearFloor(rate, 4e6, 1e7) || nearFloor(rate, 3e6, 1e7) || nearFloor(rate, 3e6, 0) {
		t.Error("a rate is near the floor from a third of the null strategy's up")
	}
	if nearFloor(countMetric, 0, 5) {
		t.Error("counts have no floor")
	}
}

func TestFloorIsThatOfTheSamePoint(t *testing.T) {
	b := newMini(timedMetric)
	for i, point := range []string{"p1", "p2"} {
		b.add("old", point, levels(10, 10)...).add(floorStrategy, point, levels(4, 4)...)
		b.trial(record.CaseInfo{ID: "null@" + point, Point: point, Strategy: floorStrategy}, record.Floor, 0, record.Level([]float64{4, 1}[i]))
	}
	s := b.analyze(t)
	for i, want := range []bool{true, false} {
		if got := slices.Contains(s.Points[i].Case("old").Cells["cpu_per_msg"].Marks, MarkNearFloor); got != want {
			t.Errorf("10 at point %d, floors 4 and 1: near the floor %v, want %v", i, got, want)
		}
		if m := s.Points[i].Case(floorStrategy).Cells["cpu_per_msg"].Marks; slices.Contains(m, MarkNearFloor) {
			t.Error("the null strategy is marked near its own floor")
		}
	}
	if len(s.Floor) != 1 || s.Floor[0].V != 2.5 || s.Floor[0].N != 2 {
		t.Errorf("floor %+v", s.Floor)
	}
	// A point without its own floor is held against the others'.
	s = newMiniFloor(2).analyze(t)
	if m := s.Points[0].Case("old").Cells["cpu_per_msg"].Marks; !slices.Contains(m, MarkNearFloor) {
		t.Errorf("5 against a floor of 2 measured elsewhere: %v", m)
	}
}

func newMiniFloor(v float64) *mini {
	b := newMini(timedMetric).add("old", "p", levels(5, 5)...)
	b.trial(record.CaseInfo{ID: "null@q", Point: "q", Strategy: floorStrategy}, record.Floor, 0, record.Level(v))
	return b
}

func TestFailuresAreNamedUpToALimit(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", around(1, 0.1, 20, 0)...)
	for i := range 14 {
		b.res.Trials[i].Record.Status = record.Failed
		b.res.Trials[i].Trial.ID = "old@p/timing/block" + string(rune('a'+i))
	}
	b.res.Footer.Status = "failed"
	s := b.analyze(t)
	ws := warned(s, CodeFailed)
	if len(ws) != failuresMax+1 || !strings.Contains(ws[failuresMax].Text, "14 trials failed in all") {
		t.Errorf("%d warnings, the last %+v", len(ws), ws[len(ws)-1])
	}
	if ws[0].Text != "trial old@p/timing/blocka failed and is left out: no reason given" {
		t.Errorf("got %q", ws[0].Text)
	}
	mustWarn(t, s, CodeInterrupted, LevelWarn, "14 failed trials of 20")
}

func TestMarksOfVerifyTrialsDoNotMatter(t *testing.T) {
	res := fixture.Result()
	for i := range res.Trials {
		switch tr := &res.Trials[i]; tr.Trial.Purpose {
		case record.Verify:
			tr.Marks = []string{"rate-not-achieved"}
		case record.Counting:
			if tr.Trial.Strategy == "slot" && tr.Trial.Repeat == 0 {
				tr.Marks = []string{"steal"}
			}
		}
	}
	s := analyzed(t, res)
	if got := s.Points[0].Case("slot").Marks; len(got) != 1 || got[0] != "steal (1 of 6 counting)" {
		t.Errorf("marks %v", got)
	}
}

func TestCountingTrialsOutsideTheBlocksAreNamedByRepeat(t *testing.T) {
	b := newMini(countMetric).add("old", "p", repeated(1, 1, 3)...).add("new", "p", repeated(1, 1, 3)...).add("third", "p", repeated(1, 1, 3)...)
	for i := range b.res.Trials {
		b.res.Trials[i].Trial.Block = -1
	}
	b.res.Trials[5].Record.Fingerprint.Bytes--
	mustWarn(t, b.analyze(t), CodeFingerprint, LevelError, "counting trials, repeat 2: new@p did 100 messages of 6399 bytes")
}

func TestUnfinishedRunsAreSaid(t *testing.T) {
	res := fixture.Result()
	res.Footer = nil
	res.Header.Planned = 500
	s := analyzed(t, res)
	mustWarn(t, s, CodeKilled, LevelWarn, "105 of 500", "--resume")
	if s.Complete {
		t.Error("complete without a footer")
	}
	res.Footer = &record.Footer{Status: "interrupted"}
	mustWarn(t, analyzed(t, res), CodeInterrupted, LevelWarn, "interrupted")
}

func TestFailedVerifyTaintsTheCase(t *testing.T) {
	res := fixture.Result()
	for i := range res.Trials {
		if tr := &res.Trials[i]; tr.Trial.Purpose == record.Verify && tr.Trial.Strategy == "ring-inc" {
			tr.Record.Status, tr.Record.Error = record.Failed, "message 17: byte 3 is 0x00, want 0x5a"
		}
	}
	s := analyzed(t, res)
	mustWarn(t, s, CodeVerify, LevelError, "ring-inc@", "byte 3")
	for _, v := range s.Claims {
		if v.Status != NotMeasurable {
			t.Errorf("claim %s is %s although ring-inc delivers wrong data", v.Claim.ID, v.Status)
		}
	}
}

func TestUnverifiedCasesAreNamed(t *testing.T) {
	res := fixture.Result()
	res.Trials = slices.DeleteFunc(res.Trials, func(l record.TrialLine) bool {
		return l.Trial.Purpose == record.Verify && l.Trial.Strategy == "heap"
	})
	mustWarn(t, analyzed(t, res), CodeVerify, LevelWarn, "heap@")
}

func TestMarksAreCounted(t *testing.T) {
	res := fixture.Result()
	n := 0
	for i := range res.Trials {
		if tr := &res.Trials[i]; tr.Trial.Purpose == record.Timing && tr.Trial.Strategy == "heap" && n < 3 {
			// Said twice, by the mark and by the generator, it still counts once.
			tr.Marks = []string{receiverLimited, "rate-not-achieved"}
			tr.Generator.Limited = "receiver"
			n++
		}
	}
	s := analyzed(t, res)
	var texts []string
	for _, w := range warned(s, CodeMark) {
		texts = append(texts, w.Text)
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"3 trials marked receiver-limited", "3 trials marked rate-not-achieved", "could not keep up", "heap@"} {
		if !strings.Contains(all, want) {
			t.Errorf("the marks do not say %q: %s", want, all)
		}
	}
	if m := s.Points[0].Case("heap").Marks; !slices.Contains(m, "receiver-limited (3 of 10)") {
		t.Errorf("marks of the case: %v", m)
	}
}

func TestDriftIsFoundAndStillnessSaid(t *testing.T) {
	res := fixture.Result()
	s := analyzed(t, res)
	if len(s.Steady.Drifts) != 0 || !strings.HasPrefix(s.Steady.Summary, "steady state reached") || s.Steady.Tested == 0 {
		t.Errorf("a still run: %+v", s.Steady)
	}
	for i := range res.Trials {
		if tr := &res.Trials[i]; tr.Trial.Purpose == record.Timing && tr.Trial.Strategy == "slot" && tr.Trial.Block >= 5 {
			v := tr.Record.Metrics["cpu_per_msg"].Float64()
			tr.Record.Metrics["cpu_per_msg"] = record.Level(v * 1.5)
		}
	}
	s = analyzed(t, res)
	if len(s.Steady.Drifts) != 1 || s.Steady.Drifts[0].Metric != "cpu_per_msg" || math.Abs(s.Steady.Drifts[0].Change-0.5) > 0.15 {
		t.Fatalf("drifts %+v", s.Steady.Drifts)
	}
	mustWarn(t, s, CodeDrift, LevelWarn, "not reached", "CPU time of slot@")
	if c := cellOf(t, s, "slot", "cpu_per_msg"); !slices.Contains(c.Marks, MarkDrift) {
		t.Errorf("marks %v", c.Marks)
	}
	few := analyzed(t, fixture.New(fixture.Spec{Blocks: 9}))
	if few.Steady.Tested != 0 || !strings.Contains(few.Steady.Summary, "cannot be told") {
		t.Errorf("nine blocks: %+v", few.Steady)
	}
}

func TestSmallShiftsAreNotDrift(t *testing.T) {
	// The halves do not overlap, but 2% apart is not worth a word.
	b := newMini(timedMetric).add("old", "p", levels(1, 1.001, 1.002, 1.003, 1.004, 1.02, 1.021, 1.022, 1.023, 1.024)...)
	s := b.analyze(t)
	if s.Steady.Tested != 1 || len(s.Steady.Drifts) != 0 {
		t.Errorf("%+v", s.Steady)
	}
}

func TestStrayTrialsAreLeftOut(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", levels(1, 2)...)
	b.res.Trials[1].Trial.Case = "who@p"
	s := b.analyze(t)
	mustWarn(t, s, CodeStray, LevelWarn, "who@p")
	if s.Counts.Used != 1 {
		t.Errorf("counts %+v", s.Counts)
	}
}

func TestListsAreCapped(t *testing.T) {
	if got := list([]string{"a", "b", "c", "d", "e", "f"}); got != "a, b, c, d and 2 more" {
		t.Errorf("got %q", got)
	}
}
