package scenarios

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzParse: any text is a scenario or an *Error at a place in it.
func FuzzParse(f *testing.F) {
	f.Add([]byte(base))
	for _, kind := range Kinds() {
		f.Add([]byte(minimal(kind, "smoke.measure", "{messages: 7}")))
	}
	for _, name := range Embedded() {
		text, err := files.ReadFile(name + extension)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	faulty, err := filepath.Glob("testdata/faulty/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range faulty {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	none := func(name string) (string, []byte, error) { return name, []byte("100\n" + name), nil }
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parse("f.yaml", text, none)
		if err != nil {
			checkFuzzError(t, text, err)
			return
		}
		checkFuzzScenario(t, s)
	})
}

func checkFuzzError(t *testing.T, text []byte, err error) {
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%T: %v", err, err)
	}
	lines := strings.Count(string(text), "\n") + 1
	for _, one := range append([]*Error{e}, e.More...) {
		if one.File == "f.yaml" && (one.Line < 1 || one.Line > lines || one.Col < 1 || one.Msg == "") {
			t.Errorf("the fault %d:%d %q in a text of %d lines", one.Line, one.Col, one.Msg, lines)
		}
		if strings.Count(one.Excerpt, "\n") != 1 {
			t.Errorf("excerpt %q", one.Excerpt)
		}
	}
	if out := e.Error(); !utf8.ValidString(out) || strings.ContainsAny(out, "\x00\x1b\r\t\u0085") {
		t.Errorf("the message cannot be printed: %q", out)
	}
}

func checkFuzzScenario(t *testing.T, s *Scenario) {
	again, err := Parse("f.yaml", []byte(s.Text))
	if err == nil && again.Baseline.Label() != s.Baseline.Label() {
		t.Errorf("read twice, the baseline is %s and %s", s.Baseline.Label(), again.Baseline.Label())
	}
	for _, sizes := range [][]Sizes{s.Workload.Sizes, s.Workload.LiveBytes} {
		checkFuzzSizes(t, sizes)
	}
	if n := s.Workload.points(); n < 1 || n > maxCases {
		t.Errorf("%d points", n)
	}
	if smoke, err := s.Smoke(); err == nil {
		_ = smoke.Errorf("workload.sizes[0]", "x").Error()
	}
}

func checkFuzzSizes(t *testing.T, list []Sizes) {
	labels := map[string]bool{}
	for _, sizes := range list {
		if labels[sizes.Label()] {
			t.Errorf("%s twice", sizes.Label())
		}
		labels[sizes.Label()] = true
		if n := sizes.Largest(); n < MinMessageBytes || n > MaxMessageBytes {
			t.Errorf("%s has messages of %d bytes", sizes.Label(), n)
		}
		if r, c := sizes.RaisedShare(), sizes.CutShare(); !(r >= 0 && r <= 1 && c >= 0 && c <= 1) {
			t.Errorf("%s: raised %g, cut %g", sizes.Label(), r, c)
		}
	}
}
