package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// ciJob is as much of the job in the README as its test needs.
type ciJob struct {
	Jobs map[string]struct {
		Steps []struct {
			Name, Uses, Run string
		}
	}
}

// TestReadmeCIJob runs the scripts of the GitHub Actions job that the README
// offers, as they stand but for the builds: with this build on both sides and
// smoke runs. It must pass; with an allocation planted in the new build its
// first gate must fail.
func TestReadmeCIJob(t *testing.T) {
	needUring(t)
	text, err := os.ReadFile("testdata/ci.yaml")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), "```yaml\n"+string(text)+"```\n") {
		t.Error("the README does not show testdata/ci.yaml as it is")
	}
	var job ciJob
	if err := yaml.Unmarshal(text, &job); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		plant string
		fails string // the step that must; empty: none
	}{
		"unchanged":  {"", ""},
		"allocating": {"slot", "No count may get worse"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeBuild(t, filepath.Join(dir, "old"), "")
			writeBuild(t, filepath.Join(dir, "new"), c.plant)
			summary := filepath.Join(dir, "summary.md")
			ran := 0
			for _, s := range job.Jobs["gate"].Steps {
				script := runnableLines(s.Run)
				if script == "" {
					continue
				}
				ran++
				cmd := exec.Command("sh", "-ec", script)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "GITHUB_STEP_SUMMARY="+summary)
				out, err := cmd.CombinedOutput()
				if (err != nil) != (s.Name == c.fails) {
					t.Fatalf("step %q: %v, want failure of %q\n%s", s.Name, err, c.fails, out)
				}
				if err != nil {
					return
				}
			}
			said, err := os.ReadFile(summary)
			if err != nil || ran < 3 || strings.Count(string(said), "zcbench compare passed") != 2 {
				t.Errorf("%d steps, %v, summary:\n%s", ran, err, said)
			}
		})
	}
}

// writeBuild makes a zcbench of this test binary, with an allocation planted in
// a strategy or none.
func writeBuild(t *testing.T, path, plant string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := actAsZcbench + "=1"
	if plant != "" {
		env += " " + plantAlloc + "=" + plant
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\n%s exec %q \"$@\"\n", env, self), 0o755); err != nil {
		t.Fatal(err)
	}
}

// runnableLines leaves out what builds, and makes runs smoke runs of one
// strategy and the baseline.
func runnableLines(script string) string {
	var out []string
	for line := range strings.Lines(script) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0 || words[0] == "go" || words[0] == "git":
			continue
		case len(words) > 1 && words[1] == "run":
			line = strings.TrimSpace(line) + " --smoke --filter slot -q\n"
		}
		out = append(out, line)
	}
	return strings.Join(out, "")
}
