package scenarios

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// wholeCase is a whole file and where its fault stands.
type wholeCase struct {
	name, text string
	line, col  int
	msg        string
}

func checkWhole(t *testing.T, cases []wholeCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := mustFault(t, c.text)
			if e.Line != c.line || e.Col != c.col || !strings.Contains(e.Msg, c.msg) {
				t.Errorf("got %d:%d %q\nwant %d:%d %q", e.Line, e.Col, e.Msg, c.line, c.col, c.msg)
			}
			if strings.ContainsAny(e.Error(), "\x00\x1b\t\r") {
				t.Errorf("the message holds control characters: %q", e.Error())
			}
		})
	}
}

func TestTextFaults(t *testing.T) {
	checkWhole(t, []wholeCase{
		{"empty", "", 1, 1, "the file is empty"},
		{"blank", " \n\n", 1, 1, "the file is empty"},
		{"comment only", "# nothing\n", 1, 1, "the file holds no keys"},
		{"byte order mark", "\ufeff" + base, 1, 1, "byte order mark"},
		{"byte order mark inside", "a: 1\nb: \ufeff\n", 2, 4, "byte order mark"},
		{"UTF-16 LE", "\xff\xfea\x00:\x00", 1, 1, "UTF-16"},
		{"UTF-16 BE", "\xfe\xff\x00a", 1, 1, "UTF-16"},
		{"UTF-16 without mark", "a\x00:\x00", 1, 2, "NUL byte"},
		{"Latin-1", "title: caf\xe9\n", 1, 11, "the byte 0xe9 is not UTF-8"},
		{"tab", "a:\n\tb: 1\n", 2, 1, "a tab"},
		{"tab after text", "ä: 1\t# x\n", 1, 5, "a tab"},
		{"escape", "a: \x1b[31m\n", 1, 4, "control character U+001B"},
		{"old Mac line ends", "a: 1\rb: 2\r", 1, 5, "carriage return"},
		{"too large", base + strings.Repeat("#\n", MaxFileBytes/2), 1, 1, "the limit is 1048576"},
	})
}

func TestYAMLFaults(t *testing.T) {
	checkWhole(t, []wholeCase{
		{"scalar", "zcbench\n", 1, 1, "expected keys with values"},
		{"list", "- a\n", 1, 1, "expected keys with values, found a list"},
		{"open list", "a: [1, 2\n", 1, 4, "not valid YAML: sequence end token ']' not found"},
		{"open quote", "a: 'x\n", 1, 4, "not valid YAML: could not find end character"},
		{"open brace", "a: {b: 1\nc: 2\n", 2, 1, "not valid YAML"},
		{"stray bracket", "a: ]\n", 1, 4, "not valid YAML"},
		{"two values", "a: b: c\n", 1, 4, "not valid YAML"},
		{"second document", base + "---\nname: b\n", 29, 1, "a second document"},
		{"second, after two heads", "---\n---\na: 1\n", 2, 1, "a second document"},
		{"document end", base + "...\n", 29, 1, "a document end"},
		{"directive", "%YAML 1.2\n---\na: 1\n", 1, 1, "directives are not allowed"},
		{"anchor", "a: &x 1\n", 1, 4, "anchors are not allowed"},
		{"alias", "a: *x\n", 1, 4, "aliases are not allowed"},
		{"merge key", "a:\n  <<: {b: 1}\n", 2, 3, "merge keys are not allowed"},
		{"tag", "a: !!str 1\n", 1, 4, "tags are not allowed"},
		{"complex key", "? a\n: b\n", 1, 1, "complex keys are not allowed"},
		{"deep list", "a: " + strings.Repeat("[", 30) + strings.Repeat("]", 30), 1, 27, "nested deeper than 24 levels"},
		{"deep unclosed", strings.Repeat("[", 500_000), 1, 25, "nested deeper"},
		{"deep dashes", strings.Repeat("- ", 500_000), 1, 49, "nested deeper"},
		{"deep blocks", deepBlocks(25), 25, 26, "nested deeper"},
		{"many keys", strings.Repeat("a: 1\n", 5001), 5001, 2, "more than 5000 keys"},
		{"many items", "a: [" + strings.Repeat("1,", 100_000) + "]", 1, 100_003, "more than 100000 items"},
	})
}

func deepBlocks(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// What YAML would read as something else is text here.
func TestTextStaysText(t *testing.T) {
	text := edited(t, "  - name: ring-inc\n", "  - name: ring-inc\n  - {name: null, params: {a: nan, b: [null, true, ~, 010, .5], c: 1_0}}\n")
	s, err := Parse("demo.yaml", []byte("---\r\n"+strings.ReplaceAll(text, "\n", "\r\n")))
	if err != nil {
		t.Fatal(err)
	}
	use := s.Strategies[2]
	if got := use.Name + fmt.Sprint(use.Params); got != "nullmap[a:[nan] b:[null true ~ 010 .5] c:[1_0]]" {
		t.Error(got)
	}
}

// The limits of structure keep the worst files cheap.
func TestHostileFilesAreCheap(t *testing.T) {
	for name, text := range map[string]string{
		"keys":    "a: {" + strings.Repeat("a: 1,", 4990) + "}",
		"lines":   strings.Repeat("a: 1\n", 4990),
		"items":   "a: [" + strings.Repeat("1,", 49_000) + "]",
		"quotes":  "a: '" + strings.Repeat("'", 1<<20-10),
		"folded":  "a: >\n" + strings.Repeat("  b\n", 250_000),
		"words":   "a: " + strings.Repeat("b ", 500_000),
		"colons":  strings.Repeat(":", 1<<20-1),
		"escapes": `a: "` + strings.Repeat(`\n`, 500_000) + `"`,
		"hashes":  strings.Repeat("#\n", 500_000) + "a: 1",
		"unknown": strings.Repeat("x", 1_000_000) + ": 1",
	} {
		start := time.Now()
		mustFault(t, text)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: a file of %d bytes took %v", name, len(text), took)
		}
	}
}
