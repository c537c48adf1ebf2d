package harness

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func TestAffects(t *testing.T) {
	for _, c := range []struct {
		text, strategy, transport string
		values                    Values
		want                      bool
	}{
		{"ring-bundle", "ring-bundle", "tcp", nil, true},
		{"ring-bundle", "ring-inc-bundle", "tcp", nil, false},
		{"udp ring-inc", "ring-inc", "udp", nil, true},
		{"udp ring-inc", "ring-inc", "tcp", nil, false},
		{"udp ring-inc with min_left=0", "ring-inc", "udp", Values{"min_left": "0"}, true},
		{"udp ring-inc with min_left=0", "ring-inc", "udp", Values{"min_left": "64"}, false},
		{"udp ring-inc with min_left=0", "ring-inc", "udp", nil, false},
		{"ring-inc with trunc", "ring-inc", "udp", Values{"trunc": "true"}, true},
		{"ring-inc with trunc", "ring-inc", "udp", Values{"trunc": "false"}, false},
		{"ring-inc with trunc", "ring-inc", "udp", nil, false},
		{"ring-bundle with recv", "ring-bundle", "tcp", Values{"recv": Auto}, false},
		{"ring-bundle with recv", "ring-bundle", "tcp", Values{"recv": "1500"}, true},
	} {
		a, err := parseAffect(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if got := a.matches(c.strategy, c.values, record.Workload{Transport: c.transport}); got != c.want {
			t.Errorf("%q on %s over %s with %v: %v", c.text, c.strategy, c.transport, c.values, got)
		}
	}
	for _, bad := range []string{"", "udp", "ring-inc if slow", "ring-inc with", "a b", "ring-inc with a with b"} {
		if a, err := parseAffect(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, a)
		}
	}
}

// faulty is a probe in which a fault, present or not, affects the first case of the
// test scenario.
func faulty(verdict record.FindingVerdict, affects ...string) *record.Probe {
	return &record.Probe{Schema: record.ProbeSchema, Findings: []record.Finding{{
		Sort: record.FaultFound, Name: "bundle-order", Verdict: verdict, Source: "issue 1409", Evidence: "out of order", Affects: affects,
	}}}
}

func TestPresentFaultsRefuseTheCasesTheyMakeWrong(t *testing.T) {
	c := Case{CaseInfo: record.CaseInfo{ID: "ring-bundle@transport=tcp", Label: "ring-bundle", Strategy: "ring-bundle"}}
	w := record.Workload{Transport: "tcp"}
	f, ok := faultOf(faulty(record.Present, "nonsense of another version", "ring-bundle"), c.Strategy, c.Values, w)
	if !ok {
		t.Fatal("the case is not affected")
	}
	k := faultSkip(c, f)
	if k.Case != c.ID || !strings.Contains(k.Reason, "bundle-order") || !strings.Contains(k.Reason, "issue 1409") || k.Remedy == "" {
		t.Errorf("skip %+v", k)
	}
	for name, p := range map[string]*record.Probe{
		"no probe": nil, "absent": faulty(record.Absent, "ring-bundle"), "untestable": faulty(record.Untestable, "ring-bundle"),
		"another strategy": faulty(record.Present, "ring-inc-bundle"), "nothing affected": faulty(record.Present),
	} {
		if f, ok := faultOf(p, c.Strategy, c.Values, w); ok {
			t.Errorf("%s: affected by %s", name, f.Name)
		}
	}
}

func TestRunSkipsWhatAPresentFaultMakesWrong(t *testing.T) {
	p := smallPlan(t)
	wrong := p.Cases[len(p.Cases)-1]
	s := newSession(p)
	s.Found = faulty(record.Present, wrong.Strategy)
	sum := s.run(t, t.Context())
	skipped := map[string]bool{}
	for _, k := range sum.Skipped {
		skipped[k.Case] = true
		if !strings.Contains(k.Reason, "bundle-order (issue 1409): out of order") {
			t.Errorf("%s: %q", k.Case, k.Reason)
		}
	}
	if sum.Failed != 0 {
		t.Errorf("%d failed", sum.Failed)
	}
	for _, c := range p.Cases {
		if affected := c.Strategy == wrong.Strategy; skipped[c.ID] != affected {
			t.Errorf("%s: skipped %v", c.ID, skipped[c.ID])
		}
		if ran := len(s.lines(c.ID+"/timing")) > 0; ran == (c.Strategy == wrong.Strategy) {
			t.Errorf("%s: timed %v", c.ID, ran)
		}
	}
}

func TestCampaignRecordsTheProbe(t *testing.T) {
	c, _ := campaign(t, t.TempDir())
	c.Machine.Probe = faulty(record.Absent)
	_, res := measured(t, c, t.Context())
	if f, ok := res.Header.Probe.Find("bundle-order"); !ok || f.Verdict != record.Absent {
		t.Errorf("probe %+v", res.Header.Probe)
	}
}

func TestProbeClaimsAreCheckedAgainstWhatThereIs(t *testing.T) {
	findings := []record.Finding{{Sort: record.LimitFound, Name: "entries"}, {Sort: record.FaultFound, Name: "order"}}
	for claim, want := range map[string]string{
		"metric: entries, expect: at least 5":        "",
		"metric: order, expect: absent":              "",
		"metric: entris, expect: at least 5":         "entries",
		"metric: entries, expect: supported":         "at least or at most",
		"metric: order, expect: supported":           "present, absent",
		"metric: order, expect: at least 5":          "present, absent",
		"metric: order, expect: read after the post": "present, absent",
	} {
		sc := parsed(t, edited(t, "claims:\n", "claims:\n  - {id: p, text: It is so., kind: probe, "+claim+"}\n"))
		_, err := NewPlan(sc, testRegistry(), PlanOptions{Findings: findings})
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", claim, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want %q", claim, err, want)
		}
	}
}
