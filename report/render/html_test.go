package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

func htmlOf(t *testing.T, r *analyze.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := HTML(&b, r, Options{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > maxPageBytes {
		t.Errorf("the page takes %d bytes", b.Len())
	}
	return b.String()
}

// element is a part of a page: its name, attributes and own text.
type element struct {
	name  string
	attrs map[string]string
	text  string
}

// elements reads a page in document order, leaving out the script and style.
func elements(t *testing.T, page string) []element {
	t.Helper()
	page = regexp.MustCompile(`(?s)<(script|style)>.*?</(script|style)>`).ReplaceAllString(page, "")
	dec := xml.NewDecoder(strings.NewReader(page))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var out []element
	var open []int
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("read the page: %v", err)
		}
		switch e := tok.(type) {
		case xml.StartElement:
			el := element{name: e.Name.Local, attrs: map[string]string{}}
			for _, a := range e.Attr {
				el.attrs[a.Name.Local] = a.Value
			}
			open = append(open, len(out))
			out = append(out, el)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, i := range open {
				out[i].text += string(e)
			}
		}
	}
}

func TestPageStructure(t *testing.T) {
	var b strings.Builder
	for _, e := range elements(t, htmlOf(t, reportOf(t, fixture.Result()))) {
		text := strings.Join(strings.Fields(e.text), " ")
		switch {
		case slices.Contains([]string{"h1", "h2", "h3", "th", "button", "figcaption", "summary", "footer"}, e.name):
			fmt.Fprintf(&b, "%s: %s\n", e.name, text)
		case strings.HasPrefix(e.attrs["class"], "verdict"):
			fmt.Fprintf(&b, "  verdict: %s\n", text)
		case e.attrs["class"] == "answer":
			b.WriteString("answer\n")
		case e.name == "table" || e.name == "figure" || e.name == "svg" || e.name == "pre" || e.name == "details":
			fmt.Fprintf(&b, "%s %s\n", e.name, e.attrs["class"])
		}
	}
	golden(t, "page-structure.txt", b.String())
}

func TestPageAsksNothingAndRunsOnlyItsScript(t *testing.T) {
	page := htmlOf(t, reportOf(t, fixture.Result()))
	scripts := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(page, -1)
	if len(scripts) != 1 || strings.Count(page, "<script") != 1 {
		t.Fatalf("%d scripts", len(scripts))
	}
	sum := sha256.Sum256([]byte(scripts[0][1]))
	want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	policy := ""
	for _, e := range elements(t, page) {
		if e.attrs["http-equiv"] == "Content-Security-Policy" {
			policy = e.attrs["content"]
		}
		for k, v := range e.attrs {
			if k != "xmlns" && regexp.MustCompile(`(?i)^(https?:|//|javascript:|file:)`).MatchString(v) || strings.HasPrefix(k, "on") {
				t.Errorf("<%s %s=%q>", e.name, k, v)
			}
		}
		if slices.Contains([]string{"img", "link", "iframe", "object", "embed", "form", "base"}, e.name) {
			t.Errorf("the page has a <%s>", e.name)
		}
	}
	if !strings.Contains(policy, want) || !strings.HasPrefix(policy, "default-src 'none';") {
		t.Errorf("policy %q lacks %s", policy, want)
	}
}

// withHostileNames gives the cases of the fixture the hostile names.
func withHostileNames(t *testing.T) *analyze.Report {
	r := reportOf(t, fixture.New(fixture.Spec{Blocks: 6, Repeats: 2}), evilResult())
	cases := r.Scenarios[0].Points[0].Cases
	for i, n := range hostileNames() {
		c := cases[i%6]
		c.Name, c.Info.Baseline = n, false
		cases = append(cases, c)
	}
	s := &r.Scenarios[0]
	s.Points[0].Cases = cases
	s.Info.Text = hostileNames()[0] + "\n\t" + hostileNames()[4]
	s.Headline, s.Info.Question, s.Info.Headline.Plot = hostileNames()[1], hostileNames()[0], hostileNames()[2]
	s.Probe = &record.Probe{Kernel: hostileNames()[4]}
	for i, n := range hostileNames() {
		s.Probe.Findings = append(s.Probe.Findings, record.Finding{Sort: probeSorts[i%len(probeSorts)].sort, Family: n, Name: n, Verdict: record.FindingVerdict(n),
			Unit: n, Reason: n, Evidence: n, Steps: []record.Step{{Name: n}}, Affects: []string{n}})
	}
	s.Skips = append(s.Skips, record.Skip{Case: hostileNames()[7], Reason: hostileNames()[1], Remedy: hostileNames()[6]})
	return r
}

func TestHostileTextStaysTextInThePage(t *testing.T) {
	page := htmlOf(t, withHostileNames(t))
	for _, c := range page {
		if c != '\n' && c != '\t' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
			t.Fatalf("the page passes %q on", c)
		}
	}
	if strings.Count(page, "<script") != 1 || strings.Contains(page, "<img") {
		t.Error("text from a file became an element")
	}
	all := ""
	for _, e := range elements(t, page) {
		for k := range e.attrs {
			if strings.HasPrefix(k, "on") {
				t.Errorf("<%s> has an attribute %s", e.name, k)
			}
		}
		if e.name == "main" {
			all += e.text
		}
	}
	for _, want := range []string{"<script>window.pwned=1</script>", `\u202eevil`, "שלום", hostileNames()[7], hostileNames()[8], "{{.Script}}"} {
		if !strings.Contains(all, want) {
			t.Errorf("the text of the page lacks %q", want)
		}
	}
}

func TestPageOfDegenerateData(t *testing.T) {
	for name, r := range degenerate(t) {
		t.Run(name, func(t *testing.T) {
			page := htmlOf(t, r)
			if n := strings.Count(page, "<main"); n != max(1, len(r.Scenarios)) {
				t.Errorf("%d main parts for %d scenarios", n, len(r.Scenarios))
			}
			elements(t, page)
		})
	}
}

func TestPageSaysWhatMustNotBeMissed(t *testing.T) {
	r := reportOf(t, fixture.New(fixture.Spec{Blocks: 2, Repeats: 1, Smoke: true}))
	s := &r.Scenarios[0]
	s.Complete, s.Headline = false, ""
	s.Warnings = append(s.Warnings, analyze.Warning{Level: analyze.LevelError, Text: "The cases did different work.", Cases: []string{"slot"}})
	page := htmlOf(t, r)
	before, after, _ := strings.Cut(page, "<h2>All cases</h2>")
	for _, want := range []string{"smoke run", "interrupted", "No answer", "Do not compare:", "The cases did different work."} {
		if !strings.Contains(before, want) {
			t.Errorf("the first screen lacks %q", want)
		}
	}
	for _, want := range []string{s.Skips[0].Remedy, "no cpufreq on this machine", "perf_event_paranoid", "The cases did different work.", "name: " + s.Info.Name} {
		if !strings.Contains(after, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestFirstScreenAnswersTheQuestion(t *testing.T) {
	r := reportOf(t, fixture.Result())
	s := &r.Scenarios[0]
	first := map[string]string{}
	svgs := 0
	for _, e := range elements(t, htmlOf(t, r)) {
		if e.name == "h2" && e.text == "All cases" {
			break
		}
		if key := e.name + "." + e.attrs["class"]; first[key] == "" {
			first[key] = e.text
		}
		if e.name == "svg" {
			svgs++
		}
	}
	if first["h1."] != s.Info.Question || first["p.answer"] != s.Headline || s.Headline == "" {
		t.Errorf("question %q, answer %q", first["h1."], first["p.answer"])
	}
	if svgs != 2 || !strings.Contains(first["figure."], "Resident buffer pages") {
		t.Errorf("%d drawings of the plot the scenario names, want a wide and a narrow one", svgs)
	}
	for _, c := range s.Claims {
		if !strings.Contains(first["ul.claims"], c.Claim.Text) || !strings.Contains(first["ul.claims"], c.Reason) {
			t.Errorf("claim %s lacks its text or reason", c.Claim.ID)
		}
	}
}

func TestPageStaysSmall(t *testing.T) {
	r := reportOf(t, fixture.Result())
	point := r.Scenarios[0].Points[0]
	for i := range 59 {
		point.Name = fmt.Sprintf("clients %d", i+2)
		r.Scenarios[0].Points = append(r.Scenarios[0].Points, point)
	}
	page := htmlOf(t, r) // checks the size
	if !strings.Contains(page, "left out to keep this page small") || !strings.Contains(page, `class="plot"`) {
		t.Error("a page without room for all plots shows none, or does not say which are missing")
	}
	if err := writePage(io.Discard, r, 1<<10); err == nil || !strings.Contains(err.Error(), "limit") {
		t.Errorf("a page over the limit gives %v", err)
	}
}
