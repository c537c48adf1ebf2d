package probe

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// trace is a line of testdata/copytraces.jsonl: counts that were recorded on a
// real interface, or made up where no sound one gives them.
type trace struct {
	Name     string                `json:"name"`
	Recorded string                `json:"recorded"` // on what; empty: made up
	Steps    []record.Step         `json:"steps"`
	Verdict  record.FindingVerdict `json:"verdict"`
	Reason   string                `json:"reason"` // in the string beside the verdict
}

func traces(t *testing.T) []trace {
	t.Helper()
	text, err := os.ReadFile("testdata/copytraces.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var all []trace
	for line := range strings.Lines(string(text)) {
		var tr trace
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&tr); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, tr)
	}
	return all
}

func TestClassifyCopy(t *testing.T) {
	recorded, made := map[record.FindingVerdict]int{}, map[record.FindingVerdict]int{}
	for _, tr := range traces(t) {
		count := made
		if tr.Recorded != "" {
			count = recorded
		}
		count[tr.Verdict]++
		verdict, why := ClassifyCopy(tr.Steps)
		if verdict != tr.Verdict || !strings.Contains(why, tr.Reason) || why == "" {
			t.Errorf("%s: %q (%s), want %q (%s)", tr.Name, verdict, why, tr.Verdict, tr.Reason)
		}
	}
	for _, v := range []record.FindingVerdict{record.ReadAtBuild, record.ReadAtPost, record.ReadAtCall, record.ReadLater} {
		if recorded[v] == 0 {
			t.Errorf("no trace of %q is recorded from a real interface", v)
		}
	}
	if made[record.Inconclusive] == 0 {
		t.Error("no trace contradicts itself")
	}
}

// Any single count of a recorded trace that contradicts the rest takes its verdict
// away, or makes it another: no verdict hangs on fewer steps than it names.
func TestClassifyCopyNoticesEachStep(t *testing.T) {
	for _, tr := range traces(t) {
		if tr.Recorded == "" {
			continue
		}
		for i := range tr.Steps {
			steps := append([]record.Step(nil), tr.Steps...)
			s := &steps[i]
			racing := tr.Verdict == record.ReadLater && i == len(steps)-2
			switch {
			case racing:
				s.Arrived = 0
			case s.Arrived == 0:
				s.Arrived = 1
			default:
				s.Arrived--
			}
			if got, why := ClassifyCopy(steps); got == tr.Verdict {
				t.Errorf("%s with %q at %d of %d is still %q (%s)", tr.Name, s.Name, s.Arrived, s.Changed, got, why)
			}
		}
	}
}

func TestCopyFinding(t *testing.T) {
	for _, tr := range traces(t) {
		f := CopyFinding(tr.Steps)
		if decided := tr.Verdict != record.Inconclusive; decided == (f.Reason != "") || decided != (f.Help != "") {
			t.Errorf("%s: %q with reason %q and help %q", tr.Name, f.Verdict, f.Reason, f.Help)
		}
		if len(f.Steps) != len(tr.Steps) {
			t.Errorf("%s: %d steps of %d", tr.Name, len(f.Steps), len(tr.Steps))
		}
	}
}
