package analyze

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func halved() *mini {
	return newMini(timedMetric).add("old", "p", around(10, 0.01, 8, 0)...).add("new", "p", around(5, 0.01, 8, 1)...)
}

func TestSmokeDecidesNothingSampled(t *testing.T) {
	b := halved().claim(record.Claim{Expect: "less", By: 0.2})
	b.res.Header.Scenario.Smoke = true
	v := verdictOf(t, b)
	if v.Status != Undecided || v.Reason != SmokeReason || v.Points[0].Status != Undecided {
		t.Errorf("smoke: %+v", v)
	}
	mustWarn(t, b.analyze(t), CodeSmoke, LevelWarn, "decide nothing")
}

func TestNotMeasurableSaysWhyAndWhere(t *testing.T) {
	ok := record.Claim{Expect: "less", By: 0.2}
	for name, c := range map[string]struct {
		edit  func(b *mini, c *record.Claim)
		words string
		class string
	}{
		"needs hardware": {func(b *mini, c *record.Claim) {
			c.Needs = "hardware"
			b.res.Header.Environment = record.Environment{{Key: ClassKey, Value: "soft"}}
		}, "this machine is soft; the claim needs hardware", "hardware"},
		"class does not apply": {func(b *mini, c *record.Claim) {
			c.Needs = "soft"
			b.res.Header.Environment = record.Environment{{Key: ClassKey, Value: "n/a"}}
		}, "unknown class", "soft"},
		"class not stated": {func(b *mini, c *record.Claim) { c.Needs = "soft" }, "unknown class", "soft"},
		"skipped case": {func(b *mini, c *record.Claim) {
			c.A = "other"
			b.res.Skips = []record.Skip{{Case: "other", Reason: "io_uring refused"}}
		}, "other was skipped: io_uring refused", ""},
		"no such case":   {func(b *mini, c *record.Claim) { c.A = "typo" }, "typo is not among the cases", ""},
		"unknown metric": {func(b *mini, c *record.Claim) { c.Metric = "nope" }, `"nope"`, ""},
		"bad expect":     {func(b *mini, c *record.Claim) { c.Expect = "fewer" }, `"fewer"`, ""},
		"impossible by":  {func(b *mini, c *record.Claim) { c.By = 1 }, "by is 1", ""},
		"bad stat":       {func(b *mini, c *record.Claim) { c.Stat = "odds" }, `"odds"`, ""},
		"no common block": {func(b *mini, c *record.Claim) {
			for i := range 8 {
				b.res.Trials[i].Trial.Block += 100
			}
		}, "share no block", ""},
		"guest timings": {func(b *mini, c *record.Claim) {
			b.res.Header.Environment = record.Environment{{Key: ClassKey, Value: "guest"}}
			b.res.Trials[0].Record.Window.Syscalls = 1
		}, "guest", "soft"},
	} {
		b, claim := halved(), ok
		claim.A, claim.B = "new", "old"
		c.edit(b, &claim)
		v := verdictOf(t, b.claim(claim))
		if v.Status != NotMeasurable || !strings.Contains(v.Reason, c.words) || v.Class != c.class {
			t.Errorf("%s: %+v, want not measurable, saying %q, class %q", name, v, c.words, c.class)
		}
	}
}

func TestHardwareCanTellWhatSoftCan(t *testing.T) {
	b := halved().claim(record.Claim{Expect: "less", By: 0.2, Needs: "soft"})
	b.res.Header.Environment = record.Environment{{Key: ClassKey, Value: "hardware"}}
	if v := verdictOf(t, b); v.Status != Supported {
		t.Errorf("%+v", v)
	}
}

func TestOneMissingPointForbidsSupportNotRefutation(t *testing.T) {
	build := func(first float64) *mini {
		return newMini(timedMetric).add("old", "p1", around(10, 0.01, 8, 0)...).add("new", "p1", around(first, 0.01, 8, 1)...).
			add("old", "p2", around(10, 0.01, 8, 0)...).claim(record.Claim{Expect: "less", By: 0.2, At: "all"})
	}
	if v := verdictOf(t, build(5)); v.Status != NotMeasurable || !strings.HasPrefix(v.Reason, "at p2: new") {
		t.Errorf("one point missing: %+v", v)
	}
	if v := verdictOf(t, build(12)); v.Status != Refuted {
		t.Errorf("refuted at the other point: %+v", v)
	}
}

func TestGatesAreRefutedGatingClaims(t *testing.T) {
	b := halved().claim(record.Claim{ID: "up", Expect: "greater", By: 0.2, Gate: true}).
		claim(record.Claim{ID: "down", Expect: "less", By: 0.2, Gate: true}).claim(record.Claim{ID: "idle", Expect: "greater", By: 0.2})
	rep, err := Analyze(b.res)
	if err != nil {
		t.Fatal(err)
	}
	if g := rep.Gates(); len(g) != 1 || g[0].Claim.ID != "up" {
		t.Errorf("gates %+v", g)
	}
}

func TestBlocksEstimateHoldsUp(t *testing.T) {
	// 4% noise, 3% below the margin: about (1.96*.04/.03)^2 blocks for one half.
	q := &question{upper: &contrast{x: nil, m: 0}}
	for i := range 10 {
		q.upper.x = append(q.upper.x, -0.03+0.04*[]float64{-1.3, -1, -0.7, -0.4, -0.1, 0.1, 0.4, 0.7, 1, 1.3}[i])
		q.pairs = append(q.pairs, pair{block: i})
	}
	lo, hi := q.blocks("less", 0.05)
	if lo != 11 || hi < 15 || hi > 25 {
		t.Errorf("blocks %d to %d", lo, hi)
	}
	q.upper.m = -0.03
	if lo, hi := q.blocks("less", 0.05); lo != 0 || hi != 0 {
		t.Errorf("at the margin: %d to %d, want none", lo, hi)
	}
}

func TestClaimOnATaintedCaseIsNotDecided(t *testing.T) {
	b := halved().claim(record.Claim{Expect: "less", By: 0.2})
	b.add("third", "p", around(10, 0.01, 8, 0)...)
	b.res.Trials[9].Record.Fingerprint.Ops++ // of new
	v := verdictOf(t, b)
	if v.Status != NotMeasurable || !strings.Contains(v.Reason, "other work") {
		t.Errorf("%+v", v)
	}
}

func TestEquivalenceIsReadOneSided(t *testing.T) {
	// Five tight pairs: each one-sided test reaches 1/32, a two-sided one 1/16.
	old := levels(10, 11, 12, 13, 14)
	b := newMini(timedMetric).add("old", "p", old...).add("new", "p", levels(10.01, 11.02, 11.99, 13.01, 14.02)...).
		claim(record.Claim{Expect: "same", By: 0.05})
	v := verdictOf(t, b)
	if v.Status != Supported || !near(v.P, 1.0/32) {
		t.Fatalf("five tight pairs: %+v", v)
	}
	if e := v.Points[0].Effect; !e.HasInterval || e.Level < 0.9 || e.Level > 0.95 {
		t.Errorf("the interval beside a TOST is the one at 1-2alpha: %+v", e)
	}
	if !strings.Contains(v.Reason, "at 90%") {
		t.Errorf("reason %q", v.Reason)
	}
}

func TestMarginOfSameIsSymmetricInTheLogarithm(t *testing.T) {
	// Within 1.5x is 0.667 to 1.5: 0.6 is outside, though above 1-0.5.
	b := newMini(timedMetric).add("old", "p", around(10, 0.01, 8, 0)...).add("new", "p", around(6, 0.01, 8, 0)...).
		claim(record.Claim{Expect: "same", By: 0.5})
	if v := verdictOf(t, b); v.Status != Refuted {
		t.Errorf("0.6 within a factor of 1.5: %+v", v)
	}
}

func TestClaimMissingAPointHasNoP(t *testing.T) {
	b := newMini(timedMetric).add("old", "p1", around(10, 0.01, 8, 0)...).add("new", "p1", around(5, 0.01, 8, 1)...).
		add("old", "p2", around(10, 0.01, 8, 0)...).claim(record.Claim{Expect: "less", By: 0.2, At: "all"}).claim(record.Claim{Expect: "less", By: 0.2, At: "p1"})
	s := b.analyze(t)
	if s.Claims[0].P != 1 || s.Claims[1].Status != Supported || !near(s.Claims[1].Level, 0.975) {
		t.Errorf("a claim that cannot be supported takes no step of Holm's: %+v", s.Claims)
	}
}

func TestOnePointAtTheMarginNeedsNoMoreBlocks(t *testing.T) {
	jitter := []float64{0.9, 0.94, 0.98, 0.99, 1 / 0.99, 1 / 0.98, 1 / 0.94, 1 / 0.9}
	at := func(shift float64) (old, scaled []record.Value) {
		for _, j := range jitter {
			old, scaled = append(old, record.Level(10)), append(scaled, record.Level(10*shift*j))
		}
		return old, scaled
	}
	b := newMini(timedMetric)
	for i, shift := range []float64{0.8, 0.78} {
		old, scaled := at(shift)
		point := []string{"p1", "p2"}[i]
		b.add("old", point, old...).add("new", point, scaled...)
	}
	b.claim(record.Claim{Expect: "less", By: 0.2, At: "all"})
	if v := verdictOf(t, b); v.Status != Undecided || v.BlocksLo != 0 || !strings.Contains(v.Reason, "no reasonable number") {
		t.Errorf("one point at its margin: %+v", v)
	}
	b.res.Header.Scenario.Claims[0].At = "p2"
	if v := verdictOf(t, b); v.Status != Undecided || v.BlocksLo < 20 || v.BlocksHi < v.BlocksLo {
		t.Errorf("2%% below the margin at 7%% noise: %+v", v)
	}
}
