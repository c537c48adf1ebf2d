package analyze

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func verdictOf(t *testing.T, b *mini) Verdict {
	t.Helper()
	v := b.analyze(t).Claims[0]
	if v.Reason == "" {
		t.Errorf("verdict without a reason: %+v", v)
	}
	return v
}

func TestTimedVerdicts(t *testing.T) {
	const n = 10
	for _, c := range []struct {
		name   string
		shift  float64 // new = shift x old, with the scatter
		spread float64
		claim  record.Claim
		want   VerdictStatus
	}{
		{"less, far below", 0.5, 0.02, record.Claim{Expect: "less", By: 0.2}, Supported},
		{"less, far above the margin", 0.9, 0.02, record.Claim{Expect: "less", By: 0.2}, Refuted},
		{"less, astride the margin", 0.8, 0.1, record.Claim{Expect: "less", By: 0.2}, Undecided},
		{"less, going up", 2, 0.02, record.Claim{Expect: "less", By: 0.2}, Refuted},
		{"greater, far above", 1.5, 0.02, record.Claim{Expect: "greater", By: 0.2}, Supported},
		{"greater, above 1 but below the margin", 1.1, 0.02, record.Claim{Expect: "greater", By: 0.2}, Refuted},
		{"greater, astride", 1.2, 0.1, record.Claim{Expect: "greater", By: 0.2}, Undecided},
		{"same, tight", 1, 0.01, record.Claim{Expect: "same", By: 0.05}, Supported},
		{"same, above", 1.5, 0.01, record.Claim{Expect: "same", By: 0.05}, Refuted},
		{"same, below", 0.5, 0.01, record.Claim{Expect: "same", By: 0.05}, Refuted},
		{"same, wide", 1.03, 0.2, record.Claim{Expect: "same", By: 0.05}, Undecided},
		{"diff less", 0.5, 0.02, record.Claim{Stat: "diff", Expect: "less", By: 4}, Supported},
		{"diff less, not by so much", 0.5, 0.02, record.Claim{Stat: "diff", Expect: "less", By: 6}, Refuted},
		{"diff greater", 1.5, 0.02, record.Claim{Stat: "diff", Expect: "greater", By: 4}, Supported},
		{"diff same", 1.01, 0.02, record.Claim{Stat: "diff", Expect: "same", By: 2}, Supported},
	} {
		old, scaled := around(10, 0.3, n, 0), []record.Value{}
		for i, jitter := range around(1, c.spread, n, 1) {
			scaled = append(scaled, record.Level(old[i].Float64()*c.shift*jitter.Float64()))
		}
		v := verdictOf(t, newMini(timedMetric).add("old", "p", old...).add("new", "p", scaled...).claim(c.claim))
		if v.Status != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, v.Status, v.Reason, c.want)
		}
		checkInterval(t, c.name, v)
		if c.want == Undecided && (v.BlocksLo <= n || v.BlocksHi < v.BlocksLo) && !strings.Contains(v.Reason, "no reasonable number") {
			t.Errorf("%s: no estimate of blocks: %+v", c.name, v)
		}
	}
}

// checkInterval holds a verdict against the interval shown with it.
func checkInterval(t *testing.T, name string, v Verdict) {
	t.Helper()
	e := v.Points[0].Effect
	lower, upper := bounds(v.Claim)
	var sup, ref bool
	switch v.Claim.Expect {
	case "less":
		sup, ref = e.Hi < upper, e.Lo > upper
	case "greater":
		sup, ref = e.Lo > lower, e.Hi < lower
	default:
		sup, ref = e.Lo > lower && e.Hi < upper, e.Lo > upper || e.Hi < lower
	}
	if sup != (v.Status == Supported) || ref != (v.Status == Refuted) {
		t.Errorf("%s: verdict %s contradicts its interval %v..%v", name, v.Status, e.Lo, e.Hi)
	}
}

func TestTooFewBlocksDecideNothing(t *testing.T) {
	v := verdictOf(t, newMini(timedMetric).add("old", "p", levels(10, 11, 12, 13, 14)...).add("new", "p", levels(1, 1, 1, 1, 1)...).
		claim(record.Claim{Expect: "less", By: 0.1}))
	if v.Status != Undecided || v.BlocksLo != 6 {
		t.Errorf("five blocks: %+v", v)
	}
	v = verdictOf(t, newMini(timedMetric).add("old", "p", levels(10)...).add("new", "p", levels(1)...).claim(record.Claim{Expect: "less", By: 0.1}))
	if v.Status != Undecided || v.BlocksLo != 6 {
		t.Errorf("one block: %+v", v)
	}
}

func TestAllNeedsEveryPoint(t *testing.T) {
	build := func(second float64, at string) *mini {
		return newMini(timedMetric).add("old", "p1", around(10, 0.01, 8, 0)...).add("new", "p1", around(5, 0.01, 8, 1)...).
			add("old", "p2", around(10, 0.01, 8, 0)...).add("new", "p2", around(second, 0.01, 8, 1)...).
			claim(record.Claim{Expect: "less", By: 0.2, At: at})
	}
	for _, c := range []struct {
		second float64
		at     string
		want   VerdictStatus
		points int
	}{{5, "all", Supported, 2}, {12, "all", Refuted, 2}, {8, "all", Undecided, 2}, {12, "p1", Supported, 1}, {12, "p2", Refuted, 1}, {5, "", Supported, 2}} {
		v := verdictOf(t, build(c.second, c.at))
		if v.Status != c.want || len(v.Points) != c.points {
			t.Errorf("second point %v at %q: %s with %d points, want %s", c.second, c.at, v.Status, len(v.Points), c.want)
		}
	}
	if v := verdictOf(t, build(5, "p9")); v.Status != NotMeasurable || !strings.Contains(v.Reason, "p9") {
		t.Errorf("unknown point: %+v", v)
	}
}

func TestHolmFamilyIsTheTimedClaims(t *testing.T) {
	// Eight blocks reach p = .0078: enough for one claim at .05/2, not at .05/7.
	build := func(claims int) Scenario {
		b := newMini(timedMetric).add("old", "p", around(10, 0.01, 8, 0)...).add("new", "p", around(5, 0.01, 8, 1)...)
		for range claims {
			b.claim(record.Claim{Expect: "less", By: 0.2})
		}
		// Claims that are not timed must not count.
		b.res.Header.Metrics = append(b.res.Header.Metrics, countMetric, levelMetric)
		b.claim(record.Claim{Metric: "go_allocs", Expect: "less", By: 0.1}).claim(record.Claim{Metric: "buffer_pages_mean", Expect: "less", By: 0.1})
		return b.analyze(t)
	}
	if s := build(6); s.Family != 6 || s.Claims[0].Status != Supported || s.Claims[5].Status != Supported {
		t.Errorf("six claims at eight blocks: family %d, %s", s.Family, s.Claims[5].Status)
	}
	s := build(7)
	if s.Family != 7 || s.Claims[0].Status != Undecided {
		t.Errorf("seven claims at eight blocks: family %d, %s", s.Family, s.Claims[0].Status)
	}
	mustWarn(t, s, CodePower, LevelWarn, "8 blocks", "7 timed claims", "at least 9")
	if s.Claims[0].Points[0].Effect.HasInterval {
		t.Errorf("an interval at a level eight blocks cannot reach: %+v", s.Claims[0].Points[0].Effect)
	}
}

func TestHolmStepsDown(t *testing.T) {
	// The first claim is far from its margin, the second undecidable: the first
	// is read at .05/2, the second at .05.
	b := newMini(timedMetric).add("old", "p", around(10, 0.01, 10, 0)...).add("new", "p", around(8, 0.01, 10, 1)...).
		claim(record.Claim{Expect: "less", By: 0.2}).claim(record.Claim{Expect: "less", By: 0.05})
	s := b.analyze(t)
	if v := s.Claims[1]; v.Status != Supported || !near(v.Level, 0.975) {
		t.Errorf("clear claim: %+v", v)
	}
	if v := s.Claims[0]; v.Status != Undecided || !near(v.Level, 0.95) {
		t.Errorf("claim at its margin: %+v", v)
	}
}

func TestUnmeasurableTimedClaimsStayInTheFamily(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", around(10, 0.01, 10, 0)...).add("new", "p", around(5, 0.01, 10, 1)...).
		claim(record.Claim{Expect: "less", By: 0.2}).claim(record.Claim{Expect: "less", By: 0.2, A: "missing", B: "old"})
	s := b.analyze(t)
	if s.Family != 2 || !near(s.Claims[0].Level, 0.975) {
		t.Errorf("family %d, level %v", s.Family, s.Claims[0].Level)
	}
}

func TestResidencyClaimsAreReadAtAlpha(t *testing.T) {
	b := newMini(levelMetric).add("old", "p", around(1000, 0.01, 6, 0)...).add("new", "p", around(300, 0.01, 6, 1)...).
		claim(record.Claim{Expect: "less", By: 0.2}).claim(record.Claim{Expect: "less", By: 0.3})
	s := b.analyze(t)
	if s.Family != 0 || s.Claims[0].Status != Supported || s.Claims[1].Status != Supported {
		t.Errorf("six counting trials: family %d, %s, %s", s.Family, s.Claims[0].Status, s.Claims[1].Status)
	}
}

func TestExactVerdictsAreArithmetic(t *testing.T) {
	for _, c := range []struct {
		old, new int64
		claim    record.Claim
		want     VerdictStatus
	}{
		{1000, 899, record.Claim{Expect: "less", By: 0.1}, Supported},
		{1000, 900, record.Claim{Expect: "less", By: 0.1}, Refuted}, // equal to the margin, in decimals: not less
		{1000, 1101, record.Claim{Expect: "greater", By: 0.1}, Supported},
		{1000, 1100, record.Claim{Expect: "greater", By: 0.1}, Refuted},
		{1000, 1000, record.Claim{Expect: "same", By: 0.01}, Supported},
		{1000, 1010, record.Claim{Expect: "same", By: 0.01}, Supported},
		{1000, 1011, record.Claim{Expect: "same", By: 0.01}, Refuted},
		{1000, 990, record.Claim{Expect: "same", By: 0.01}, Refuted}, // symmetric in the logarithm: 1/1.01 is 0.99010
		{0, 0, record.Claim{Expect: "same", By: 0.01}, Supported},
		{0, 0, record.Claim{Expect: "less", By: 0.1}, Refuted},
		{0, 5, record.Claim{Expect: "same", By: 0.01}, Refuted},
		{5, 0, record.Claim{Expect: "less", By: 0.9}, Supported},
		{0, 5, record.Claim{Expect: "greater", By: 0.9}, Supported},
		{1000, 500, record.Claim{Stat: "diff", Expect: "less", By: 0.5}, Refuted}, // 0.5 less, asked: more than 0.5
		{1000, 499, record.Claim{Stat: "diff", Expect: "less", By: 0.5}, Supported},
		{1000, 1500, record.Claim{Stat: "diff", Expect: "same", By: 0.5}, Supported},
	} {
		b := newMini(countMetric).add("old", "p", repeated(c.old, 1000, 3)...).add("new", "p", repeated(c.new, 1000, 3)...).claim(c.claim)
		for _, smoke := range []bool{false, true} {
			b.res.Header.Scenario.Smoke = smoke
			v := verdictOf(t, b)
			if v.Status != c.want || !v.Exact || v.Level != 0 || v.P != 0 {
				t.Errorf("%d to %d, %+v: %+v, want %s", c.old, c.new, c.claim, v, c.want)
			}
		}
	}
}

func TestZerosInASampledRatioClaim(t *testing.T) {
	old := levels(10, 11, 12, 13, 14, 15)
	for _, c := range []struct {
		new   []record.Value
		claim record.Claim
		want  VerdictStatus
	}{
		{levels(0, 1, 0, 1, 0, 1), record.Claim{Expect: "less", By: 0.5}, Supported},
		{levels(0, 11, 12, 13, 14, 15), record.Claim{Expect: "less", By: 0.5}, Undecided},
		{levels(0, 1, 0, 1, 0, 1), record.Claim{Expect: "greater", By: 0.5}, Refuted},
		{levels(0, 0, 0, 0, 0, 0), record.Claim{Expect: "same", By: 0.5}, Refuted},
	} {
		v := verdictOf(t, newMini(timedMetric).add("old", "p", old...).add("new", "p", c.new...).claim(c.claim))
		if v.Status != c.want || !v.Points[0].Effect.Zero {
			t.Errorf("%v: %s (%s), want %s", c.claim.Expect, v.Status, v.Reason, c.want)
		}
	}
	zeros := levels(0, 0, 0, 0, 0, 0)
	for expect, want := range map[string]VerdictStatus{"same": Supported, "less": Refuted, "greater": Refuted} {
		v := verdictOf(t, newMini(timedMetric).add("old", "p", zeros...).add("new", "p", zeros...).claim(record.Claim{Expect: expect, By: 0.1}))
		if v.Status != want {
			t.Errorf("nothing against nothing is %s: %s, want %s", expect, v.Status, want)
		}
	}
}
