package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// execText is scenarioText with adapters instead of alpha.
func execText(t testing.TB, uses ...string) string {
	t.Helper()
	alpha := "  - name: alpha\n    params: {chunk: [1KiB, 4KiB]}\n"
	head, tail, ok := strings.Cut(edited(t, alpha, strings.Join(uses, "")), "headline:")
	_, smoke, _ := strings.Cut(tail, "smoke:")
	if !ok {
		t.Fatal("the scenario has no headline")
	}
	return head + "smoke:" + smoke
}

// found finds every program in /opt but those named missing.
func found(_ *scenarios.Scenario, name string) (string, error) {
	if strings.HasPrefix(name, "missing") {
		return "", fmt.Errorf("there is no program %s", name)
	}
	return "/opt/" + name, nil
}

func execPlan(t testing.TB, o PlanOptions, uses ...string) (*Plan, error) {
	t.Helper()
	o.CPU, o.OtherCPU = -1, -1
	if o.FindProgram == nil {
		o.FindProgram = found
	}
	return NewPlan(parsed(t, execText(t, uses...)), append(testRegistry(), Exec), o)
}

func TestExecCasesAreNamed(t *testing.T) {
	p, err := execPlan(t, PlanOptions{},
		"  - {name: exec, command: [a/mine, --fast]}\n",
		"  - {name: exec, command: [b/other]}\n",
		"  - {name: exec, command: [c/other, x]}\n",
		"  - {name: exec, command: [b/other], params: {label: mine again}}\n",
		"  - {name: exec, command: [b/other], params: {memory: [1GiB, 2GiB]}}\n")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, tr := range p.Trials {
		if tr.Strategy == Exec.Name {
			label, _, _ := strings.Cut(tr.Case, "@")
			got[label] = tr.Command
		} else if tr.Command != nil {
			t.Errorf("trial %s has the command %q", tr.ID, tr.Command)
		}
	}
	want := map[string][]string{
		"exec{command=mine}":              {"/opt/a/mine", "--fast"},
		"exec{command=b/other}":           {"/opt/b/other"},
		`exec{command="c/other x"}`:       {"/opt/c/other", "x"},
		`exec{label="mine again"}`:        {"/opt/b/other"},
		"exec{command=other,memory=1GiB}": {"/opt/b/other"},
		"exec{command=other,memory=2GiB}": {"/opt/b/other"},
	}
	for label, command := range want {
		if !slices.Equal(got[label], command) {
			t.Errorf("case %s runs %q, want %q", label, got[label], command)
		}
	}
	if len(got) != len(want) {
		t.Errorf("cases %v, want %v", got, want)
	}
}

func TestExecInClaims(t *testing.T) {
	text := edited(t, "  - name: beta\n", "  - name: beta\n  - {name: exec, command: [x/mine]}\n",
		"a: {name: alpha, params: {chunk: 1KiB}}", "a: {name: exec, params: {command: mine}}")
	if _, err := NewPlan(parsed(t, text), append(testRegistry(), Exec), PlanOptions{FindProgram: found}); err != nil {
		t.Errorf("a claim about an adapter: %v", err)
	}
}

func TestExecFaultsOfTheFile(t *testing.T) {
	for _, c := range []struct {
		use, says string
		line, col int
	}{
		{"  - {name: exec, command: [missing/mine, x]}\n", "there is no program missing/mine", 12, 28},
		{"  - {name: exec, command: [mine], params: {command: mine}}\n", "a key of its own", 12, 44},
		{"  - {name: exec, command: [mine], params: {labels: mine}}\n", "no param", 12, 44},
		{"  - {name: exec, command: [mine], params: {memory: much}}\n", "much", 12, 52},
		{"  - {name: exec, command: [mine], params: {label: a}}\n  - {name: exec, command: [other], params: {label: a}}\n", "give each a label of its own", 13, 5},
	} {
		sc, err := scenarios.Parse("t.yaml", []byte(execText(t, c.use)))
		if err == nil {
			_, err = NewPlan(sc, append(testRegistry(), Exec), PlanOptions{FindProgram: found})
		}
		var bad *scenarios.Error
		if !errors.As(err, &bad) || !strings.Contains(bad.Msg, c.says) || bad.Line != c.line || bad.Col != c.col {
			t.Errorf("%s: %v, want %d:%d and %q", c.use, err, c.line, c.col, c.says)
		}
	}
}

// An optional program that is not there leaves its case out, and says what to do.
func TestExecOptional(t *testing.T) {
	p, err := execPlan(t, PlanOptions{},
		"  - {name: exec, command: [missing/mine], optional: run make adapters}\n",
		"  - {name: exec, command: [there], optional: never told}\n")
	if err != nil {
		t.Fatal(err)
	}
	exec := &fakeExecutor{}
	out := &sheet{}
	sum, err := (&Runner{Plan: p, Registry: append(testRegistry(), Exec), Exec: exec, Out: out, Since: func() time.Duration { return 0 }}).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	want := record.Skip{Case: "exec{command=mine}", Reason: "there is no program missing/mine", Remedy: "run make adapters"}
	if len(out.skips) != 1 || out.skips[0] != want || len(sum.Skipped) != 1 {
		t.Errorf("skips %+v, want %+v", out.skips, want)
	}
	ran := map[string]bool{}
	for _, tr := range exec.ran {
		label, _, _ := strings.Cut(tr.Case, "@")
		ran[label] = true
	}
	if ran["exec{command=mine}"] || !ran["exec{command=there}"] || !ran["beta"] {
		t.Errorf("ran %v", ran)
	}
}

// sheet keeps what a runner writes.
type sheet struct{ skips []record.Skip }

func (s *sheet) Trial(record.TrialLine) error { return nil }
func (s *sheet) Skip(k record.Skip) error     { s.skips = append(s.skips, k); return nil }
func (s *sheet) Warning(string) error         { return nil }

func TestFindProgram(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(t.TempDir())
	for name, mode := range map[string]os.FileMode{"sub/mine": 0o755, "plain": 0o644, "mine": 0o755, "sub/sh": 0o755} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("#!/bin/sh\n"), mode), os.Chmod(file, mode)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("mine", []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := &scenarios.Scenario{File: filepath.Join(dir, "s.yaml")}
	builtIn := &scenarios.Scenario{File: "s", BuiltIn: true}
	for _, c := range []struct {
		sc         *scenarios.Scenario
		name, want string // want: the path, or words of the error
	}{
		{file, "mine", filepath.Join(dir, "mine")},
		{file, "./sub/mine", filepath.Join(dir, "sub", "mine")},
		{file, filepath.Join(dir, "mine"), filepath.Join(dir, "mine")},
		{file, filepath.Base(self), self},
		{builtIn, filepath.Base(self), self},
		{file, "sh", "/bin/sh"},
		{file, "sub/sh", filepath.Join(dir, "sub", "sh")},
		{file, "plain", "chmod +x"},
		{file, "sub", "a directory"},
		{file, "none", "nor on the PATH"},
		{file, "sub/none", "there is no program sub/none in " + dir + " and " + filepath.Dir(self)},
		{builtIn, "mine", "there is no program mine in " + filepath.Dir(self)},
		{file, "/dev/null", "special file"},
		{file, "/no/such", "/no/such"},
	} {
		got, err := FindProgram(c.sc, c.name)
		switch {
		case err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case err == nil && got != c.want && got != "/usr"+c.want:
			t.Errorf("%s: found %s, want %s", c.name, got, c.want)
		}
	}
}

func TestAddressSpace(t *testing.T) {
	tr := record.Trial{Workload: record.Workload{Clients: 100, BudgetBytes: 1 << 30}, Params: map[string]string{"memory": Auto}}
	if got := addressSpace(tr); got != 4<<30+200<<30 {
		t.Errorf("auto is %d bytes", got)
	}
	tr.Params["memory"] = "512MiB"
	if got := addressSpace(tr); got != 512<<20 {
		t.Errorf("512MiB is %d bytes", got)
	}
}

// Our own child refuses what is none of its strategies.
func TestExecIsNotRunByTheChild(t *testing.T) {
	tr := trialOf(Exec.Name, record.Workload{Kind: KindPostRecv, Batch: 1}, record.Timing, 10)
	if rec := RunTrial(tr, Registry{Exec}, nil); rec.Status != record.Failed || !strings.Contains(rec.Error, "program of its own") {
		t.Errorf("%s: %s", rec.Status, rec.Error)
	}
}
