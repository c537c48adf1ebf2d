package analyze

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		expect string
		by     float64
		values []float64
		want   VerdictStatus
	}{
		"clearly below":   {"less", 3, []float64{1, 1.1, 1.2, 1.1, 1, 1.2, 1.1, 1}, Supported},
		"clearly not":     {"less", 1, []float64{2, 2.1, 2.2, 2.1, 2, 2.2, 2.1, 2}, Refuted},
		"on both sides":   {"less", 1.1, []float64{1, 1.1, 1.2, 1.1, 1, 1.2, 1.1, 1}, Undecided},
		"clearly above":   {"greater", 1, []float64{2, 2.1, 2.2, 2.1, 2, 2.2, 2.1, 2}, Supported},
		"never above":     {"greater", 3, []float64{2, 2.1, 2.2, 2.1, 2, 2.2, 2.1, 2}, Refuted},
		"too few to tell": {"less", 3, []float64{1, 1, 1}, Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			b := newMini(timedMetric).add("old", "p", levels(c.values...)...).add("new", "p", levels(c.values...)...).
				claim(record.Claim{Kind: "bound", A: "new", Expect: c.expect, By: c.by})
			v := b.analyze(t).Claims[0]
			if v.Status != c.want || v.Reason == "" {
				t.Errorf("%s (%s), want %s", v.Status, v.Reason, c.want)
			}
		})
	}
}

func TestBoundOfWhatTheDeviceRefuses(t *testing.T) {
	b := newMini(timedMetric).add("old", "p", levels(1, 1, 1, 1, 1, 1)...).add("new", "p", levels(1)...).
		claim(record.Claim{Kind: "bound", A: "new", Expect: "greater", By: 4095})
	for i := range b.res.Trials {
		if tr := &b.res.Trials[i]; tr.Trial.Case == "new@p" {
			tr.Record = record.Record{Status: record.Skipped, Error: "not supported: limit 512"}
		}
	}
	v := b.analyze(t).Claims[0]
	if v.Status != Refuted || !strings.Contains(v.Reason, "limit 512") {
		t.Errorf("%s (%s), want refuted by the limit", v.Status, v.Reason)
	}
}
