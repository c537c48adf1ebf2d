package probe

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// self is this test binary, which TestMain makes the process of a fake.
const self = "/proc/self/exe"

func TestChecksThatMisbehaveAreFindings(t *testing.T) {
	want := map[string]struct {
		verdict  record.FindingVerdict
		reason   string
		evidence string
	}{
		"good":                    {record.Supported, "", "seen"},
		"hang":                    {record.Inconclusive, "within 1s and was killed", "about to hang"},
		"stopped":                 {record.Inconclusive, "within 1s and was killed", ""},
		"killed":                  {record.Inconclusive, "signal: killed", ""},
		"panic":                   {record.Inconclusive, "exit status 2", "the ring is on fire"},
		"exit 3":                  {record.Inconclusive, "exit status 3", "gave up"},
		"answer and exit 3":       {record.Inconclusive, "exit status 3", ""},
		"silent":                  {record.Inconclusive, "there is none", ""},
		"garbage":                 {record.Inconclusive, "no finding", ""},
		"twice":                   {record.Inconclusive, "more than one finding", ""},
		"endless":                 {record.Inconclusive, "longer than", ""},
		"no verdict":              {record.Inconclusive, "no verdict", ""},
		"verdict of another sort": {record.Inconclusive, `no verdict "present"`, ""},
		"memory":                  {record.Inconclusive, "exit status", "it said: "},
		"orphan":                  {record.Supported, "", "seen"},
		"flood":                   {record.Inconclusive, "within 1s and was killed", "noise"},
	}
	list := fakes()
	var told []string
	r := Runner{Place: Local(self), Parallel: 4, Progress: func(done, total int, f record.Finding) {
		if told = append(told, f.Name); done != len(told) || total != len(list) {
			t.Errorf("%s: progress %d of %d, want %d of %d", f.Name, done, total, len(told), len(list))
		}
	}}
	p, err := r.Run(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if len(told) != len(list) {
		t.Errorf("%d findings told of %d", len(told), len(list))
	}
	for i, f := range p.Findings {
		w, ok := want[f.Name]
		if !ok || f.Name != list[i].Name {
			t.Errorf("finding %d is %q, of check %q", i, f.Name, list[i].Name)
			continue
		}
		if f.Verdict != w.verdict || !strings.Contains(f.Reason, w.reason) || !strings.Contains(f.Evidence, w.evidence) {
			t.Errorf("%s: %s, %q, %q; want %s, %q, %q", f.Name, f.Verdict, f.Reason, f.Evidence, w.verdict, w.reason, w.evidence)
		}
		if f.Sort != record.FeatureFound || f.Family != "fake" || f.Source != "a test" {
			t.Errorf("%s: sort %q, family %q, source %q", f.Name, f.Sort, f.Family, f.Source)
		}
		if len(f.Evidence) > 2*maxSaidBytes {
			t.Errorf("%s: %d bytes of evidence", f.Name, len(f.Evidence))
		}
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	r := Runner{Place: Local("/no/such/program")}
	p, err := r.Run(t.Context(), fakes()[:1])
	if err != nil {
		t.Fatal(err)
	}
	if f := p.Findings[0]; f.Verdict != record.Inconclusive || !strings.Contains(f.Reason, "no such file") {
		t.Errorf("%+v", f)
	}
}

func TestCancelEndsChecksThatRun(t *testing.T) {
	c := fakes()[1]
	c.Seconds = 600
	ctx, cancel := context.WithCancel(t.Context())
	r := Runner{Place: func(ctx context.Context, c Check) Outcome {
		time.AfterFunc(50*time.Millisecond, cancel)
		return Local(self)(ctx, c)
	}}
	if _, err := r.Run(ctx, []Check{c}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want canceled", err)
	}
}

// TestOrder holds where checks run against what they ask for: exclusive ones after
// all others and alone, those of another place never here.
func TestOrder(t *testing.T) {
	mk := func(name, family string, alone bool) Check {
		return Check{Sort: record.FeatureFound, Name: name, Family: family, Exclusive: alone}
	}
	list := []Check{mk("alone-1", "a", true), mk("b-1", "b", false), mk("a-1", "a", false), mk("alone-2", "a", true), mk("b-2", "b", true), mk("a-2", "a", false)}
	var here, there []string
	place := func(into *[]string) Place {
		return func(_ context.Context, c Check) Outcome {
			*into = append(*into, c.Name)
			return Outcome{Answer: []byte(`{"verdict":"supported"}`), Class: "guest"}
		}
	}
	r := Runner{Place: place(&here), Elsewhere: map[string]Place{"b": place(&there)}, Parallel: 1}
	p, err := r.Run(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a-1", "a-2", "alone-1", "alone-2"}; !slices.Equal(here, want) {
		t.Errorf("here ran %v, want %v", here, want)
	}
	if want := []string{"b-1", "b-2"}; !slices.Equal(there, want) {
		t.Errorf("elsewhere ran %v, want %v", there, want)
	}
	for i, f := range p.Findings {
		if f.Name != list[i].Name || f.Class != "guest" {
			t.Errorf("finding %d: %+v", i, f)
		}
	}
}

func TestStuckProcessIsAFinding(t *testing.T) {
	f := judge(Check{Sort: record.FeatureFound, Name: "x", Seconds: 7}, Outcome{TimedOut: true, Stuck: true})
	if f.Verdict != record.Inconclusive || !strings.Contains(f.Reason, "stuck in the kernel") || !strings.Contains(f.Reason, "7s") {
		t.Errorf("%+v", f)
	}
}

func TestFaultsCarryWhatTheyAffectOnlyIfPresent(t *testing.T) {
	c := Check{Sort: record.FaultFound, Name: "x", Affects: []string{"ring-bundle"}}
	for verdict, want := range map[record.FindingVerdict]int{record.Present: 1, record.Absent: 0, record.Untestable: 0} {
		f := judge(c, Outcome{Answer: []byte(`{"verdict":"` + string(verdict) + `"}`)})
		if f.Verdict != verdict || len(f.Affects) != want {
			t.Errorf("%s: %+v", verdict, f)
		}
	}
}

func TestChoose(t *testing.T) {
	list := []Check{{Name: "pbuf-inc", Family: "a"}, {Name: "pbuf-mmap", Family: "b"}, {Name: "send-zc", Family: "a"}}
	got, err := Choose(list, "pbuf-*")
	if err != nil || len(got) != 2 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := Choose(list, "["); err == nil {
		t.Error("a bad glob is taken")
	}
	if got := Families(list); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("families %v", got)
	}
}
