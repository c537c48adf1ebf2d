package scenarios

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

//go:embed *.yaml schema.json
var files embed.FS

const extension = ".yaml"

// Embedded returns the names of the built-in scenarios, sorted.
func Embedded() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the embedded directory is always there
	}
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), extension); ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Schema returns the JSON Schema of scenario files, for editors.
func Schema() []byte {
	text, err := files.ReadFile("schema.json")
	if err != nil {
		panic(err) // embedded
	}
	return text
}

// Open reads a scenario: the file at nameOrPath, else the built-in scenario of
// that name, with or without .yaml; - reads standard input. A fault in the
// file is an *Error; an unknown name lists the known ones.
func Open(nameOrPath string) (*Scenario, error) {
	if nameOrPath == "-" {
		text, err := io.ReadAll(io.LimitReader(os.Stdin, MaxFileBytes+1))
		if err != nil {
			return nil, fmt.Errorf("read the scenario from standard input: %w", err)
		}
		return parse("stdin", text, beside("."))
	}
	info, err := os.Stat(nameOrPath)
	if err == nil && !info.IsDir() {
		return openFile(nameOrPath)
	}
	name := strings.TrimSuffix(nameOrPath, extension)
	if slices.Contains(Embedded(), name) {
		return openEmbedded(name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open scenario: %w", err)
	}
	return nil, unknownScenario(nameOrPath, name, err == nil)
}

func openFile(path string) (*Scenario, error) {
	text, err := readAtMost(path, MaxFileBytes)
	if err != nil && len(text) <= MaxFileBytes {
		return nil, fmt.Errorf("open scenario: %w", err)
	}
	return Parse(path, text) // which refuses a text that is too large
}

func openEmbedded(name string) (*Scenario, error) {
	text, err := files.ReadFile(name + extension)
	if err != nil {
		return nil, fmt.Errorf("open built-in scenario %s: %w", name, err)
	}
	s, err := parse(name, text, func(file string) (string, []byte, error) {
		return file, nil, errors.New("a built-in scenario cannot read files")
	})
	if err != nil {
		return nil, err
	}
	s.BuiltIn = true
	if smoke := s.source.smoke; smoke != nil {
		smoke.BuiltIn = true
	}
	return s, nil
}

func unknownScenario(given, name string, isDir bool) error {
	what := "no file and no built-in scenario"
	if isDir {
		what = "a directory, not a scenario file"
	}
	known := Embedded()
	err := fmt.Errorf("scenario %q: %s (built in: %s)", given, what, strings.Join(known, ", "))
	if guess := Nearest(name, known); guess != "" {
		err = fmt.Errorf("%w; did you mean %q?", err, guess)
	}
	return err
}
