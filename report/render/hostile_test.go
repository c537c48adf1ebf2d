package render

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// evils begin every text of a hostile file, one kind of evil at a time.
var evils = map[string]string{
	"formula =": `=HYPERLINK("http://evil")`, "formula +": "+1+cmd", "formula -": "-2+3", "formula @": "@SUM(1)", "formula after a tab": "\t=1", "formula after a line": "\r\n=1",
	"formula, full width": "＝1+1",
	"markup":              `<script>window.pwned=1</script><img src=x onerror="window.pwned=1">'"&amp;`, "attributes": `" onload="window.pwned=1" x='`,
	"end of section": `]]>--></text></svg></td>&#27;`, "templates": "{{.Script}}${window.pwned=1}%s%!d(x)",
	"escapes": "\x1b]0;own\x07\x1b[2J\u009b31m\b\b", "lines": "a\nBenchmarkEvil 1 5 sec/op\nUnit evil better=higher\n# head\n| a | b |\r\v\f\u2028x\u0085",
	"pipes": `|a|\|b`, "markdown": "`**@all** [a](javascript:alert(1)) ![x](http://evil) ~~x~~ :tada: $x$ #1",
	"right to left": "\u202egnp.exe\u202c\u2066\u200f\u2069", "invisible": "\u200b\ufeff\U000e0041", "NUL": "\x00\x7f\ufffe", "not UTF-8": "\xff\xfe\xc0\xaf",
	"long": strings.Repeat("x", 300), "wide": strings.Repeat("日本", 60), "blank": " \u00a0 ",
}

// enums are members whose texts have meanings: another one would only be refused.
var enums = []string{"Kind", "Stat", "Expect", "At", "Status", "Needs", "Value", "Sum", "Latency", "Histograms", "Mode", "Source", "Schema", "Purpose", "Level", "Better", "Compare"}

// taint puts evil before every text of v, those in keys of maps too, so that what
// belonged together still does. It returns a changed copy.
func taint(v reflect.Value, evil string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.Len() > 0 {
			out.SetString(evil + v.String())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(taint(v.Elem(), evil))
		}
	case reflect.Slice:
		if !v.IsNil() && v.Type().Elem().Kind() != reflect.Uint8 {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(taint(v.Index(i), evil))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMap(v.Type()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(taint(it.Key(), evil), taint(it.Value(), evil))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.IsExported() && (f.Type.Kind() != reflect.String || !slices.Contains(enums, f.Name)) && f.Type.PkgPath() != "time" {
				out.Field(i).Set(taint(v.Field(i), evil))
			}
		}
	}
	return out
}

func tainted[T any](v T, evil string) T {
	return taint(reflect.ValueOf(&v).Elem(), evil).Interface().(T)
}

// outcome is what a renderer wrote and how it is read.
type outcome struct{ format, text string }

// everything renders hostile data by every renderer there is.
func everything(t *testing.T, evil string) map[string]outcome {
	t.Helper()
	res := tainted(fixture.New(fixture.Spec{Blocks: 2, Repeats: 1, Messages: 50}), evil)
	res.Header.Probe = tainted(recordedProbe(t), evil)
	report := reportOf(t, res)
	older := tainted(fixture.New(fixture.Spec{Blocks: 1, Repeats: 1, Messages: 30}), evil)
	comparison, err := analyze.Compare([]*record.Result{older}, []*record.Result{res}, analyze.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	trends, err := analyze.Trend([]*record.Result{res, older})
	if err != nil {
		t.Fatal(err)
	}
	self := tainted(selfCheck(), evil)
	out := map[string]outcome{}
	render := func(name, format string, write func(w io.Writer) error) {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		out[name] = outcome{format, b.String()}
	}
	for width, o := range map[string]Options{"40": {Width: 40}, "100": {Width: 100}, "unbounded": {}, "ascii": {Width: 80, ASCII: true}} {
		render("table "+width, "text", func(w io.Writer) error { return Table(w, report, o) })
		render("compare table "+width, "text", func(w io.Writer) error { return CompareTable(w, comparison, strict, o) })
		render("trend "+width, "text", func(w io.Writer) error { return Trend(w, trends, o) })
		render("probe "+width, "text", func(w io.Writer) error { return Probe(w, res.Header.Probe, o) })
		render("self check "+width, "text", func(w io.Writer) error { return SelfCheckTable(w, self, o) })
	}
	render("markdown", "markdown", func(w io.Writer) error { return Markdown(w, report, Options{}) })
	render("compare markdown", "markdown", func(w io.Writer) error { return CompareMarkdown(w, comparison, strict, Options{}) })
	render("csv", "csv", func(w io.Writer) error { return CSV(w, report, Options{}) })
	render("compare csv", "csv", func(w io.Writer) error { return CompareCSV(w, comparison, strict, Options{}) })
	render("trend csv", "csv", func(w io.Writer) error { return TrendCSV(w, trends, Options{}) })
	render("json", "json", func(w io.Writer) error { return JSON(w, report, Options{}) })
	render("compare json", "json", func(w io.Writer) error { return CompareJSON(w, comparison, strict, Options{}) })
	render("trend json", "json", func(w io.Writer) error { return TrendJSON(w, trends, Options{}) })
	render("self check json", "json", func(w io.Writer) error { return SelfCheckJSON(w, self) })
	render("benchfmt", "benchfmt", func(w io.Writer) error { return Benchfmt(w, report, Options{}) })
	render("junit", "xml", func(w io.Writer) error { return CompareJUnit(w, comparison, strict, Options{}) })
	render("html", "html", func(w io.Writer) error { return HTML(w, report, Options{}) })
	render("trend html", "html", func(w io.Writer) error { return TrendHTML(w, trends, Options{}) })
	plots, err := Plots(report, PlotOptions{DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(plots, TrendPlots(trends, PlotOptions{DPI: 72})...) {
		render("plot "+p.Name, "svg", p.SVG)
		if !regexp.MustCompile(`^[a-z]+[a-z0-9-]*$`).MatchString(p.Name) {
			t.Errorf("plot name %q is no plain file stem", p.Name)
		}
	}
	return out
}

// TestEveryRendererIsSafe: whatever texts a file holds, no output lets one of them
// be anything but text.
func TestEveryRendererIsSafe(t *testing.T) {
	check := map[string]func(t *testing.T, name, text string){
		"text": func(*testing.T, string, string) {}, "csv": safeCSV, "json": safeJSON, "benchfmt": safeBench, "xml": safeXML,
		"markdown": safeMarkdown, "html": safeHTML, "svg": safeHTML,
	}
	for kind, evil := range evils {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for name, o := range everything(t, evil) {
				if o.text == "" {
					t.Errorf("%s is empty", name)
				}
				if at := strings.IndexFunc(o.text, func(r rune) bool {
					return r != '\n' && !(r == '\t' && o.format == "html") && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\ufffe' || r == '\u2028')
				}); at >= 0 || !utf8.ValidString(o.text) {
					t.Errorf("%s passes something on that does not print: %q", name, o.text[max(0, at-20):min(len(o.text), max(0, at)+20)])
				}
				check[o.format](t, name, o.text)
			}
		})
	}
}

func safeCSV(t *testing.T, name, text string) {
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Errorf("%s: %d rows, %v", name, len(rows), err)
	}
	for _, row := range rows {
		for _, f := range row {
			lead := strings.TrimLeftFunc(f, unicode.IsSpace)
			if _, err := strconv.ParseFloat(f, 64); err != nil && lead != "" && strings.ContainsAny(lead[:min(3, len(lead))], "=+@＝＋－＠") && strings.IndexAny(lead, "=+@＝＋－＠") == 0 {
				t.Errorf("%s: a formula: %q", name, f)
			} else if err != nil && strings.HasPrefix(lead, "-") {
				t.Errorf("%s: a formula: %q", name, f)
			}
		}
	}
}

func safeJSON(t *testing.T, name, text string) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if strings.Contains(text, "<script") {
		t.Errorf("%s holds markup, which pages embed", name)
	}
}

func safeBench(t *testing.T, name, text string) {
	got := parseBench(t, text)
	if _, evil := got.units["evil"]; evil || len(got.values) == 0 {
		t.Errorf("%s: units %v, %d benchmarks", name, got.units, len(got.values))
	}
	for n := range got.values {
		if strings.HasPrefix(n, "BenchmarkEvil") {
			t.Errorf("%s: a benchmark from a name: %q", name, n)
		}
	}
}

func safeXML(t *testing.T, name, text string) {
	dec := xml.NewDecoder(strings.NewReader(text))
	known := []string{"testsuites", "testsuite", "properties", "property", "testcase", "failure", "skipped", "system-out", "system-err"}
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if e, ok := tok.(xml.StartElement); ok && !slices.Contains(known, e.Name.Local) {
			t.Errorf("%s: an element <%s>", name, e.Name.Local)
		}
	}
}

// inMarkdown finds what markdown would read as more than text: tags other than
// ours, links, images, code, mentions.
var inMarkdown = regexp.MustCompile("(?i)(^|[^\\\\])(<(script|img|/?td|/?text|/?svg|!--)|\\]\\(|!\\[|`|@all)")

func safeMarkdown(t *testing.T, name, text string) {
	columns := 0
	for line := range strings.SplitSeq(text, "\n") {
		if m := inMarkdown.FindString(line); m != "" {
			t.Errorf("%s lets %q through: %.200q", name, m, line)
		}
		if strings.HasPrefix(line, "# ") && strings.Contains(line, "head") {
			t.Errorf("%s: a heading from a name: %.200q", name, line)
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		plain := strings.ReplaceAll(strings.ReplaceAll(line, `\\`, ""), `\|`, "")
		if n := strings.Count(plain, "|"); columns != 0 && n != columns {
			t.Errorf("%s: a row of %d bars in a table of %d: %.300q", name, n, columns, line)
		} else {
			columns = n
		}
	}
}

func safeHTML(t *testing.T, name, text string) {
	scripts := strings.Count(text, "<script")
	if strings.HasPrefix(name, "plot") && scripts != 0 || scripts > 1 || strings.Contains(text, "<img") || strings.Contains(text, "<!-- ") {
		t.Errorf("%s: %d scripts, or an image", name, scripts)
	}
	for _, e := range elements(t, text) {
		for k, v := range e.attrs {
			if strings.HasPrefix(strings.ToLower(k), "on") || regexp.MustCompile(`(?i)^\s*(javascript|data|https?|file):`).MatchString(v) && k != "xmlns" {
				t.Errorf("%s: <%s %s=%.100q>", name, e.name, k, v)
			}
		}
	}
}

// TestTaintReachesTheNames: a hostile file is hostile where it counts.
func TestTaintReachesTheNames(t *testing.T) {
	const evil = "EVIL"
	res := tainted(fixture.Result(), evil)
	info := res.Header.Scenario
	for what, text := range map[string]string{
		"scenario": info.Name, "question": info.Question, "case": info.Cases[0].ID, "label": info.Cases[0].Label, "point": info.Points[0].ID,
		"claim": info.Claims[0].Text, "metric": res.Header.Metrics[0].Name, "unit": res.Header.Metrics[0].Unit, "column": info.Metrics[0],
		"environment": res.Header.Environment[0].Key, "trial": res.Trials[0].Trial.ID, "skip": res.Skips[0].Reason,
	} {
		if !strings.HasPrefix(text, evil) {
			t.Errorf("%s is %q", what, text)
		}
	}
	for name, o := range everything(t, evil) {
		if strings.Count(o.text, evil) == 0 && !strings.HasPrefix(name, "plot") {
			t.Errorf("%s holds no text of the file", name)
		}
	}
}
