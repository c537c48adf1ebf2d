package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// needMounts makes sure this test may mount in a namespace of its own.
func needMounts(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("unshare", "--mount", "--propagation", "private", "mount", "-t", "tmpfs", "none", t.TempDir()).CombinedOutput(); err != nil {
		t.Skipf("no mounts in a namespace here: %v: %s", err, out)
	}
}

// mounted runs zcbench in a mount namespace of its own in which script has been
// run; $1 is dir there. What a run leaves in dir is copied to keep.
func mounted(t *testing.T, env []string, script, dir, keep string, args ...string) result {
	t.Helper()
	text := script + `; shift; keep=$1; shift; "$@"; code=$?; cp -r ` + dir + `/. "$keep"/; exit $code`
	cmd := exec.Command("unshare", append([]string{"--mount", "--propagation", "private", "sh", "-c", text, "sh", dir, keep, os.Args[0]}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	var out, errOut strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// errors are the lines of stderr that tell of one.
func (r result) errors() []string {
	var out []string
	for _, line := range strings.Split(r.errOut, "\n") {
		if strings.HasPrefix(line, "zcbench: ") && !strings.Contains(line, "warning: ") && !strings.Contains(line, "looking once") {
			out = append(out, line)
		}
	}
	return out
}

// oneError fails unless zcbench ended with exit 4 and one error that says what.
func (r result) oneError(t *testing.T, says ...string) {
	t.Helper()
	r.want(t, exitFailed)
	if len(r.errors()) != 1 || strings.Contains(r.errOut, "goroutine ") {
		t.Errorf("want one error, got\n%s", r.errOut)
	}
	for _, s := range says {
		if !strings.Contains(r.errOut, s) {
			t.Errorf("stderr does not say %q:\n%s", s, r.errOut)
		}
	}
}

func tinyScenario(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "killed.yaml")
	if err := os.WriteFile(file, []byte(killScenario), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A disk that is full in mid-run ends it with one error; the lines before are
// whole, and with room again it can be resumed.
func TestFullDisk(t *testing.T) {
	p := newPlayground(t)
	file := tinyScenario(t)
	whole := filepath.Join(t.TempDir(), "whole")
	zcbench(t, p.env, "", "run", file, "--bare", "-o", whole).want(t, exitOK)
	needMounts(t)
	dir, keep := t.TempDir(), t.TempDir()
	mounted(t, p.env, fullWhen(`true`), dir, keep, "run", file, "-o", filepath.Join(dir, "r")).oneError(t, "disk: ", "-o")
	for _, lines := range []int{1, 6, 12} {
		dir, keep := t.TempDir(), t.TempDir()
		when := fmt.Sprintf(`[ "$(wc -l < "$1/r/result.jsonl")" -ge %d ]`, lines)
		mounted(t, p.env, fullWhen(when), dir, keep, "run", file, "-o", filepath.Join(dir, "r")).oneError(t, "no space left on device", record.FileName)
		res, err := record.Read(filepath.Join(keep, "r"))
		if err == nil && !slices.ContainsFunc(res.Warnings, func(w string) bool { return strings.Contains(w, "disk: ") }) {
			t.Errorf("that the disk is small is not in the result: %q", res.Warnings)
		}
		if err != nil || res.Footer != nil || 1+len(res.Trials)+len(res.Warnings) < lines {
			t.Fatalf("full after %d lines: %v, %d trials", lines, err, len(res.Trials))
		}
		zcbench(t, p.env, "", "run", file, "--bare", "--resume", filepath.Join(keep, "r")).want(t, exitOK)
	}
	p.clean(t, whole)
}

// fullWhen is a script that mounts a small file system and fills it as soon as a
// condition holds: before it goes on if it holds already.
func fullWhen(condition string) string {
	fill := `dd if=/dev/zero of="$1/filler" bs=4k`
	return `exec 9>&2 2>/dev/null; mount -t tmpfs -o size=3m none "$1"; if ` + condition + `; then ` + fill +
		`; else (until ` + condition + `; do sleep .01; done; ` + fill + `) & fi; exec 2>&9 9>&-`
}

// Where only the reports do not fit, the result is whole.
func TestFullDiskWhileRendering(t *testing.T) {
	needMounts(t)
	p := newPlayground(t)
	file := tinyScenario(t)
	dir, keep := t.TempDir(), t.TempDir()
	r := mounted(t, p.env, fullWhen(`grep -q '^{"footer' "$1/r/result.jsonl"`), dir, keep, "run", file, "-o", filepath.Join(dir, "r"))
	r.oneError(t, "no space left on device")
	if !complete(filepath.Join(keep, "r", record.FileName)) {
		t.Error("the result is not whole")
	}
}

func TestReadOnlyFolder(t *testing.T) {
	needMounts(t)
	p := newPlayground(t)
	file := tinyScenario(t)
	dir := t.TempDir()
	mounted(t, p.env, `mount -t tmpfs -o ro none "$1"`, dir, t.TempDir(), "run", file, "-o", filepath.Join(dir, "r")).oneError(t, "read-only file system", dir)
}

// A file that may grow no further is one error, too: no signal ends the run.
func TestFileSizeLimit(t *testing.T) {
	p := newPlayground(t)
	zcbench(t, p.env, "", "run", tinyScenario(t), "--bare", "-o", filepath.Join(t.TempDir(), "whole")).want(t, exitOK) // fills the cache
	dir := filepath.Join(t.TempDir(), "r")
	r := limited(t, p.env, "ulimit -f 64", "run", tinyScenario(t), "-o", dir)
	r.oneError(t, "file too large", record.FileName)
	if res := readResult(t, dir); len(res.Trials) == 0 || res.Footer != nil {
		t.Errorf("%d trials, footer %+v", len(res.Trials), res.Footer)
	}
}

// A folder that is removed or moved in mid-run ends it at once.
func TestVanishedFolder(t *testing.T) {
	p := newPlayground(t)
	file := tinyScenario(t)
	for name, vanish := range map[string]func(dir string) error{
		"removed":  os.RemoveAll,
		"moved":    func(dir string) error { return os.Rename(dir, dir+".elsewhere") },
		"replaced": func(dir string) error { return os.Rename(file, filepath.Join(dir, record.FileName)) },
	} {
		t.Run(name, func(t *testing.T) {
			file := tinyScenario(t)
			dir := filepath.Join(t.TempDir(), "r")
			cmd := command(t, p.env, "run", file, "-o", dir, "--for", "10m")
			var errOut strings.Builder
			cmd.Stderr = &errOut
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			waitForTrials(t, dir, 2)
			if err := vanish(dir); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // it then fails below
			_ = cmd.Wait()                                                          // its code is checked below
			timer.Stop()
			r := result{cmd.ProcessState.ExitCode(), "", errOut.String()}
			r.oneError(t, "while it was being written")
			if name == "moved" {
				res, err := record.Read(dir + ".elsewhere")
				if err != nil || len(res.Trials) < 2 {
					t.Errorf("what was moved: %v", err)
				}
			}
		})
	}
	p.clean(t, t.TempDir())
}
