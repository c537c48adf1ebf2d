package analyze

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

func TestNoiseFloorIsTheLargestShift(t *testing.T) {
	at := []float64{1, 1.02, 0.97, 1.01, 1, 1, 1, 1.05, 0.99, 1}
	var rs []*record.Result
	for _, v := range at {
		rs = append(rs, one(timedMetric, around(v, .01, 5, 0)...))
	}
	base := one(timedMetric, levels(1)...)
	s, why := NewNoise(rs).of(base, base)
	if s == nil {
		t.Fatal(why)
	}
	if f, ok := s.floor("new", "p", timedMetric, Ratio); !ok || math.Abs(f-(1.05/0.97-1)) > 1e-9 {
		t.Errorf("ratio floor %v, want %v", f, 1.05/0.97-1)
	}
	if f, ok := s.floor("new", "p", timedMetric, Diff); !ok || math.Abs(f-0.08) > 1e-9 {
		t.Errorf("difference floor %v, want 0.08", f)
	}
	if _, ok := s.floor("other", "p", timedMetric, Ratio); ok {
		t.Error("a floor for a case no session has")
	}
	rs[3].Trials[0].Record.Metrics["cpu_per_msg"] = record.Level(0)
	s, _ = NewNoise(rs).of(base, base)
	if _, ok := s.floor("new", "p", timedMetric, Ratio); ok {
		t.Error("a ratio floor over a value of zero")
	}
}

func TestNoiseMustBeOfThisMachineAndEnough(t *testing.T) {
	base := fixture.Result()
	sessions := func(n, elsewhere int) *Noise {
		var rs []*record.Result
		for i := range n {
			r := *base
			if i < elsewhere {
				r.Header.Environment = append(record.Environment(nil), base.Header.Environment...)
				r.Header.Environment[2].Value = "6.12.0"
			}
			rs = append(rs, &r)
		}
		return NewNoise(rs)
	}
	for name, c := range map[string]struct {
		n    *Noise
		says string // empty: it serves
	}{
		"none given":      {nil, "--noise"},
		"other scenario":  {NewNoise([]*record.Result{one(timedMetric)}), "do not hold this scenario"},
		"nine":            {sessions(9, 0), "9 noise sessions are fewer than 10"},
		"ten":             {sessions(10, 0), ""},
		"some elsewhere":  {sessions(12, 3), "measured elsewhere (kernel differs)"},
		"enough are here": {sessions(13, 3), ""},
	} {
		s, why := c.n.of(base, base)
		if (s != nil) != (c.says == "") || !strings.Contains(why, c.says) {
			t.Errorf("%s: %q, want %q", name, why, c.says)
		}
	}
}

// simulated draws sessions of ten blocks of one metric: 3% from session to
// session, 3% from block to block.
func simulated(r *rand.Rand, mean float64) *record.Result {
	at := mean * math.Exp(.03*r.NormFloat64())
	var vs []record.Value
	for range 10 {
		vs = append(vs, record.Level(at*math.Exp(.03*r.NormFloat64())))
	}
	return one(timedMetric, vs...)
}

// With a floor from ten
// sessions few comparisons of nothing raise an alarm, and a cost of twice the
// larger of threshold and floor is mostly found.
func TestNoiseFloorHoldsFalseAlarmsAndFindsPlants(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	const rounds = 400
	alarms, found := 0, 0
	for range rounds {
		var rs []*record.Result
		for range MinSessions {
			rs = append(rs, simulated(r, 1))
		}
		noise := NewNoise(rs)
		base := simulated(r, 1)
		d := only(t, base, simulated(r, 1), CompareOptions{Noise: noise})
		if d.Outcome == Regressed || d.Outcome == Improved {
			alarms++
		}
		planted := only(t, base, simulated(r, 1+2*d.Limit), CompareOptions{Noise: noise})
		if planted.Outcome == Regressed {
			found++
		}
	}
	if alarms > rounds/10 {
		t.Errorf("%d false alarms in %d comparisons, more than a tenth", alarms, rounds)
	}
	if found < rounds*8/10 {
		t.Errorf("planted costs found in %d of %d, fewer than eight tenths", found, rounds)
	}
	t.Logf("%d false alarms, %d plants found of %d", alarms, found, rounds)
}
