package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/malformed/*.txt")

// malformedDir holds a catalogue of files that must be refused, one for each way
// a file can be wrong; beside each folder the messages they must give.
const malformedDir = "testdata/malformed"

var messagePlace = regexp.MustCompile(`^zcbench: [^:\n]+:\d+:\d+: `)

var knownNames = regexp.MustCompile(`(known are|for it are) .*`)

func TestMalformedFilesAreRefusedAtTheirPlace(t *testing.T) {
	for _, c := range []struct {
		folder string
		code   int
		least  int
		args   []string
	}{
		{"scenarios", exitUsage, 100, []string{"validate"}},
		{"results", exitResult, 40, []string{"report", "--html", filepath.Join(t.TempDir(), "never.html")}},
	} {
		t.Run(c.folder, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(malformedDir, c.folder, "*"))
			if err != nil {
				t.Fatal(err)
			}
			if len(files) < c.least {
				t.Fatalf("%d files in the catalogue, want at least %d", len(files), c.least)
			}
			var got strings.Builder
			for _, f := range files {
				before := contents(t, f)
				r := zcbench(t, nil, "", append(c.args, f)...)
				message, _, _ := strings.Cut(r.errOut, "\n")
				switch {
				case r.code != c.code:
					t.Errorf("%s: exit %d, want %d: %s", f, r.code, c.code, message)
				case !messagePlace.MatchString(message):
					t.Errorf("%s: no place in %q", f, message)
				case strings.ContainsFunc(r.errOut, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }):
					t.Errorf("%s: control characters in %q", f, r.errOut)
				case strings.Contains(r.errOut, "goroutine "):
					t.Errorf("%s: a panic:\n%s", f, r.errOut)
				}
				if !bytes.Equal(before, contents(t, f)) {
					t.Errorf("%s was changed", f)
				}
				// What is known grows with each strategy and metric.
				message = knownNames.ReplaceAllString(message, "$1 ...")
				fmt.Fprintln(&got, strings.TrimPrefix(message, "zcbench: "+malformedDir+"/"))
			}
			golden(t, filepath.Join(malformedDir, c.folder+".txt"), got.String())
		})
	}
}

func contents(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want := strings.Split(string(contents(t, path)), "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(want) || line != want[i] {
			t.Errorf("%s:%d: got %q", path, i+1, line)
		}
	}
}

// Files too large to keep in the catalogue.
func TestHugeFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		code int
		args []string
	}{
		"huge.yaml":      {"schema: zcbench/v1\n# " + strings.Repeat("x", 5<<20) + "\n", exitUsage, []string{"validate"}},
		"long-line.json": {`{"header":"` + strings.Repeat("x", 17<<20) + `"}`, exitResult, []string{"report"}},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := zcbench(t, nil, "", append(c.args, path)...)
		if r.code != c.code || !messagePlace.MatchString(r.errOut) {
			t.Errorf("%s: exit %d, want %d: %s", name, r.code, c.code, r.errOut)
		}
	}
}
