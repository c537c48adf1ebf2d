package analyze

import (
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// Trials that lost the CPU far more often than the rest of their case, or far more
// of it, are marked, counted and kept.
func TestDisturbedTrials(t *testing.T) {
	second := func(switches, stealMS int64) record.Window {
		return record.Window{NS: 1e9, Involuntary: switches, StealNS: stealMS * 1e6}
	}
	for name, c := range map[string]struct {
		windows []record.Window
		marks   []string
	}{
		"calm":                     {[]record.Window{second(0, 0), second(1, 0), second(0, 0), second(2, 0), second(0, 0), second(10, 10)}, nil},
		"one preempted":            {[]record.Window{second(0, 0), second(1, 0), second(0, 0), second(2, 0), second(0, 0), second(11, 0)}, []string{"preempted (1 of 6)"}},
		"always preempted":         {[]record.Window{second(300, 0), second(310, 0), second(290, 0), second(305, 0), second(300, 0), second(312, 0)}, nil},
		"wide, none far":           {[]record.Window{second(100, 0), second(200, 0), second(300, 0), second(400, 0), second(500, 0), second(900, 0)}, nil},
		"wide, one far":            {[]record.Window{second(100, 0), second(200, 0), second(300, 0), second(400, 0), second(500, 0), second(2000, 0)}, []string{"preempted (1 of 6)"}},
		"stolen":                   {[]record.Window{second(0, 0), second(0, 0), second(0, 0), second(0, 0), second(0, 11), second(0, 12)}, []string{"steal (2 of 6)"}},
		"too few to tell":          {[]record.Window{second(0, 0), second(0, 0), second(0, 0), second(900, 900)}, nil},
		"few switches, no time":    {[]record.Window{{NS: 1e7}, {NS: 1e7}, {NS: 1e7}, {NS: 1e7}, {NS: 1e7, Involuntary: 3}}, nil},
		"more switches, no time":   {[]record.Window{{NS: 1e7}, {NS: 1e7}, {NS: 1e7}, {NS: 1e7}, {NS: 1e7, Involuntary: 4}}, []string{"preempted (1 of 5)"}},
		"windows of different use": {[]record.Window{second(10, 0), second(10, 0), second(10, 0), second(10, 0), {NS: 10e9, Involuntary: 100}}, nil},
	} {
		b := newMini(timedMetric)
		var values []float64
		for range c.windows {
			values = append(values, 1)
		}
		b.add("a", "p", levels(values...)...)
		for i := range b.res.Trials {
			b.res.Trials[i].Record.Window = c.windows[i]
		}
		rep, err := Analyze(b.res)
		if err != nil {
			t.Fatal(err)
		}
		cs := rep.Scenarios[0].Points[0].Cases[0]
		if !slices.Equal(cs.Marks, c.marks) || cs.Counts.Timing != len(c.windows) {
			t.Errorf("%s: marks %q of %d trials, want %q", name, cs.Marks, cs.Counts.Timing, c.marks)
		}
		told := slices.ContainsFunc(rep.Scenarios[0].Warnings, func(w Warning) bool {
			return w.Code == CodeMark && len(c.marks) > 0 && strings.Contains(w.Text, strings.Fields(c.marks[0])[0])
		})
		if told != (len(c.marks) > 0) {
			t.Errorf("%s: warnings %+v", name, rep.Scenarios[0].Warnings)
		}
	}
	// What the run itself has marked is not counted twice.
	b := newMini(timedMetric).add("a", "p", levels(1, 1, 1, 1, 1)...)
	for i := range b.res.Trials {
		b.res.Trials[i].Record.Window = second(0, 0)
	}
	last := &b.res.Trials[4]
	last.Record.Window, last.Marks = second(0, 500), []string{"steal"}
	rep, err := Analyze(b.res)
	if err != nil {
		t.Fatal(err)
	}
	if marks := rep.Scenarios[0].Points[0].Cases[0].Marks; !slices.Equal(marks, []string{"steal (1 of 5)"}) {
		t.Errorf("marks %q", marks)
	}
}

func TestBlocksBeyondThePlan(t *testing.T) {
	b := newMini(timedMetric).add("a", "p", levels(1, 2, 3, 4, 5, 6)...)
	b.res.Header.Scenario.Blocks, b.res.Header.ForNS, b.res.Footer.ExtraBlocks = 4, 18e11, 2
	rep, err := Analyze(b.res)
	if err != nil {
		t.Fatal(err)
	}
	s := rep.Scenarios[0]
	if !slices.ContainsFunc(s.Warnings, func(w Warning) bool {
		return w.Code == CodeFor && strings.Contains(w.Text, "30m0s: its 2 blocks beyond the planned 4")
	}) || s.Info.Blocks != 6 || s.Counts.Timing != 6 || s.Points[0].Cases[0].Cells["cpu_per_msg"].N != 6 {
		t.Errorf("%+v, warnings %+v", s.Counts, s.Warnings)
	}
}
