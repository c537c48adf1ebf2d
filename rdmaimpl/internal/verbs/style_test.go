package verbs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// maxLines is the longest a C function may be, its braces included, as for Go.
const maxLines = 70

func TestCFunctionLength(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.c", "*.h", "../shim/preload/*.c", "../shim/testdata/*.c"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 10 {
		t.Fatalf("only %d files", len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		start := 0
		for i, line := range strings.Split(string(text), "\n") {
			switch {
			case line == "{":
				start = i
			case line == "}" && start > 0:
				if n := i - start + 1; n > maxLines {
					t.Errorf("%s:%d: a function of %d lines, more than %d", file, start, n, maxLines)
				}
				start = 0
			}
		}
	}
}
