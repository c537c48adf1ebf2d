package record

import (
	"fmt"
	"strings"
	"testing"
)

func TestFindingCheck(t *testing.T) {
	good := Finding{Sort: CopyPointFound, Name: "copy-send", Verdict: ReadAtCall, Steps: []Step{{"before call", 100, 100}, {"after call", 100, 0}}}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for want, edit := range map[string]func(f *Finding){
		"without a name":   func(f *Finding) { f.Name = "" },
		"unknown sort":     func(f *Finding) { f.Sort = "rumour" },
		"no verdict":       func(f *Finding) { f.Verdict = Present },
		"text of":          func(f *Finding) { f.Evidence = strings.Repeat("x", maxFindingText+1) },
		"101 of 100":       func(f *Finding) { f.Steps = []Step{{"s", 100, 101}} },
		"-1 of 100":        func(f *Finding) { f.Steps = []Step{{"s", 100, -1}} },
		"steps, the limit": func(f *Finding) { f.Steps = make([]Step, maxSteps+1) },
	} {
		f := good
		edit(&f)
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestProbeCheck(t *testing.T) {
	probe := func(n int) Probe {
		p := Probe{Schema: ProbeSchema}
		for i := range n {
			p.Findings = append(p.Findings, Finding{Sort: FeatureFound, Name: fmt.Sprint("f", i), Verdict: Supported})
		}
		return p
	}
	if err := probe(maxFindings).Check(); err != nil {
		t.Error(err)
	}
	twice := probe(2)
	twice.Findings[1].Name = "f0"
	for want, p := range map[string]Probe{"schema": {}, "limit": probe(maxFindings + 1), "twice": twice} {
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	p := probe(2)
	if f, ok := p.Find("f1"); !ok || f.Name != "f1" {
		t.Errorf("%+v, %v", f, ok)
	}
	if _, ok := (*Probe)(nil).Find("f1"); ok {
		t.Error("no probe has a finding")
	}
}

func TestVerdictsThatDecide(t *testing.T) {
	for _, s := range []Sort{FeatureFound, LimitFound, FaultFound, CopyPointFound} {
		decided := 0
		for _, v := range s.Verdicts() {
			if v.Decided() {
				decided++
			}
		}
		if n := len(s.Verdicts()); n-decided != 2 {
			t.Errorf("%s: %d of %d verdicts decide", s, decided, n)
		}
	}
}

func TestDecodeRefusesABadProbe(t *testing.T) {
	head := `{"header":{"schema":1,"tool":{"version":"","go":""},"started":"2026-01-01T00:00:00Z","seed":"1","scenario":{},"environment":[],"metrics":[],"probe":%s}}` + "\n"
	for probe, want := range map[string]string{
		`{"schema":1,"findings":[{"sort":"fault","name":"x","verdict":"present"}]}`: "",
		`{"schema":1,"findings":[{"sort":"fault","name":"x","verdict":"maybe"}]}`:   "no verdict",
		`{"schema":9}`: "probe schema 9",
	} {
		_, err := Decode(strings.NewReader(fmt.Sprintf(head, probe)), "r")
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", probe, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "r:1:1")):
			t.Errorf("%s: %v, want %q on line 1", probe, err, want)
		}
	}
}
