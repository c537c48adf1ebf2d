package render

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

func TestTextGolden(t *testing.T) {
	good, bad, sweep := reportOf(t, fixture.Result()), reportOf(t, troubled()), reportOf(t, fixture.Sweep())
	for name, c := range map[string]struct {
		output string
		report *analyze.Report
		o      Options
	}{
		"table.txt":            {"table", good, Options{Width: 200}},
		"table-80.txt":         {"table", good, Options{Width: 80}},
		"table-40-ascii.txt":   {"table", good, Options{Width: 40, ASCII: true}},
		"table-color.txt":      {"table", good, Options{Width: 120, Color: true}},
		"table-troubled.txt":   {"table", bad, Options{Width: 100}},
		"table-sweep.txt":      {"table", sweep, Options{Width: 120}},
		"markdown.md":          {"markdown", good, Options{}},
		"markdown-trouble.md":  {"markdown", bad, Options{}},
		"round.csv":            {"csv", plain(), Options{}},
		"round.json":           {"json", plain(), Options{}},
		"round.benchfmt":       {"benchfmt", plain(), Options{}},
		"round.txt":            {"table", plain(), Options{Width: 80}},
		"markdown-round.md":    {"markdown", plain(), Options{ASCII: true}},
		"table-unlimited.txt":  {"table", sweep, Options{}},
		"table-20-cramped.txt": {"table", plain(), Options{Width: 20}},
	} {
		golden(t, name, textOf(t, c.output, c.report, c.o))
	}
}

func TestTableSaysEverything(t *testing.T) {
	out := textOf(t, "table", reportOf(t, troubled()), Options{Width: 100})
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{
		"(baseline)", "skipped", "near floor", "varies", "2 trials marked receiver-limited", "unequal work", "killed by signal 9",
		"ERROR: unequal work in timing trials, block 4: slot@", "the run was killed", "1 trial left out as invalid: generator-limited",
		"ring-bundle: this kernel refuses", "remedy: run Linux 6.15 or newer", "[not measurable here] nic-offload",
		"n/a: p99.9 latency of all cases: fewer than ten of a trial's 2000 messages", "perf_event_open refused (EACCES)",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("the table does not say %q:\n%s", want, out)
		}
	}
}

func TestMissingValuesAreNamedTogether(t *testing.T) {
	cell := func(why string) analyze.Cell { return analyze.Cell{Metric: "m", Unavailable: why} }
	of := func(id, a, b string) analyze.Case {
		return analyze.Case{Info: record.CaseInfo{ID: id}, Cells: map[string]analyze.Cell{"latency_p50": cell(a), "cpu_per_msg": cell(b)}}
	}
	s := analyze.Scenario{Columns: []string{"latency_p50", "cpu_per_msg"}, Points: []analyze.Point{{Cases: []analyze.Case{
		of("one", "no trial", "no trial"), of("two", "", "too short"), of("three", "", ""), {Info: record.CaseInfo{ID: "gone"}, Skip: &record.Skip{}}}}}}
	got := strings.Join(missingWords(&s), "\n")
	if want := "median latency, CPU time of one: no trial\nCPU time of two: too short"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Points[0].Cases = s.Points[0].Cases[:1]
	if got := missingWords(&s); len(got) != 1 || got[0] != "median latency, CPU time of all cases: no trial" {
		t.Errorf("got %q", got)
	}
	if got := someOf([]string{"a", "b", "c", "d", "e", "f"}, 9); got != "a, b, c, d and 2 more" {
		t.Errorf("got %q", got)
	}
}

func TestTableLinesFitTheirWidth(t *testing.T) {
	reports := awkward(t)
	long := fixture.Result()
	relabel(long, 3, strings.Repeat("verylongname", 25)+"{a=1}")
	relabel(long, 4, "日本語の名前"+strings.Repeat("漢", 60))
	reports["long names"] = reportOf(t, long)
	for name, r := range reports {
		for _, width := range []int{20, 25, 30, 40, 50, 60, 79, 80, 100, 120, 160, 200} {
			for line := range strings.SplitSeq(textOf(t, "table", r, Options{Width: width, ASCII: width%20 == 0}), "\n") {
				if w := textWidth(line); w > width {
					t.Errorf("%s at width %d: a line of %d: %q", name, width, w, line)
				}
				if strings.HasSuffix(line, " ") {
					t.Errorf("%s at width %d: blanks at the end of %q", name, width, line)
				}
			}
		}
	}
}

func TestNarrowTableHoldsTheSameFigures(t *testing.T) {
	r := reportOf(t, fixture.Result())
	narrow := textOf(t, "table", r, Options{Width: 40})
	for _, want := range []string{"ring-fixed{chunk=64KiB}\n(baseline)", "p99 latency: 116 us\n    1.18x (1.12–1.25)", "wasted bytes per message: 61.2 KiB"} {
		if !strings.Contains(narrow, want) {
			t.Errorf("the narrow layout lacks %q:\n%s", want, narrow)
		}
	}
}

func TestASCIIIsASCII(t *testing.T) {
	res := fixture.Result()
	relabel(res, 3, "naïve–slot")
	r := reportOf(t, res)
	for _, width := range []int{0, 40, 120} {
		out := textOf(t, "table", r, Options{Width: width, ASCII: true})
		for i, c := range []byte(out) {
			if c >= 0x80 || (c < ' ' && c != '\n') {
				t.Fatalf("width %d: byte %#x at %d: %q", width, c, i, out[max(0, i-30):i+1])
			}
		}
		if !strings.Contains(out, `na\u00efve-slot`) {
			t.Errorf("width %d: the name is lost:\n%s", width, out)
		}
	}
	if md := textOf(t, "markdown", r, Options{ASCII: true}); strings.IndexFunc(md, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		t.Error("markdown in ASCII is not")
	}
}

func TestColourIsOnlyThereWhenAsked(t *testing.T) {
	r := reportOf(t, troubled())
	plainText := textOf(t, "table", r, Options{Width: 100})
	if strings.Contains(plainText, "\x1b") {
		t.Error("escape sequences without Color")
	}
	coloured := textOf(t, "table", r, Options{Width: 100, Color: true})
	for line := range strings.SplitSeq(coloured, "\n") {
		if strings.Count(line, "\x1b[0m")*2 != strings.Count(line, "\x1b[") {
			t.Errorf("a colour runs past its line: %q", line)
		}
	}
	strip := coloured
	for _, code := range []string{"0", "1", "2", "31", "32", "33"} {
		strip = strings.ReplaceAll(strip, "\x1b["+code+"m", "")
	}
	if trimLines(strip) != plainText {
		t.Error("colours change the layout")
	}
	if !strings.Contains(coloured, "\x1b[32m") || !strings.Contains(coloured, "\x1b[31m") {
		t.Error("neither better nor worse shows")
	}
}

func TestBetterIsNotWorse(t *testing.T) {
	up := &analyze.Effect{Stat: analyze.Ratio, Estimate: 1.5, HasInterval: true, Lo: 1.4, Hi: 1.6}
	none := &analyze.Effect{Stat: analyze.Ratio, Estimate: 1.5, HasInterval: true, Lo: 0.9, Hi: 1.6}
	for _, c := range []struct {
		e      *analyze.Effect
		better record.Better
		want   textTone
	}{{up, record.Higher, toneGood}, {up, record.Lower, toneBad}, {up, "", tonePlain}, {none, record.Lower, tonePlain},
		{&analyze.Effect{Stat: analyze.Diff, Estimate: -2, Exact: true}, record.Lower, toneGood},
		{&analyze.Effect{Stat: analyze.Diff, Estimate: 0, Exact: true}, record.Lower, tonePlain}} {
		if got := effectTone(c.e, record.Metric{Better: c.better}); got != c.want {
			t.Errorf("%+v with %q better: tone %d, want %d", c.e, c.better, got, c.want)
		}
	}
}

type brokenWriter struct{}

var errBroken = errors.New("disk full")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWriteErrorsComeBack(t *testing.T) {
	r := reportOf(t, fixture.Result())
	for name, f := range textOutputs {
		if err := f(brokenWriter{}, r, Options{Width: 80}); !errors.Is(err, errBroken) {
			t.Errorf("%s: %v, want the writer's error", name, err)
		}
	}
}
