package analyze

import (
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// day is a result measured on a day, with the counts of one case.
func day(n int, v int64, kernel string) *record.Result {
	r := one(countMetric, repeated(v, 1, 2)...)
	r.Header.Scenario.Name = "s"
	r.Header.Started = time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC)
	r.Header.Environment = record.Environment{{Key: "kernel", Value: kernel, Compare: record.Sampled}, {Key: "load", Value: time.Duration(n).String()}}
	r.Path = "day"
	return r
}

func TestTrendOrdersAndSeparates(t *testing.T) {
	tr, err := Trend([]*record.Result{day(3, 9, "6.18"), day(1, 5, "6.18"), day(2, 7, "6.12"), day(4, 9, "6.18")})
	if err != nil {
		t.Fatal(err)
	}
	if len(tr.Scenarios) != 1 || len(tr.Scenarios[0].Series) != 2 {
		t.Fatalf("%+v", tr)
	}
	s, other := tr.Scenarios[0].Series[0], tr.Scenarios[0].Series[1]
	if s.Label != "kernel 6.18" || other.Label != "kernel 6.12" || len(s.Runs) != 3 || len(other.Runs) != 1 {
		t.Errorf("series %q of %d and %q of %d", s.Label, len(s.Runs), other.Label, len(other.Runs))
	}
	l := s.Lines[0]
	var got []float64
	for _, v := range l.Values {
		got = append(got, v.V)
	}
	if len(got) != 3 || got[0] != 5 || got[1] != 9 || got[2] != 9 || l.Change.Estimate != 1.8 || l.Constant {
		t.Errorf("values %v, change %+v, constant %t", got, l.Change, l.Constant)
	}
	if o := other.Lines[0]; !o.Constant || o.Change.Estimate != 1 {
		t.Errorf("one run: %+v", o)
	}
}

func TestTrendOfCasesThatComeAndGo(t *testing.T) {
	first, second := day(1, 0, "6.18"), day(2, 4, "6.18")
	second.Header.Scenario.Cases[0].Label = "renamed"
	tr, err := Trend([]*record.Result{first, second})
	if err != nil {
		t.Fatal(err)
	}
	lines := tr.Scenarios[0].Series[0].Lines
	if len(lines) != 2 || lines[0].Case != "renamed" || lines[0].Values[0].Run != 1 || lines[1].Case != "new" || lines[1].Values[0].Run != 0 {
		t.Errorf("%+v", lines)
	}
	grown := day(2, 4, "6.18")
	tr, _ = Trend([]*record.Result{first, grown})
	if c := tr.Scenarios[0].Series[0].Lines[0].Change; c.Stat != Diff || c.Estimate != 4 {
		t.Errorf("from nothing: %+v", c)
	}
}

func TestTrendRefuses(t *testing.T) {
	if _, err := Trend(nil); err == nil {
		t.Error("no results are no trend")
	}
	if _, err := Trend([]*record.Result{twoBuilds(1, 0)}); err == nil || !strings.Contains(err.Error(), "--ab") {
		t.Errorf("two builds: %v", err)
	}
}
