package analyze

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// aProbe has a finding of every sort and kind of verdict.
func aProbe() *record.Probe {
	return &record.Probe{Schema: record.ProbeSchema, Findings: []record.Finding{
		{Sort: record.FeatureFound, Name: "pbuf-inc", Verdict: record.Supported, Evidence: "2 messages"},
		{Sort: record.FeatureFound, Name: "nop", Verdict: record.Unsupported, Reason: "EOPNOTSUPP"},
		{Sort: record.FeatureFound, Name: "hung", Verdict: record.Inconclusive, Reason: "it did not end"},
		{Sort: record.LimitFound, Name: "pbuf-ring-entries", Verdict: record.LimitIs, Value: 32768, Unit: "1"},
		{Sort: record.LimitFound, Name: "inline", Verdict: record.LimitIs, Value: 512, Unit: "B", Class: "guest"},
		{Sort: record.LimitFound, Name: "no-device", Verdict: record.Unsupported, Reason: "no RDMA device"},
		{Sort: record.FaultFound, Name: "offset", Verdict: record.Present, Evidence: "0/16/32"},
		{Sort: record.FaultFound, Name: "order", Verdict: record.Absent},
		{Sort: record.FaultFound, Name: "shrunk", Verdict: record.Untestable, Reason: "this kernel refuses bundles"},
		{Sort: record.CopyPointFound, Name: "copy-sge", Verdict: record.ReadLater},
	}}
}

func TestProbeClaims(t *testing.T) {
	for _, c := range []struct {
		metric, expect string
		by             float64
		needs          string
		want           VerdictStatus
		reason         string
	}{
		{"pbuf-inc", "supported", 0, "", Supported, "2 messages"},
		{"pbuf-inc", "unsupported", 0, "", Refuted, "supported"},
		{"nop", "supported", 0, "", Refuted, "EOPNOTSUPP"},
		{"hung", "supported", 0, "", NotMeasurable, "it did not end"},
		{"pbuf-ring-entries", "at least", 65536, "", Refuted, "32768 found; asked: at least 65536"},
		{"pbuf-ring-entries", "at least", 32768, "", Supported, "32768"},
		{"pbuf-ring-entries", "at most", 32768, "", Supported, "32768"},
		{"pbuf-ring-entries", "at most", 32767, "", Refuted, "32768"},
		{"pbuf-ring-entries", "supported", 0, "", NotMeasurable, "is a limit"},
		{"inline", "at least", 512, "", Supported, "512 B found"},
		{"inline", "at least", 512, "guest", Supported, "512 B found"},
		{"inline", "at least", 512, "hardware", NotMeasurable, "needs hardware"},
		{"no-device", "at least", 1, "", NotMeasurable, "no RDMA device"},
		{"offset", "absent", 0, "", Refuted, "0/16/32"},
		{"offset", "present", 0, "", Supported, "0/16/32"},
		{"order", "absent", 0, "", Supported, "absent"},
		{"shrunk", "absent", 0, "", NotMeasurable, "refuses bundles"},
		{"copy-sge", "read at the post", 0, "", Refuted, "read after the post"},
		{"copy-sge", "at least", 1, "", NotMeasurable, "no limit"},
		{"unheard-of", "supported", 0, "", NotMeasurable, `no finding "unheard-of"`},
	} {
		b := halved()
		b.res.Header.Probe = aProbe()
		b.res.Header.Scenario.Smoke = true // a finding is no sampled figure
		b.res.Header.Scenario.Claims = []record.Claim{{ID: "c", Kind: "probe", Metric: c.metric, Expect: c.expect, By: c.by, Needs: c.needs}}
		v := verdictOf(t, b)
		if v.Status != c.want || !strings.Contains(v.Reason, c.reason) {
			t.Errorf("%s %s %g needs %q: %s, %q; want %s, %q", c.metric, c.expect, c.by, c.needs, v.Status, v.Reason, c.want, c.reason)
		}
		if decided := v.Status != NotMeasurable; v.Exact != decided {
			t.Errorf("%s %s: exact %v", c.metric, c.expect, v.Exact)
		}
	}
}

func TestProbeClaimsWithoutAProbe(t *testing.T) {
	b := halved()
	b.res.Header.Scenario.Claims = []record.Claim{{ID: "c", Kind: "probe", Metric: "pbuf-inc", Expect: "supported"}}
	if v := verdictOf(t, b); v.Status != NotMeasurable || !strings.Contains(v.Reason, "did not probe") {
		t.Errorf("%+v", v)
	}
}
