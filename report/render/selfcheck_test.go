package render

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

func selfCheck() *analyze.SelfCheck {
	return &analyze.SelfCheck{
		Scenario: "null", Sessions: 10, Pairs: 60,
		Metrics: []analyze.SelfMetric{
			{Name: "cpu_per_msg", Unit: record.UnitSeconds, Per: record.PerMessage, Pairs: 60, Alarms: 3, Floor: .077, Detects: .093, Share: true, Case: "null"},
			{Name: "wasted_bytes", Unit: record.UnitBytes, Per: record.PerMessage, Pairs: 60, Floor: 12, Detects: 4096, Case: "null"},
			{Name: "syscalls", Unit: record.UnitOne, Exact: true, Pairs: 60},
			{Name: "go_allocs", Unit: record.UnitOne, Exact: true, Pairs: 60, Alarms: 1},
		},
		Planted: &analyze.PlantCheck{Metric: "cpu_per_msg", Case: "null", PlantNS: 8, Share: .154, Runs: 20, Found: 18},
	}
}

func TestSelfCheckTableSaysEverything(t *testing.T) {
	for _, width := range []int{40, 80, 0} {
		var b bytes.Buffer
		if err := SelfCheckTable(&b, selfCheck(), Options{Width: width, ASCII: true}); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range []string{
			"null compared with itself: 60 pairs of separate runs, noise floor from 10 more",
			"cpu_per_msg", "3 of 60", "7.7%", "9.3%", "12 B", "4 KiB", "go_allocs", "1 of 60", "exact",
			"Exact counts that were equal in every pair, and are not listed: 1.",
			"Planted: 8 ns of CPU time a message, 15% of cpu_per_msg of null; found in 18 of 20 runs.",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("width %d: no %q in\n%s", width, want, b.String())
			}
		}
		for _, line := range strings.Split(b.String(), "\n") {
			if n := utf8.RuneCountInString(line); width > 40 && n > width {
				t.Errorf("width %d: %d columns: %q", width, n, line)
			}
		}
	}
}

func TestSelfCheckJSONReadsBack(t *testing.T) {
	var b bytes.Buffer
	if err := SelfCheckJSON(&b, selfCheck()); err != nil {
		t.Fatal(err)
	}
	var s analyze.SelfCheck
	if err := json.Unmarshal(b.Bytes(), &s); err != nil || s.Planted.Found != 18 || s.Metrics[0].Alarms != 3 {
		t.Errorf("%+v, %v", s, err)
	}
}
