package render

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// recordedProbe has a finding of every verdict, and hostile text.
func recordedProbe(t *testing.T) *record.Probe {
	t.Helper()
	b, err := os.ReadFile("testdata/text/probe-recorded.json")
	if err != nil {
		t.Fatal(err)
	}
	var p record.Probe
	if err := json.Unmarshal(b, &p); err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	return &p
}

func TestRecordedProbeHasEveryVerdict(t *testing.T) {
	p := recordedProbe(t)
	for _, sort := range []record.Sort{record.FeatureFound, record.LimitFound, record.FaultFound, record.CopyPointFound} {
		for _, v := range sort.Verdicts() {
			has := slices.ContainsFunc(p.Findings, func(f record.Finding) bool { return f.Verdict == v })
			if !has {
				t.Errorf("no finding is %q", v)
			}
			if _, ok := probeTones[v]; !ok {
				t.Errorf("%q has no tone", v)
			}
		}
	}
}

func TestProbeTable(t *testing.T) {
	p := recordedProbe(t)
	for name, o := range map[string]Options{
		"probe-80.txt": {Width: 80}, "probe-40-ascii.txt": {Width: 40, ASCII: true}, "probe-color.txt": {Width: 80, Color: true},
	} {
		var b bytes.Buffer
		if err := Probe(&b, p, o); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.String())
		for _, line := range strings.Split(b.String(), "\n") {
			if !o.Color && textWidth(line) > o.Width {
				t.Errorf("%s: %d columns: %q", name, textWidth(line), line)
			}
			if strings.ContainsFunc(strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "").Replace(line), unprintable) {
				t.Errorf("%s: does not print: %q", name, line)
			}
		}
		for _, f := range p.Findings {
			if f.Family != "memory" && !strings.ContainsRune(f.Name, '\n') && !strings.Contains(b.String(), f.Name) {
				t.Errorf("%s: no %s", name, f.Name)
			}
		}
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

func TestProbeOfNothing(t *testing.T) {
	var b bytes.Buffer
	if err := Probe(&b, &record.Probe{Kernel: "6.18"}, Options{Width: 80}); err != nil || !strings.Contains(b.String(), "0 findings") {
		t.Errorf("%v: %q", err, b.String())
	}
}

func TestReportTellsOfTheMachine(t *testing.T) {
	res := fixture.New(fixture.Spec{Blocks: 2, Repeats: 2})
	res.Header.Probe = recordedProbe(t)
	text := textOf(t, "table", reportOf(t, res), Options{Width: 80})
	for _, want := range []string{"Machine", "known faults present (3 tried): bundle-order (liburing issue 1409)", "pbuf-ring-entries 32768"} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("no %q in the report:\n%s", want, text)
		}
	}
	var b strings.Builder
	if err := HTML(&b, reportOf(t, res), Options{}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"bundle-order", "pbuf-ring-entries", "32768"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
}
