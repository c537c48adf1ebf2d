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

func TestProbeClaimsAreNotDecidedFromTrials(t *testing.T) {
	b := halved().claim(record.Claim{Expect: "less", By: 0.2})
	b.res.Header.Scenario.Claims[0].Kind = "probe"
	if v := verdictOf(t, b); v.Status != NotMeasurable || !strings.Contains(v.Reason, "probe") {
		t.Errorf("probe: %+v", v)
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
