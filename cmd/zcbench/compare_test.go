package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// counted makes one result to compare: the harness's own scenario, counts only.
func counted(t *testing.T) *record.Result {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "r")
	zcbench(t, nil, "", "run", "null", "--smoke", "--only", "counts", "-q", "-o", dir).want(t, exitOK)
	return readResult(t, dir)
}

// writeResult writes a result, changed, as a directory of its own.
func writeResult(t *testing.T, res *record.Result, change func(h *record.Header, trials []record.TrialLine)) string {
	t.Helper()
	var copied record.Result
	text, err := json.Marshal(res)
	if err == nil {
		err = json.Unmarshal(text, &copied)
	}
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(&copied.Header, copied.Trials)
	}
	dir := t.TempDir()
	w, err := record.Create(filepath.Join(dir, record.FileName), copied.Header)
	for i := 0; err == nil && i < len(copied.Trials); i++ {
		err = w.Trial(copied.Trials[i])
	}
	if err == nil {
		err = w.Close(*copied.Footer)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func raise(metric string) func(h *record.Header, trials []record.TrialLine) {
	return func(_ *record.Header, trials []record.TrialLine) {
		for i := range trials {
			if v, ok := trials[i].Record.Metrics[metric]; ok {
				v.Num++
				trials[i].Record.Metrics[metric] = v
			}
		}
	}
}

func setEnv(key, value string) func(h *record.Header, trials []record.TrialLine) {
	return func(h *record.Header, _ []record.TrialLine) {
		for i := range h.Environment {
			if h.Environment[i].Key == key {
				h.Environment[i].Value = value
			}
		}
	}
}

func TestCompareExitCodes(t *testing.T) {
	res := counted(t)
	base := writeResult(t, res, nil)
	other := writeResult(t, res, func(h *record.Header, _ []record.TrialLine) { h.Scenario.Name = "other" })
	fewer := writeResult(t, res, func(h *record.Header, trials []record.TrialLine) {
		for i := range trials {
			delete(trials[i].Record.Metrics, "syscalls")
		}
	})
	for name, c := range map[string]struct {
		args []string
		code int
		says string // on either stream
	}{
		"itself":                {[]string{base, base}, exitOK, "BASE and NEW are the same run"},
		"file against dir":      {[]string{filepath.Join(base, record.FileName), base}, exitOK, "unchanged"},
		"one more allocation":   {[]string{base, writeResult(t, res, raise("go_allocs"))}, exitGate, "null go_allocs: regressed"},
		"not gated":             {[]string{base, writeResult(t, res, raise("go_allocs")), "--fail-on", "missing"}, exitOK, "1 regressed"},
		"tolerated":             {[]string{base, writeResult(t, res, raise("go_allocs")), "--threshold", "go_allocs=1"}, exitOK, "unchanged"},
		"missing":               {[]string{base, fewer}, exitOK, "1 missing"},
		"missing is gated":      {[]string{base, fewer, "--fail-on", "missing"}, exitGate, "null syscalls: missing"},
		"other kernel":          {[]string{base, writeResult(t, res, setEnv("kernel", "5.4.0"))}, exitOK, "kernel differs"},
		"other architecture":    {[]string{base, writeResult(t, res, setEnv("arch", "riscv64"))}, exitResult, "arch ("},
		"allowed":               {[]string{base, writeResult(t, res, setEnv("arch", "riscv64")), "--allow-env-mismatch", "arch"}, exitOK, "as allowed"},
		"other scenario":        {[]string{base, other}, exitResult, "nothing to compare"},
		"one side is many":      {[]string{base, filepath.Dir(base)}, exitResult, "two results of scenario null"},
		"no such file":          {[]string{base, filepath.Join(base, "no")}, exitResult, "no such file"},
		"empty directory":       {[]string{base, t.TempDir()}, exitResult, "holds no result.jsonl"},
		"one result, no builds": {[]string{base}, exitResult, "does not hold two builds"},
		"no such condition":     {[]string{base, base, "--fail-on", "slower"}, exitUsage, "regression, missing"},
		"no such format":        {[]string{base, base, "--format", "yaml"}, exitUsage, "--format"},
		"bad alpha":             {[]string{base, base, "--alpha", "5"}, exitUsage, "--alpha"},
		"bad threshold":         {[]string{base, base, "--threshold", "five"}, exitUsage, "--threshold"},
		"unknown metric":        {[]string{base, base, "--threshold", "go_alocs=5%"}, exitUsage, `"go_allocs"`},
		"wrong unit":            {[]string{base, base, "--threshold", "cpu_per_msg=4KiB"}, exitUsage, "10us"},
		"no noise results":      {[]string{base, base, "--noise", t.TempDir()}, exitResult, "holds no result.jsonl"},
		"three results":         {[]string{base, base, base}, exitUsage, "between 1 and 2"},
	} {
		t.Run(name, func(t *testing.T) {
			r := zcbench(t, nil, "", append([]string{"compare"}, c.args...)...)
			r.want(t, c.code)
			if both := r.out + r.errOut; !strings.Contains(unwrapped(both), c.says) {
				t.Errorf("neither stream says %q:\n%s", c.says, both)
			}
		})
	}
}

func TestCompareFormatsAndFiles(t *testing.T) {
	res := counted(t)
	base, next := writeResult(t, res, nil), writeResult(t, res, raise("syscalls"))
	file := filepath.Join(t.TempDir(), "out")
	for format, begins := range map[string]string{"table": "FAILED", "markdown": "**", "json": "{", "csv": "scenario,", "junit": "<?xml"} {
		zcbench(t, nil, "", "compare", base, next, "--format", format, "-o", file).want(t, exitGate)
		text, err := os.ReadFile(file)
		if err != nil || !bytes.HasPrefix(text, []byte(begins)) {
			t.Errorf("%s: %v, begins %q", format, err, text[:min(len(text), 40)])
		}
	}
	r := zcbench(t, nil, "", "compare", base, next, "--format", "junit")
	r.want(t, exitGate)
	if err := xml.Unmarshal([]byte(r.out), new(struct{})); err != nil || !strings.Contains(r.errOut, "syscalls: regressed") {
		t.Errorf("%v; stderr %q", err, r.errOut)
	}
}

func TestCompareLeavesUnreadableFilesAlone(t *testing.T) {
	res := counted(t)
	base := writeResult(t, res, nil)
	whole, err := os.ReadFile(filepath.Join(base, record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	var utf16 []byte
	for _, b := range whole {
		utf16 = append(utf16, b, 0)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for name, c := range map[string]struct {
		text []byte
		line string
	}{
		"truncated": {whole[:len(whole)-len(lines[len(lines)-2])/2-1], ":3:"},
		"utf16":     {append([]byte{0xff, 0xfe}, utf16...), ":1:"},
		"garbage":   {[]byte("\x7fELF\x02\x01\x00\n"), ":1:"},
		"NaN":       {slices.Concat(lines[0], bytes.Replace(lines[1], []byte(`{"den":200}`), []byte(`{"v":NaN}`), 1)), ":2:"},
		"twice":     {slices.Concat(lines[0], lines[1], lines[1]), ":3:"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, record.FileName)
		if err := os.WriteFile(file, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "truncated" {
			c.line = ":" + strconv.Itoa(bytes.Count(c.text, []byte("\n"))+1) + ":"
		}
		for _, args := range [][]string{{base, dir}, {dir, base}} {
			r := zcbench(t, nil, "", append([]string{"compare"}, args...)...)
			r.want(t, exitResult)
			if !strings.Contains(r.errOut, file+c.line) {
				t.Errorf("%s: stderr does not name line %s: %q", name, c.line, r.errOut)
			}
		}
		if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, c.text) {
			t.Errorf("%s was changed (%v)", name, err)
		}
	}
	// A run that was killed has no footer: compared, with a warning.
	killed := t.TempDir()
	if err := os.WriteFile(filepath.Join(killed, record.FileName), bytes.Join(lines[:len(lines)-2], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	r := zcbench(t, nil, "", "compare", base, killed)
	r.want(t, exitOK)
	if !strings.Contains(r.out, "was killed") {
		t.Errorf("a killed run is not called one:\n%s", r.out)
	}
}
