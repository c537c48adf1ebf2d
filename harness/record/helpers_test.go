package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sampleHeader is a header with something in every part.
func sampleHeader() Header {
	return Header{
		Schema: Schema, Tool: Tool{Version: "1", Commit: "abc", Go: "go1.26"},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Seed: 1 << 63,
		Scenario: ScenarioInfo{
			Name: "s", Title: "t", Question: "why?", Text: "name: s\n", Digest: "00", Alpha: .05, Blocks: 6, Baseline: "a",
			Metrics: []string{"calls"}, Headline: Headline{A: "a", B: "b{k=v}", Metrics: []string{"calls"}},
			Claims: []Claim{{ID: "c", Kind: "compare", Metric: "calls", A: "a", B: "b{k=v}", At: "all", Stat: "ratio", Expect: "less", By: .1}},
			Points: []PointInfo{{ID: "clients=1", Values: map[string]string{"clients": "1"}, Workload: Workload{Clients: 1}}},
			Cases:  []CaseInfo{{ID: "a@clients=1", Label: "a", Strategy: "a", Point: "clients=1", Baseline: true}},
		},
		Environment: Environment{{Key: "arch", Value: "amd64", Compare: Exact}, {Key: "turbo", Unavailable: "no such file"}},
		Metrics: []Metric{{Name: "calls", Unit: UnitOne, Per: PerMessage, Better: Lower, Kind: Exact, Purpose: Counting, Help: "h"},
			{Name: "zero", Unit: UnitOne, Kind: Exact, Purpose: Counting}, {Name: "time", Unit: UnitSeconds, Kind: Sampled, Purpose: Timing}},
		Planned: 2, ClockCostNS: 21.5,
	}
}

// sampleTrial is a trial line with something in every part.
func sampleTrial(id string) TrialLine {
	return TrialLine{
		Trial: Trial{Schema: Schema, ID: id, Case: "a@clients=1", Seed: 1<<64 - 1, Purpose: Counting, Workload: Workload{Clients: 1}},
		Record: Record{
			Schema: Schema, Trial: id, Status: OK, Fingerprint: Fingerprint{Ops: 3, Bytes: 100, Sum: 1<<64 - 3},
			Metrics:     map[string]Value{"calls": Count(7, 3), "zero": Count(0, 3), "time": Level(0.25)},
			Unavailable: map[string]string{"cycles": "no counters"},
			Series:      []Series{{Name: "buffer_pages", Unit: UnitPages, X: []int64{1, 2}, Y: []int64{3, 4}}},
			Window:      Window{NS: 5, MinorFaults: 1},
		},
		Generator: &Generator{CPUNS: 1, Messages: 3, Limited: "none"},
		StartedNS: 10, EndedNS: 20, Marks: []string{"steal"}, Stderr: "oops",
	}
}

// encoded is one line of a file.
func encoded(t testing.TB, l line) string {
	t.Helper()
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// headerLine is the first line of every file of these tests, newline included.
func headerLine(t testing.TB) string {
	h := sampleHeader()
	return encoded(t, line{Header: &h}) + "\n"
}

// trialLine is a trial with one metric, whose value is given as JSON.
func trialLine(id, value string) string {
	return `{"trial":{"trial":{"id":"` + id + `","case":"a@clients=1","purpose":"counting"},"record":{"trial":"` + id + `","status":"ok","metrics":{"calls":` + value + `}}}}` + "\n"
}

func decode(text string) (*Result, error) { return Decode(strings.NewReader(text), "r.jsonl") }

// newFile makes a result file with a header.
func newFile(t *testing.T) (string, *Writer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), FileName)
	w, err := Create(path, sampleHeader())
	if err != nil {
		t.Fatal(err)
	}
	return path, w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sameBytes compares two files.
func sameBytes(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	must(t, err)
	y, err := os.ReadFile(b)
	must(t, err)
	if !bytes.Equal(x, y) {
		t.Errorf("%s and %s differ:\n%s\n%s", a, b, x, y)
	}
}
