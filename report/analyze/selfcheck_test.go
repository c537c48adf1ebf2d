package analyze

import (
	"math"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// session is a run in which the one metric lies about v.
func session(m record.Metric, v float64) *record.Result { return one(m, around(v, .001, 6, 0)...) }

// steady are ten sessions whose figures lie apart by at most the share spread.
func steady(m record.Metric, v, spread float64) []*record.Result {
	var out []*record.Result
	for i := range MinSessions {
		out = append(out, session(m, v*(1+spread*float64(i)/(MinSessions-1))))
	}
	return out
}

func TestSelfCheckCountsAlarmsAndWhatCanBeSeen(t *testing.T) {
	floor := steady(timedMetric, 100, .02)
	pairs := []*record.Result{
		session(timedMetric, 100), session(timedMetric, 101),
		session(timedMetric, 100), session(timedMetric, 104), // beyond the floor, within the threshold of 5%
		session(timedMetric, 100), session(timedMetric, 108), // a false alarm
		session(timedMetric, 108), session(timedMetric, 100), // another
		session(timedMetric, 100), session(timedMetric, 100),
	}
	s, err := SelfCheckResults(floor, pairs, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Metrics) != 1 || s.Pairs != 5 || s.Sessions != MinSessions {
		t.Fatalf("got %+v", s)
	}
	m := s.Metrics[0]
	if m.Pairs != 5 || m.Alarms != 2 || m.Exact || !m.Share || m.Case != "new@p" {
		t.Errorf("got %+v", m)
	}
	if math.Abs(m.Floor-.02) > 1e-3 {
		t.Errorf("floor %g, want 2%%", m.Floor)
	}
	// Four in five pairs of equals lie within 8%, the threshold is 5%.
	if math.Abs(m.Detects-.13) > 2e-3 {
		t.Errorf("can see %g, want 13%%", m.Detects)
	}
}

func TestSelfCheckOfCounts(t *testing.T) {
	count := func(n int64) *record.Result { return one(countMetric, repeated(n, 100, 3)...) }
	var floor []*record.Result
	for range MinSessions {
		floor = append(floor, count(5))
	}
	s, err := SelfCheckResults(floor, []*record.Result{count(5), count(5), count(5), count(6)}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if m := s.Metrics[0]; !m.Exact || m.Alarms != 1 || m.Pairs != 2 {
		t.Errorf("got %+v", m)
	}
}

func TestSelfCheckRefusesTooFew(t *testing.T) {
	floor := steady(timedMetric, 100, 0)
	for _, c := range []struct{ floor, pairs []*record.Result }{
		{floor[:9], floor[:2]}, {floor, floor[:1]}, {floor, nil}, {floor, floor[:3]},
	} {
		if s, err := SelfCheckResults(c.floor, c.pairs, CompareOptions{}); err == nil {
			t.Errorf("%d sessions and %d runs: %+v", len(c.floor), len(c.pairs), s)
		}
	}
}

func TestPlantIsSizedByFloorAndThreshold(t *testing.T) {
	for _, c := range []struct{ spread, share float64 }{{.02, .10}, {.08, .16}} {
		floor := steady(timedMetric, 100, c.spread)
		id, share, size, err := PlantSize(floor, timedMetric.Name, 2, CompareOptions{})
		if err != nil || id != "new@p" || math.Abs(share-c.share) > 2e-3 || math.Abs(size-share*100*(1+c.spread/2)) > .2 {
			t.Errorf("spread %g: %s, %g, %g, %v", c.spread, id, share, size, err)
		}
		plain := []*record.Result{session(timedMetric, 100), session(timedMetric, 100)}
		planted := []*record.Result{session(timedMetric, 100+size), session(timedMetric, 100.5)}
		p, err := CheckPlanted(floor, plain, planted, PlantCheck{Metric: timedMetric.Name, Case: id}, CompareOptions{})
		if err != nil || p.Runs != 2 || p.Found != 1 {
			t.Errorf("spread %g: %+v, %v", c.spread, p, err)
		}
	}
	if _, _, _, err := PlantSize(steady(timedMetric, 100, 0), "nothing", 2, CompareOptions{}); err == nil {
		t.Error("a metric that is not there has a plant")
	}
}
