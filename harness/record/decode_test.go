package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"
)

func TestDecodeRefuses(t *testing.T) {
	head := headerLine(t)
	ok := trialLine("a", `{"den":1}`)
	future := strings.Replace(head, `"schema":1`, `"schema":2`, 1)
	twice := strings.Replace(head, `"metrics":[{`, `"metrics":[{"name":"calls","unit":"1","kind":"exact","purpose":"counting"},{`, 1)
	for _, c := range []refusal{
		{"empty", "", 1, "empty"},
		{"UTF-16", toUTF16(head), 1, "UTF-8"},
		{"UTF-16 without a mark", toUTF16(head)[2:], 1, "UTF-8"},
		{"binary", "\x7fELF\x02\x01\x01\x00\n", 1, "UTF-8"},
		{"binary later", head + "\xff\n", 2, "UTF-8"},
		{"text", "hello\n", 1, "not a result line"},
		{"empty line", head + "\n", 2, "not a result line"},
		{"truncated header", head[:len(head)-9], 1, "inside a line"},
		{"truncated last line", head + ok + ok[:20], 3, "inside a line"},
		{"newline lost", head + strings.TrimSuffix(ok, "\n"), 2, "inside a line"},
		{"NaN", head + trialLine("a", `{"v":NaN}`), 2, "not a result line"},
		{"Infinity", head + trialLine("a", `{"v":Infinity}`), 2, "not a result line"},
		{"1e999", head + trialLine("a", `{"v":1e999}`), 2, "1e999"},
		{"-1e999", head + trialLine("a", `{"v":-1e999}`), 2, "1e999"},
		{"huge count", head + trialLine("a", `{"num":9223372036854775808,"den":1}`), 2, "9223372036854775808"},
		{"count and float", head + trialLine("a", `{"num":1,"den":1,"v":1}`), 2, "both a count and a float"},
		{"num and float", head + trialLine("a", `{"num":1,"v":1}`), 2, "both a count and a float"},
		{"neither", head + trialLine("a", `{"num":1}`), 2, "neither"},
		{"negative den", head + trialLine("a", `{"num":1,"den":-1}`), 2, "negative"},
		{"duplicate trial", head + ok + trialLine("b", `{"den":1}`) + ok, 4, "first on line 2"},
		{"trial without an id", head + trialLine("", `{"den":1}`), 2, "without an id"},
		{"unknown status", head + strings.Replace(ok, `"ok"`, `"fine"`, 1), 2, "fine"},
		{"series", head + strings.Replace(ok, `"status"`, `"series":[{"name":"s","x":[1],"y":[]}],"status"`, 1), 2, "series s"},
		{"two headers", head + head, 2, "second header"},
		{"after the footer", head + `{"footer":{"status":"complete"}}` + "\n" + ok, 3, "after the footer"},
		{"two footers", head + strings.Repeat(`{"footer":{"status":"complete"}}`+"\n", 2), 3, "after the footer"},
		{"future schema", future, 1, "schema 2"},
		{"first line a trial", ok, 1, "not a header"},
		{"first line null", "null\n", 1, "not a header"},
		{"metric twice", twice, 1, "calls"},
		{"unknown kind", head + `{"note":"x"}` + "\n", 2, "no known kind"},
		{"two kinds", head + `{"warning":"x","footer":{}}` + "\n", 2, "kinds"},
		{"two values", head + `{"warning":"x"} {"warning":"y"}` + "\n", 2, "not a result line"},
		{"stray brace", head + `{"warning":"x"}}` + "\n", 2, "not a result line"},
		{"over-long line", head + `{"warning":"` + strings.Repeat("x", MaxLineBytes) + `"}` + "\n", 2, "longer than"},
	} {
		c.test(t)
	}
}

// What a line says must fit what the header says.
func TestDecodeRefusesWhatTheHeaderDoesNotKnow(t *testing.T) {
	head := headerLine(t)
	ok := trialLine("a", `{"den":1}`)
	for _, c := range []refusal{
		{"unknown purpose", head + strings.Replace(ok, `"counting"`, `"fun"`, 1), 2, "unknown purpose"},
		{"unknown case", head + strings.Replace(ok, "a@clients=1", "b", 1), 2, "not in the header"},
		{"another trial's record", head + strings.Replace(ok, `"record":{"trial":"a"`, `"record":{"trial":"b"`, 1), 2, "is of trial"},
		{"unknown metric", head + strings.Replace(ok, `"calls"`, `"made_up"`, 1), 2, "not described"},
		{"not in order", head + strings.Replace(ok, `"id"`, `"order":2,"id"`, 1) + trialLine("b", `{"den":1}`), 3, "order"},
		{"unknown unit", strings.Replace(head, `"unit":"1"`, `"unit":"parsec"`, 1), 1, "parsec"},
		{"unknown kind of metric", strings.Replace(head, `"kind":"exact"`, `"kind":"guess"`, 1), 1, "guess"},
		{"unknown direction", strings.Replace(head, `"better":"lower"`, `"better":"up"`, 1), 1, "up"},
	} {
		c.test(t)
	}
}

// refusal is a text that must be refused at a line, in words.
type refusal struct {
	name, text string
	line       int
	says       string
}

func (c refusal) test(t *testing.T) {
	t.Run(c.name, func(t *testing.T) {
		res, err := decode(c.text)
		var bad *SyntaxError
		if !errors.As(err, &bad) {
			t.Fatalf("error %v, want a *SyntaxError", err)
		}
		if bad.Line != c.line || bad.Path != "r.jsonl" || !strings.HasPrefix(err.Error(), "r.jsonl:") {
			t.Errorf("%v: line %d, want %d", err, bad.Line, c.line)
		}
		if !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q does not say %q", err, c.says)
		}
		if before := strings.SplitAfter(c.text, "\n")[:c.line-1]; bad.Offset != int64(len(strings.Join(before, ""))) {
			t.Errorf("offset %d, want that of line %d", bad.Offset, c.line)
		}
		if res == nil || res.End > bad.Offset {
			t.Errorf("result %v beside the error, want what came before", res)
		}
	})
}

func toUTF16(s string) string {
	var b bytes.Buffer
	b.WriteString("\xff\xfe")
	for _, u := range utf16.Encode([]rune(s)) {
		b.Write(binary.LittleEndian.AppendUint16(nil, u))
	}
	return b.String()
}

func TestDecodeKeepsWhatCameBefore(t *testing.T) {
	res, err := decode(headerLine(t) + trialLine("a", `{"den":1}`) + "garbage\n")
	if err == nil || len(res.Trials) != 1 || res.Trials[0].Trial.ID != "a" || res.Header.Scenario.Name != "s" {
		t.Errorf("%v beside %+v", err, res)
	}
}

func TestDecodeWithoutFooter(t *testing.T) {
	text := headerLine(t) + trialLine("a", `{"num":3,"den":2}`)
	res, err := decode(text)
	must(t, err)
	if res.Footer != nil || len(res.Trials) != 1 || res.End != int64(len(text)) {
		t.Errorf("footer %v, %d trials, end %d of %d", res.Footer, len(res.Trials), res.End, len(text))
	}
}

// A parameter named like a number that is none, or like nothing, is text.
func TestDecodeTakesWordsForText(t *testing.T) {
	text := headerLine(t) + strings.Replace(trialLine("a", `{"den":1}`), `"case"`, `"params":{"nan":"NaN","null":"null"},"case"`, 1)
	res, err := decode(text)
	must(t, err)
	if p := res.Trials[0].Trial.Params; p["nan"] != "NaN" || p["null"] != "null" {
		t.Errorf("params %v", p)
	}
}

// Attempts of one trial are distinct lines.
func TestDecodeTakesAttempts(t *testing.T) {
	again := strings.Replace(trialLine("a", `{"den":1}`), `{"id":"a"`, `{"attempt":1,"id":"a"`, 1)
	res, err := decode(headerLine(t) + trialLine("a", `{"den":1}`) + again)
	must(t, err)
	if len(res.Trials) != 2 || res.Trials[1].Trial.Attempt != 1 {
		t.Errorf("%+v", res.Trials)
	}
}

func TestDecodeReportsReadErrors(t *testing.T) {
	broken := errors.New("the disk is gone")
	_, err := Decode(&failingReader{strings.NewReader(headerLine(t)), broken}, "r.jsonl")
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

type failingReader struct {
	r   *strings.Reader
	err error
}

func (f *failingReader) Read(p []byte) (int, error) {
	if f.r.Len() == 0 {
		return 0, f.err
	}
	return f.r.Read(p)
}

func TestReadMissing(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, dir + "/none"} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "open result") {
			t.Errorf("Read(%s): %v", path, err)
		}
	}
}
