package sysinfo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// tree is the root directory facts are read below.
type tree struct {
	root string
}

// maxFileBytes bounds what is read of one file.
const maxFileBytes = 4 << 20

// raw returns a file as it is. Errors name it as on the machine itself.
func (t tree) raw(name string) (string, error) {
	f, err := os.Open(filepath.Join(t.root, name))
	if err == nil {
		defer f.Close()
		var b []byte
		if b, err = readAtMost(f, maxFileBytes); err == nil {
			return string(b), nil
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("no /%s: %w", name, fs.ErrNotExist)
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return "", fmt.Errorf("read /%s: %w", name, err)
}

// text returns a file without the white space around it.
func (t tree) text(name string) (string, error) {
	s, err := t.raw(name)
	return strings.TrimSpace(s), err
}

// fields returns the words of a file joined by single spaces.
func (t tree) fields(name string) (string, error) {
	s, err := t.raw(name)
	return strings.Join(strings.Fields(s), " "), err
}

// keyed returns the value of the first "key: value" line of a file.
func (t tree) keyed(name, key string) (string, error) {
	s, err := t.raw(name)
	if err != nil {
		return "", err
	}
	v, ok := lookup(s, key)
	if !ok {
		return "", fmt.Errorf("/%s has no line %q", name, key)
	}
	return v, nil
}

func (t tree) exists(name string) bool {
	_, err := os.Stat(filepath.Join(t.root, name))
	return err == nil
}

// cpuCount counts the CPUs of a list such as "0-3,6".
func (t tree) cpuCount(name string) (string, error) {
	s, err := t.text(name)
	if err != nil {
		return "", err
	}
	n, err := countList(s)
	if err != nil {
		return "", fmt.Errorf("/%s: %w", name, err)
	}
	return strconv.Itoa(n), nil
}

// lookup returns the value of the first "key : value" line of text.
func lookup(text, key string) (string, bool) {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// countList counts the numbers of a list such as "0-3,6" (cpuset(7)).
func countList(s string) (int, error) {
	n := 0
	for part := range strings.SplitSeq(s, ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		if !isRange {
			hi = lo
		}
		a, err1 := strconv.Atoi(lo)
		b, err2 := strconv.Atoi(hi)
		if err1 != nil || err2 != nil || a < 0 || b < a {
			return 0, fmt.Errorf("%q is not a list of CPUs", s)
		}
		n += b - a + 1
	}
	return n, nil
}
