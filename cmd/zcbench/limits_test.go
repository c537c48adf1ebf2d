package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// limited runs zcbench from a shell that has set limits.
func limited(t *testing.T, env []string, limits string, args ...string) result {
	t.Helper()
	cmd := exec.Command("bash", append([]string{"-c", limits + ` && exec "$0" "$@"`, os.Args[0]}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	return ended(t, cmd)
}

func ended(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// smallGroup makes a memory control group of a size, or skips.
func smallGroup(t *testing.T, bytes int64) (procs string) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Fatal(err)
	}
	base, limit := "", ""
	for _, line := range strings.Split(string(b), "\n") {
		f := strings.SplitN(line, ":", 3)
		switch {
		case len(f) != 3:
		case f[1] == "memory":
			base, limit = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case f[1] == "" && base == "":
			base, limit = filepath.Join("/sys/fs/cgroup", f[2]), "memory.max"
		}
	}
	dir := filepath.Join(base, fmt.Sprintf("zcbench-test-%d", os.Getpid()))
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("no control group can be made here: %v", err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) }) // empty once its processes are gone
	if err := os.WriteFile(filepath.Join(dir, limit), []byte(strconv.FormatInt(bytes, 10)), 0o644); err != nil {
		t.Skipf("no memory limit can be set here: %v", err)
	}
	return filepath.Join(dir, "cgroup.procs")
}

// On a machine that gives little a run ends with a result or with one error that
// says what it lacks, never with a trace or a hang.
func TestNarrowMachines(t *testing.T) {
	p := newPlayground(t)
	file := tinyScenario(t)
	home := t.TempDir()
	if err := os.Chmod(home, 0o555); err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(t *testing.T, args ...string) result{
		"few open files":    func(t *testing.T, args ...string) result { return limited(t, p.env, "ulimit -n 64", args...) },
		"no open files":     func(t *testing.T, args ...string) result { return limited(t, p.env, "ulimit -n 20", args...) },
		"no locked memory":  func(t *testing.T, args ...string) result { return limited(t, p.env, "ulimit -l 64", args...) },
		"no core, no stack": func(t *testing.T, args ...string) result { return limited(t, p.env, "ulimit -c 0 -s 256", args...) },
		"little memory": func(t *testing.T, args ...string) result {
			procs := smallGroup(t, 64<<20)
			return limited(t, p.env, "echo $$ > "+procs, args...)
		},
		"little address space": func(t *testing.T, args ...string) result {
			if !checksRoom {
				t.Skip("built without cgo")
			}
			return limited(t, p.env, "ulimit -v 65536", args...)
		},
		"little private memory": func(t *testing.T, args ...string) result {
			if !checksRoom {
				t.Skip("built without cgo")
			}
			return limited(t, p.env, "ulimit -d 65536", args...)
		},
		"a home that cannot be written": func(t *testing.T, args ...string) result {
			return limited(t, append(p.env, "HOME=/proc/none", "XDG_CACHE_HOME=/proc/none/.cache"), "true", args...)
		},
		"no environment": func(t *testing.T, args ...string) result {
			cmd := exec.Command(os.Args[0], args...)
			cmd.Env = []string{actAsZcbench + "=1", "TMPDIR=" + p.temp} // which is this test's own
			return ended(t, cmd)
		},
		"no terminal": func(t *testing.T, args ...string) result {
			cmd := exec.Command(os.Args[0], args...)
			cmd.Env = append(os.Environ(), p.env...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			return ended(t, cmd)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "r")
			r := run(t, "run", file, "-o", dir)
			if r.code == exitOK {
				if !complete(filepath.Join(dir, "result.jsonl")) || !strings.Contains(r.out, "epoll-read") {
					t.Errorf("exit 0 without a result:\n%s", r.out)
				}
				return
			}
			t.Logf("exit %d: %s", r.code, r.errOut)
			if r.code != exitUsage && r.code != exitFailed {
				t.Errorf("exit %d", r.code)
			}
			if errs := r.errors(); len(errs) != 1 || strings.Contains(r.errOut, "goroutine ") {
				t.Errorf("%d errors: %q", len(errs), errs)
			}
		})
	}
	p.clean(t, t.TempDir())
}

func TestDryRunShowsTheNeeds(t *testing.T) {
	r := zcbench(t, nil, "", "run", tinyScenario(t), "--dry-run", "-o", filepath.Join(t.TempDir(), "no", "where"))
	r.want(t, exitOK)
	for _, s := range []string{"open files", "locked memory", "memory ", "processes and threads", "ports", "memory mappings", "disk", "RLIMIT_NOFILE"} {
		if !strings.Contains(r.out, s) {
			t.Errorf("no %q in\n%s", s, r.out)
		}
	}
	short := limited(t, nil, "echo $$ > "+smallGroup(t, 64<<20), "run", tinyScenario(t), "--dry-run")
	short.want(t, exitOK)
	if !strings.Contains(short.out, "memory falls short: as root: echo ") {
		t.Errorf("a limit that is too low is not told:\n%s", short.out)
	}
}
