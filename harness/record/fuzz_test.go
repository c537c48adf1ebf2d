package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

// FuzzDecode looks for input that panics, for a refusal without its place, and
// for a result that is not the same once it is written and read again.
func FuzzDecode(f *testing.F) {
	head := headerLine(f)
	for _, text := range []string{
		"", head, head + trialLine("a", `{"num":1,"den":2}`) + `{"footer":{"status":"complete"}}` + "\n",
		head + trialLine("a", `{"v":1e308}`) + trialLine("a", `{"v":1}`), head + `{"skip":{"case":"a","reason":"r"}}` + "\n{", head + head,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		res, err := Decode(bytes.NewReader(in), "x")
		var bad *SyntaxError
		if err != nil && (!errors.As(err, &bad) || bad.Line < 1 || bad.Offset > int64(len(in))) {
			t.Fatalf("error %#v of %d bytes", err, len(in))
		}
		if res == nil || res.End > int64(len(in)) {
			t.Fatalf("result %+v", res)
		}
		if err == nil {
			rewrite(t, res)
		}
	})
}

// rewrite encodes a result again and reads that.
func rewrite(t *testing.T, res *Result) {
	var text bytes.Buffer
	put := func(l line) {
		b, err := json.Marshal(l)
		if err != nil {
			t.Skip(err) // such as a year that cannot be written
		}
		text.Write(append(b, '\n'))
	}
	put(line{Header: &res.Header})
	for i := range res.Skips {
		put(line{Skip: &res.Skips[i]})
	}
	for i := range res.Warnings {
		put(line{Warning: &res.Warnings[i]})
	}
	for i := range res.Trials {
		put(line{Trial: &res.Trials[i]})
	}
	if res.Footer != nil {
		put(line{Footer: res.Footer})
	}
	again, err := Decode(bytes.NewReader(text.Bytes()), "x")
	if err != nil {
		t.Fatalf("what was read cannot be read again: %v\n%s", err, text.Bytes())
	}
	if a, b := asJSON(t, res), asJSON(t, again); a != b {
		t.Fatalf("read\n%s\nthen\n%s", a, b)
	}
}

// asJSON is what counts of a result: empty and missing lists are the same.
func asJSON(t *testing.T, res *Result) string {
	b, err := json.Marshal([]any{res.Header, res.Trials, len(res.Skips), res.Skips, len(res.Warnings), res.Warnings, res.Footer})
	must(t, err)
	return string(b)
}
