package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// FuzzProbe: a probe from a file that passes its check prints within its width,
// without a control character, and reads back.
func FuzzProbe(f *testing.F) {
	recorded, err := os.ReadFile("testdata/text/probe-recorded.json")
	if err != nil {
		f.Fatal(err)
	}
	var p record.Probe
	if err := json.Unmarshal(recorded, &p); err != nil {
		f.Fatal(err)
	}
	for i := range p.Findings {
		one := p
		one.Findings = p.Findings[i : i+1]
		text, err := json.Marshal(one)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"schema":1,"findings":[{"name":"\u001b[2J\u202e|=x","sort":"limit","verdict":"found","value":9007199254740993,"unit":"\n"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var p record.Probe
		if json.Unmarshal(text, &p) != nil || p.Check() != nil {
			return
		}
		for _, o := range []Options{{Width: 80}, {Width: 40, ASCII: true}} {
			var b strings.Builder
			if err := Probe(&b, &p, o); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(b.String(), "\n") {
				if strings.ContainsFunc(line, unprintable) {
					t.Errorf("does not print: %q", line)
				}
			}
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Skip(err) // such as a year that cannot be written
		}
		var q record.Probe
		if err := json.Unmarshal(again, &q); err != nil || q.Check() != nil {
			t.Errorf("%v, %v: what was read cannot be read again: %s", err, q.Check(), again)
		}
	})
}

// resultText is a result as its file has it.
func resultText(tb testing.TB, res *record.Result) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), record.FileName)
	w, err := record.Create(path, res.Header)
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range res.Skips {
		err = errors.Join(err, w.Skip(s))
	}
	for _, t := range res.Trials {
		err = errors.Join(err, w.Trial(t))
	}
	if err = errors.Join(err, w.Close(*res.Footer)); err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

// tiny is the smallest result with all kinds of trials.
func tiny() *record.Result {
	return fixture.New(fixture.Spec{Blocks: 1, Repeats: 1, Messages: 20})
}

// FuzzCompare: whatever a file holds that can be read, it compares with another
// and with itself, and reports on it, in every format; with itself nothing has
// changed.
func FuzzCompare(f *testing.F) {
	text := resultText(f, tiny())
	f.Add(text)
	lines := bytes.SplitAfter(text, []byte("\n"))
	f.Add(lines[0])
	f.Add(bytes.Join(lines[:3], nil))
	f.Add(bytes.ReplaceAll(text, []byte(`"slot`), []byte(`"=<b>\u202e\u001b|`)))
	base, err := record.Decode(bytes.NewReader(text), "base")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		res, err := record.Decode(bytes.NewReader(text), "next")
		if err != nil || len(res.Trials) > 100 {
			return
		}
		if r, err := analyze.Analyze(res); err == nil {
			for name, write := range textOutputs {
				if err := write(io.Discard, r, Options{Width: 60}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		again, _ := record.Decode(bytes.NewReader(text), "next")
		for _, rs := range [][2]*record.Result{{base, res}, {res, again}} {
			c, err := analyze.Compare([]*record.Result{rs[0]}, []*record.Result{rs[1]}, analyze.CompareOptions{})
			if err != nil {
				continue
			}
			for name, write := range compareOutputs {
				if err := write(io.Discard, c, strict, Options{Width: 60}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
			if n := c.Count(analyze.Regressed) + c.Count(analyze.Improved) + c.Count(analyze.Vanished) + c.Count(analyze.Appeared); rs[0] == res && n > 0 {
				t.Errorf("compared with itself, %d metrics changed", n)
			}
		}
	})
}
