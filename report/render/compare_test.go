package render

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

var compareOutputs = map[string]func(io.Writer, *analyze.Comparison, analyze.Gate, Options) error{
	"table": CompareTable, "markdown": CompareMarkdown, "json": CompareJSON, "csv": CompareCSV, "junit": CompareJUnit,
}

func compareText(t *testing.T, name string, c *analyze.Comparison, g analyze.Gate, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := compareOutputs[name](&b, c, g, o); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b.String()
}

// smallFixture is quick to make and repeats.
func smallFixture() *record.Result {
	return fixture.New(fixture.Spec{Blocks: 10, Repeats: 3, Messages: 200})
}

// altered changes each value of a metric of a case.
func altered(res *record.Result, label, metric string, change func(v record.Value) record.Value) {
	for i := range res.Trials {
		tr := &res.Trials[i]
		v, ok := tr.Record.Metrics[metric]
		if ok && strings.HasPrefix(tr.Trial.Case, label+"@") {
			tr.Record.Metrics[metric] = change(v)
		}
	}
}

// changed is a comparison with every outcome in it.
func changed(t *testing.T) *analyze.Comparison {
	t.Helper()
	base, next := smallFixture(), smallFixture()
	var sessions []*record.Result
	for range analyze.MinSessions {
		sessions = append(sessions, smallFixture())
	}
	next.Header.Started = base.Header.Started.Add(24 * time.Hour)
	next.Header.Tool.Commit = "4567def"
	next.Path = "results/next/result.jsonl"
	altered(next, "slot", "go_allocs", func(v record.Value) record.Value { v.Num++; return v })
	altered(next, "ring-inc", "wasted_bytes", func(v record.Value) record.Value { v.Num = 62_668_801; return v })
	altered(next, "epoll-read", "copied_bytes", func(v record.Value) record.Value { v.Num = 0; return v })
	altered(next, "heap", "cpu_per_msg", func(v record.Value) record.Value { return record.Level(v.Float64() * 1.5) })
	altered(next, "ring-inc", "latency_p50", func(v record.Value) record.Value { return record.Level(v.Float64() * 0.7) })
	for _, side := range []*record.Result{base, next} { // one that has no better direction
		side.Header.Metrics[6].Better = ""
	}
	altered(next, "heap", "syscalls", func(v record.Value) record.Value { v.Num += 500; return v })
	for i := range next.Trials {
		delete(next.Trials[i].Record.Metrics, "buffer_pages_mean")
	}
	relabel(next, 0, "ring-renamed")
	next.Footer = nil
	c, err := analyze.Compare([]*record.Result{base}, []*record.Result{next}, analyze.CompareOptions{Noise: analyze.NewNoise(sessions)})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range analyze.Outcomes() {
		if o != analyze.Inconclusive && c.Count(o) == 0 {
			t.Fatalf("the comparison has nothing %s", o)
		}
	}
	return c
}

var strict = analyze.Gate{analyze.OnRegression, analyze.OnMissing, analyze.OnFlipped}

func TestCompareGolden(t *testing.T) {
	c := changed(t)
	same, err := analyze.Compare([]*record.Result{smallFixture()}, []*record.Result{smallFixture()}, analyze.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for name, g := range map[string]struct {
		output string
		c      *analyze.Comparison
		gate   analyze.Gate
		o      Options
	}{
		"compare.txt":          {"table", c, strict, Options{Width: 120}},
		"compare-80.txt":       {"table", c, strict, Options{Width: 80}},
		"compare-40-ascii.txt": {"table", c, strict, Options{Width: 40, ASCII: true}},
		"compare-color.txt":    {"table", c, strict, Options{Width: 100, Color: true}},
		"compare.md":           {"markdown", c, strict, Options{}},
		"compare.json":         {"json", c, strict, Options{}},
		"compare.csv":          {"csv", c, strict, Options{}},
		"compare.junit.xml":    {"junit", c, strict, Options{}},
		"compare-same.txt":     {"table", same, strict, Options{Width: 80}},
		"compare-same.md":      {"markdown", same, strict, Options{}},
		"compare-lenient.txt":  {"table", c, nil, Options{Width: 100}},
	} {
		golden(t, name, compareText(t, g.output, g.c, g.gate, g.o))
	}
}

func TestCompareLinesFitTheirWidth(t *testing.T) {
	c := changed(t)
	c.Scenarios[0].Diffs[0].ID = strings.Repeat("verylongname", 25) + "日本語の名前"
	for _, width := range []int{20, 30, 40, 60, 79, 80, 100, 120, 200} {
		for line := range strings.SplitSeq(compareText(t, "table", c, strict, Options{Width: width, ASCII: width%40 == 0}), "\n") {
			if w := textWidth(line); w > width {
				t.Errorf("width %d: a line of %d: %q", width, w, line)
			}
			if strings.HasSuffix(line, " ") {
				t.Errorf("width %d: blanks at the end of %q", width, line)
			}
		}
	}
}

// hostile puts text meant to break formats wherever a file can.
func hostile(t *testing.T) *analyze.Comparison {
	t.Helper()
	res := evilResult()
	relabel(res, 1, "=cmd|' /C calc'!A0\x00\x01\ufffe]]>&<\"\u202e")
	c, err := analyze.Compare([]*record.Result{smallFixture()}, []*record.Result{res}, analyze.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestHostileNamesInComparisons(t *testing.T) {
	c := hostile(t)
	for _, name := range []string{"table", "markdown", "csv", "junit"} {
		for _, r := range compareText(t, name, c, strict, Options{Width: 80}) {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\ufffe') {
				t.Fatalf("%s passes %q on", name, r)
			}
		}
	}
	md := compareText(t, "markdown", c, strict, Options{})
	for _, markup := range []string{"<script", "http://", "**@", "$x$"} {
		if i := strings.Index(md, markup); i >= 0 && (i == 0 || md[i-1] != '\\') {
			t.Errorf("markdown lets %q through", markup)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(compareText(t, "csv", c, strict, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		if len(row) != len(compareColumns) {
			t.Fatalf("%d fields, want %d", len(row), len(compareColumns))
		}
		for i, f := range row {
			if f == "" || strings.IndexByte("=+-@", f[0]) < 0 {
				continue
			}
			if _, err := strconv.ParseFloat(f, 64); err != nil {
				t.Errorf("column %s: a formula: %q", compareColumns[i], f)
			}
		}
	}
}

func TestJUnitIsWhatReadersExpect(t *testing.T) {
	for name, c := range map[string]*analyze.Comparison{"changed": changed(t), "hostile": hostile(t)} {
		text := compareText(t, "junit", c, strict, Options{})
		var doc junitSuites
		if err := xml.Unmarshal([]byte(text), &doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		failures := 0
		seen := map[string]bool{}
		for _, s := range doc.Suites {
			f, sk := 0, 0
			for _, k := range s.Cases {
				if k.Name == "" || k.ClassName == "" {
					t.Errorf("%s: a test case without a name: %+v", name, k)
				}
				if key := k.ClassName + "\x00" + k.Name; seen[key] {
					t.Errorf("%s: test case %s %s twice", name, k.ClassName, k.Name)
				} else {
					seen[key] = true
				}
				if k.Failure != nil {
					f++
					if k.Failure.Type == "" || k.Failure.Message == "" {
						t.Errorf("%s: a failure without type or message", name)
					}
				}
				if k.Skipped != nil {
					sk++
				}
			}
			if len(s.Cases) != s.Tests || f != s.Failures || sk != s.Skipped {
				t.Errorf("%s: %d cases, %d failures, %d skipped; the suite says %+v", name, len(s.Cases), f, sk, s)
			}
			if _, err := time.Parse("2006-01-02T15:04:05", s.Timestamp); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			failures += f
		}
		if failures != doc.Failures || failures != len(strict.Failures(c)) || failures == 0 {
			t.Errorf("%s: %d failures, the document says %d, the gate %d", name, failures, doc.Failures, len(strict.Failures(c)))
		}
		// The schema of Ant fixes the order within a suite.
		order := []string{"<properties>", "<testcase", "<system-out>", "<system-err>"}
		at := -1
		for _, tag := range order {
			i := strings.Index(text, tag)
			if i <= at {
				t.Errorf("%s: %s is not where the schema has it", name, tag)
			}
			at = i
		}
	}
}

func TestCompareVerdictLeads(t *testing.T) {
	c := changed(t)
	for _, name := range []string{"table", "markdown"} {
		first, _, _ := strings.Cut(compareText(t, name, c, strict, Options{Width: 200}), "\n")
		if !strings.Contains(first, "FAILED") || !strings.Contains(first, "regressed") {
			t.Errorf("%s begins %q", name, first)
		}
		first, _, _ = strings.Cut(compareText(t, name, c, nil, Options{Width: 200}), "\n")
		if !strings.Contains(first, "passed") {
			t.Errorf("%s, nothing gated, begins %q", name, first)
		}
	}
	md := compareText(t, "markdown", c, strict, Options{})
	if r, i := strings.Index(md, "**regressed**"), strings.Index(md, "| improved"); r < 0 || i < r {
		t.Error("regressions do not come first")
	}
	if strings.Count(md, "<details>") != 1 || strings.Index(md, "<details>") < strings.Index(md, "**regressed**") {
		t.Error("what is unchanged is not folded away below")
	}
	var doc struct {
		Failed bool           `json:"failed"`
		Counts map[string]int `json:"counts"`
	}
	if err := json.Unmarshal([]byte(compareText(t, "json", c, strict, Options{})), &doc); err != nil || !doc.Failed || doc.Counts["regressed"] == 0 {
		t.Errorf("%+v, %v", doc, err)
	}
}

// A count that differs in its last digit is not shown as two equal figures.
func TestCompareShowsTheDifference(t *testing.T) {
	base, next := smallFixture(), smallFixture()
	altered(next, "ring-fixed{chunk=64KiB}", "wasted_bytes", func(v record.Value) record.Value { v.Num++; return v })
	c, err := analyze.Compare([]*record.Result{base}, []*record.Result{next}, analyze.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := compareText(t, "table", c, strict, Options{Width: 200})
	if !strings.Contains(out, "62668800/1000") || !strings.Contains(out, "62668801/1000") || strings.Contains(out, " 1x") {
		t.Errorf("the difference does not show:\n%s", out)
	}
}
