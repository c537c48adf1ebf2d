package render

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

func TestSanitize(t *testing.T) {
	for in, want := range map[string]string{
		"ring-inc{chunk=4KiB}": "ring-inc{chunk=4KiB}", "naïve 日本": "naïve 日本", "": "",
		"a\nb\tc\r\nd": "a b c  d", "\x1b[31mred": `\x1b[31mred`, "\x07\x7f": `\x07\x7f`, "\u009b31m": `\u009b31m`,
		"\u202egnp.exe": `\u202egnp.exe`, "a\u200bb": `a\u200bb`, "\u2028x": " x", "\xff\xfe": `\xff\xfe`, "\ufeffx": `\ufeffx`, "\U000e0041": `\U000e0041`,
		"\uFFFD": "\uFFFD", "a\u00a0b": "a b",
	} {
		if got := Sanitize(in); got != want {
			t.Errorf("Sanitize(%q) = %q, want %q", in, got, want)
		}
	}
}

// evilResult puts hostile text wherever a file can.
func evilResult() *record.Result {
	const evil = "=HYPERLINK(\"http://x\")\x1b]0;own\x07|<script>alert(1)</script>\u202e`**@all**$x$\n# head\n| a | b |"
	res := fixture.New(fixture.Spec{Blocks: 2, Repeats: 2})
	relabel(res, 0, evil)
	relabel(res, 3, "nan")
	relabel(res, 4, "null")
	info := &res.Header.Scenario
	info.Title, info.Question, info.Name = evil, "- "+evil, evil
	info.Headline.A, info.Headline.B = evil, "null"
	for i := range info.Claims {
		info.Claims[i].Text, info.Claims[i].Source = evil, evil
	}
	info.Points[0].Values = map[string]string{evil: evil}
	res.Warnings = append(res.Warnings, evil)
	res.Skips = append(res.Skips, record.Skip{Case: evil + "2", Reason: evil, Remedy: evil})
	res.Header.Environment = append(res.Header.Environment, record.EnvItem{Key: "kernel", Value: evil})
	res.Header.Metrics[0].Help = evil
	res.Trials[5].Marks = []string{evil}
	res.Trials[6].Invalid = evil
	return res
}

func TestHostileTextIsNeutral(t *testing.T) {
	r := reportOf(t, evilResult())
	for _, name := range []string{"table", "markdown", "csv", "benchfmt"} {
		for _, width := range []int{0, 40, 100} {
			for _, c := range textOf(t, name, r, Options{Width: width}) {
				if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
					t.Fatalf("%s passes %q on", name, c)
				}
			}
		}
	}
	md := textOf(t, "markdown", r, Options{})
	for _, markup := range []string{"<script", "http://", "`", "**@", "@all", "$x$"} {
		if i := strings.Index(md, markup); i >= 0 && (i == 0 || md[i-1] != '\\') {
			t.Errorf("markdown lets %q through: %q", markup, md[max(0, i-20):i+20])
		}
	}
	columns := 0
	for line := range strings.SplitSeq(md, "\n") {
		if strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "## ") {
			t.Errorf("a heading from a file: %q", line)
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(line, "|") - strings.Count(line, `\|`)
		if columns != 0 && n != columns {
			t.Errorf("a row of %d bars in a table of %d: %s", n, columns, line)
		}
		columns = n
	}
	rows, err := csv.NewReader(strings.NewReader(textOf(t, "csv", r, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for i, f := range row {
			if f != "" && strings.ContainsRune("=+-@", rune(f[0])) {
				if _, err := strconv.ParseFloat(f, 64); err != nil {
					t.Errorf("column %s starts a formula: %q", csvColumns[i], f)
				}
			}
		}
	}
}

func TestNamesStayDistinct(t *testing.T) {
	res := fixture.Result()
	prefix := strings.Repeat("p", 300)
	for i, label := range []string{prefix + "1", prefix + "2", "nan", "null", "a b", "a%20b"} {
		relabel(res, i, label)
	}
	r := reportOf(t, res)
	for _, width := range []int{40, 80, 200} {
		out := textOf(t, "table", r, Options{Width: width})
		joined := strings.NewReplacer("\n", "", " ", "", "│", "", "─", "", "┼", "").Replace(out)
		for _, want := range []string{"nan", "null"} {
			if !strings.Contains(out, want) {
				t.Errorf("width %d: %q is gone", width, want)
			}
		}
		if width == 40 && (!strings.Contains(joined, prefix+"1") || !strings.Contains(joined, prefix+"2")) {
			t.Errorf("width %d: the long names are cut", width)
		}
	}
	names := map[string]bool{}
	for line := range strings.SplitSeq(textOf(t, "benchfmt", r, Options{}), "\n") {
		if strings.HasPrefix(line, "Benchmark") {
			names[strings.Fields(line)[0]] = true
		}
	}
	if len(names) != 6 {
		t.Errorf("%d benchmark names for 6 cases: %v", len(names), names)
	}
	rows, err := csv.NewReader(strings.NewReader(textOf(t, "csv", r, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]bool{}
	for _, row := range rows[1:] {
		labels[row[2]] = true
	}
	if len(labels) != 6 || !labels["nan"] || !labels["null"] || !labels[prefix+"2"] {
		t.Errorf("labels in CSV: %d", len(labels))
	}
}

// noNonFinite fails on any spelling of a number that is none.
func noNonFinite(t *testing.T, what, out string) {
	t.Helper()
	for word := range strings.FieldsFuncSeq(out, func(r rune) bool { return !unicode.IsLetter(r) && r != '+' }) {
		switch strings.ToLower(strings.TrimLeft(word, "+")) {
		case "nan", "inf", "infinity":
			t.Errorf("%s writes %q", what, word)
		}
	}
}

func TestAwkwardReportsRender(t *testing.T) {
	for what, r := range awkward(t) {
		for name := range textOutputs {
			if name == "json" && what == "not finite" {
				var b strings.Builder
				if err := JSON(&b, r, Options{}); err == nil {
					t.Error("JSON writes what is not finite")
				}
				continue
			}
			noNonFinite(t, name+" of "+what, textOf(t, name, r, Options{Width: 80}))
		}
	}
}

func TestCSVIsNumbers(t *testing.T) {
	r := reportOf(t, fixture.Sweep(), troubled())
	rows, err := csv.NewReader(strings.NewReader(textOf(t, "csv", r, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := 1
	for _, s := range r.Scenarios {
		for _, p := range s.Points {
			want += len(p.Cases) * len(s.Metrics)
		}
	}
	if len(rows) != want {
		t.Errorf("%d rows, want %d", len(rows), want)
	}
	text := map[string]bool{"scenario": true, "point": true, "case": true, "build": true, "baseline": true, "metric": true, "unit": true,
		"per": true, "better": true, "exact": true, "effect_stat": true, "marks": true, "unavailable": true}
	for _, row := range rows[1:] {
		for i, f := range row {
			if v, err := strconv.ParseFloat(f, 64); !text[csvColumns[i]] && f != "" && (err != nil || math.IsInf(v, 0)) {
				t.Fatalf("column %s holds %q", csvColumns[i], f)
			}
		}
	}
}

func TestJSONReadsBack(t *testing.T) {
	r := reportOf(t, fixture.Result())
	var got struct {
		Format    string
		Version   int
		Scenarios []analyze.Scenario
	}
	if err := json.Unmarshal([]byte(textOf(t, "json", r, Options{})), &got); err != nil {
		t.Fatal(err)
	}
	if got.Format != "zcbench-report" || got.Version != JSONVersion || len(got.Scenarios) != 1 {
		t.Fatalf("document %s %d", got.Format, got.Version)
	}
	was, is := r.Scenarios[0].Points[0].Case("slot").Cells["cpu_per_msg"], got.Scenarios[0].Points[0].Case("slot").Cells["cpu_per_msg"]
	if fmt.Sprint(was.Median, *was.Effect, was.Samples) != fmt.Sprint(is.Median, *is.Effect, is.Samples) {
		t.Errorf("cell changed:\n%+v\n%+v", was, is)
	}
}
