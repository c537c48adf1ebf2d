package scenarios

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml/ast"
)

// Parse reads the text of a scenario file strictly. The name file is used in
// errors, and files the scenario names are looked for beside it. Every error
// is an *Error; faults after the first are in its More.
func Parse(file string, text []byte) (*Scenario, error) {
	return parse(file, text, beside(filepath.Dir(file)))
}

func parse(file string, text []byte, read reader) (*Scenario, error) {
	if e := checkText(file, text); e != nil {
		return nil, e
	}
	s := &Scenario{File: file, Text: string(text)}
	lines := splitLines(s.Text)
	body, e := parseTree(file, s.Text, lines)
	if e != nil {
		return nil, e
	}
	s.source = newSource(file, lines, body)
	d := &decoder{scenario: s, read: read}
	if err := d.decode(body); err != nil {
		return nil, err
	}
	sum := sha256.New()
	sum.Write(text)
	for _, more := range d.beside {
		sum.Write(more)
	}
	s.Digest = hex.EncodeToString(sum.Sum(nil))
	if s.source.smoke != nil {
		s.source.smoke.Digest = s.Digest
	}
	return s, nil
}

// decode fills the decoder's scenario and its smoke variant from body.
func (d *decoder) decode(body ast.Node) error {
	s := d.scenario
	var smoke ast.Node
	d.kind = kindOf(body)
	s.Measure = d.kind.measure
	scenarioKeys(d.kind, s, &smoke).decode(d, "", body, false)
	if d.kind.fill != nil {
		d.kind.fill(&s.Workload)
	}
	if smoke != nil {
		v := *s
		src := *s.source
		src.overlay = true
		v.source, v.IsSmoke = &src, true
		smokeKeys(d.kind, &v.Workload, &v.Measure).decode(d, "smoke", smoke, true)
		s.source.smoke = &v
	}
	if len(d.faults) > 0 {
		return d.error()
	}
	d.check(s)
	if len(d.faults) == 0 && s.source.smoke != nil {
		d.scenario = s.source.smoke
		d.check(s.source.smoke)
		d.checkSmoke(s, s.source.smoke)
	}
	return d.error()
}

// Smoke returns the scenario with its smoke overrides applied, for a run of
// seconds through the same code. The two share what is not overridden: neither
// may be changed.
func (s *Scenario) Smoke() (*Scenario, error) {
	if s.IsSmoke {
		return s, nil
	}
	if s.source == nil || s.source.smoke == nil {
		return nil, s.Errorf("", "the scenario has no smoke overrides: add a smoke: key with fewer blocks and messages")
	}
	smoke := *s.source.smoke
	return &smoke, nil
}

// beside reads files in dir and below it, and no others: the messages about a
// file quote it, so that a scenario from elsewhere could show any file. Only
// regular files are read, so that it cannot make the reader wait.
func beside(dir string) reader {
	return func(name string) (string, []byte, error) {
		if !filepath.IsLocal(name) {
			return name, nil, fmt.Errorf("%s is not beside the scenario: put it into the same directory or below", quote(name))
		}
		name = filepath.Join(dir, name)
		info, err := os.Stat(name)
		if err != nil {
			return name, nil, err
		}
		if !info.Mode().IsRegular() {
			return name, nil, fmt.Errorf("%s is not a regular file", name)
		}
		text, err := readAtMost(name, maxTraceBytes)
		return name, text, err
	}
}

// readAtMost reads a file, or a part of it that is more than most.
func readAtMost(name string, most int64) (text []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err = io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(text)) > most {
		return text, fmt.Errorf("%s is larger than %s", name, FormatBytes(most))
	}
	return text, nil
}
