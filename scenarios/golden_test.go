package scenarios

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestErrorOutput compares what a user sees with the golden file beside each
// faulty scenario.
func TestErrorOutput(t *testing.T) {
	inputs, err := filepath.Glob("testdata/faulty/*.yaml")
	if err != nil || len(inputs) < 3 {
		t.Fatalf("found %d faulty scenarios: %v", len(inputs), err)
	}
	for _, in := range inputs {
		text, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Parse(in, text)
		if err == nil {
			t.Errorf("%s parses", in)
			continue
		}
		got := err.Error() + "\n"
		golden := strings.TrimSuffix(in, ".yaml") + ".txt"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s prints\n%s\nwant\n%s", in, got, want)
		}
	}
}

func TestErrorsArePrintedUpToALimit(t *testing.T) {
	var text strings.Builder
	for range 30 {
		text.WriteString("z")
		text.WriteString(strings.Repeat("y", text.Len()%97))
		text.WriteString(": 1\n")
	}
	e := mustFault(t, text.String())
	out := e.Error()
	if n := strings.Count(out, "\ndemo.yaml:"); n != maxShown-1 {
		t.Errorf("%d further faults printed, want %d", n, maxShown-1)
	}
	if want := "\nand "; !strings.Contains(out, want) {
		t.Errorf("the output does not say how many more:\n%s", out)
	}
}

func TestExcerptOfALongLine(t *testing.T) {
	line := []rune(strings.Repeat("ä", 300) + "X" + strings.Repeat("ö", 300))
	for _, col := range []int{1, 50, 301, 600, 602} {
		text, caret, _ := strings.Cut(excerpt(line, col), "\n")
		shown := []rune(text)
		at := len([]rune(caret)) - 1
		if len(shown) > excerptRunes+2 || at > len(shown) {
			t.Errorf("col %d: %d characters shown, caret at %d", col, len(shown), at)
		}
		if col <= len(line) && shown[at] != line[col-1] {
			t.Errorf("col %d: the caret is under %c, want %c", col, shown[at], line[col-1])
		}
	}
}
