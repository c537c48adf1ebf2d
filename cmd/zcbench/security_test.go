package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

func TestDeviceNames(t *testing.T) {
	for name, ok := range map[string][2]bool{ // as --device, as --soft-roce
		"mlx5_0": {true, true}, "eth0.100": {true, true}, "rocep202s0f0np0v12": {true, false}, "eth0": {true, true},
		"../../etc/passwd": {}, "a/b": {}, "-x": {}, ".": {}, "..": {}, "a b": {}, "eth0\n": {}, "\x1b[2J": {}, "a\x00b": {}, "é": {},
		strings.Repeat("a", 64): {},
	} {
		if err := checkDevices(runFlags{device: name}); (err == nil) != ok[0] {
			t.Errorf("--device %q: %v", name, err)
		}
		if err := checkDevices(runFlags{softRoCE: name}); (err == nil) != ok[1] {
			t.Errorf("--soft-roce %q: %v", name, err)
		}
	}
	r := zcbench(t, nil, "", "run", "null", "--device", "../mlx5\x1b[2J")
	r.want(t, exitUsage)
	if !strings.Contains(r.errOut, `--device "../mlx5\x1b[2J"`) || !strings.Contains(r.errOut, "/sys/class/infiniband") {
		t.Errorf("%q", r.errOut)
	}
}

// lockName is the file that others are to see: it says that someone measures.
const lockName = "zcbench.lock"

// exposed lists what below dir others than its owner may read or write. What lies
// in a directory that is closed to them they cannot reach.
func exposed(dir string, into map[string]fs.FileMode) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir || d.Name() == lockName {
			return nil // it is gone by now
		}
		info, err := d.Info()
		switch {
		case err != nil || d.Type()&fs.ModeSymlink != 0:
		case info.Mode().Perm()&0o077 != 0:
			into[path] = info.Mode()
		case d.IsDir():
			return fs.SkipDir
		}
		return nil
	})
}

// Whatever the umask, what a run leaves in directories of temporary files and
// caches, or has there for a while, is for its user alone.
func TestTemporaryFilesArePrivate(t *testing.T) {
	dir, temp, cache := t.TempDir(), t.TempDir(), t.TempDir()
	build(t, filepath.Join(dir, "adapters", "epollrecv"), "cc", "-O2", "../../harness/adapters/epollrecv.c", "-ldl")
	file := receiveFile(t, dir, "  - {name: exec, command: [adapters/epollrecv]}")
	cmd := exec.Command("sh", "-c", `umask 0 && exec "$0" "$@"`, os.Args[0], "run", file, "--smoke", "--bare", "-o", filepath.Join(dir, "r"))
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "XDG_CACHE_HOME="+cache)
	seen, found := map[string]bool{}, map[string]fs.FileMode{}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			entries, _ := os.ReadDir(temp)
			for _, e := range entries {
				seen[strings.TrimRight(e.Name(), "0123456789")] = true
			}
			exposed(temp, found)
			exposed(cache, found)
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	out, err := cmd.CombinedOutput()
	close(stop)
	wg.Wait()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	exposed(temp, found)
	exposed(cache, found)
	for path, mode := range found {
		t.Errorf("%s is %v", path, mode)
	}
	if !seen["zcbench-counts-"] {
		t.Errorf("only %v were there: the test saw too little", seen)
	}
	if shims, _ := filepath.Glob(filepath.Join(cache, "zcbench/shim/*.so")); len(shims) != 1 {
		t.Errorf("the shim is in %v", shims)
	}
	if left, _ := os.ReadDir(temp); len(left) > 1 || len(left) == 1 && left[0].Name() != lockName {
		t.Errorf("left behind: %v", left)
	}
}

// nullResult is a fresh result of the null scenario.
func nullResult(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "null")
	zcbench(t, nil, "", "run", "null", "--smoke", "--bare", "-o", dir).want(t, exitOK)
	return dir
}

// Reports are as readable as the umask lets files be.
func TestReportsFollowTheUmask(t *testing.T) {
	source := nullResult(t)
	for umask, want := range map[string]fs.FileMode{"077": 0o600, "022": 0o644} {
		path := filepath.Join(t.TempDir(), "r.csv")
		cmd := exec.Command("sh", "-c", "umask "+umask+` && exec "$0" "$@"`, os.Args[0], "report", source, "--csv", path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("umask %s: %v, %v, want %v", umask, info.Mode(), err, want)
		}
	}
}

// hostileCopy is a result whose every name is a path out of its folder.
func hostileCopy(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(from, record.FileName))
	if err != nil {
		t.Fatal(err)
	}
	info := readResult(t, from).Header.Scenario
	names := []string{info.Name, info.Title}
	for _, c := range info.Cases {
		names = append(names, c.ID, c.Label, c.Point)
	}
	slices.Sort(names)
	s := string(text)
	for i, n := range slices.Compact(names) {
		old, _ := json.Marshal(n)
		evil, _ := json.Marshal(fmt.Sprintf("../../../escaped-%d/\x00\n%s", i, strings.Repeat("../", 40)))
		if n != "" {
			s = strings.ReplaceAll(s, string(old), string(evil))
		}
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, record.FileName), []byte(s), 0o600); err != nil {
		t.Fatal(err)
	}
}

// No name in a result becomes part of a path.
func TestHostileNamesStayInTheFolder(t *testing.T) {
	top := t.TempDir()
	deep := filepath.Join(top, "a", "b", "c", "d")
	hostileCopy(t, nullResult(t), filepath.Join(deep, "result"))
	if name := readResult(t, filepath.Join(deep, "result")).Header.Scenario.Name; !strings.HasPrefix(name, "../") {
		t.Fatalf("the result is not hostile: %q", name)
	}
	png, svg := filepath.Join(deep, "png"), filepath.Join(deep, "svg")
	zcbench(t, nil, "", "report", filepath.Join(deep, "result"), "--png", png, "--svg", svg, "--html", filepath.Join(deep, "r.html")).want(t, exitOK)
	zcbench(t, nil, "", "report", "--trend", deep, "--png", png, "--html", filepath.Join(deep, "t.html")).want(t, exitOK)
	zcbench(t, nil, "", "compare", filepath.Join(deep, "result"), filepath.Join(deep, "result")).want(t, exitOK)
	plain := regexp.MustCompile(`^[a-z]+[a-z0-9-]*\.(png|svg)$`)
	plots := 0
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		switch rel, _ := filepath.Rel(deep, path); {
		case rel == "result/"+record.FileName || rel == "r.html" || rel == "t.html":
		case (filepath.Dir(rel) == "png" || filepath.Dir(rel) == "svg") && plain.MatchString(d.Name()):
			plots++
		default:
			t.Errorf("%s was written", path)
		}
		return nil
	})
	if err != nil || plots == 0 {
		t.Errorf("%d plots, %v", plots, err)
	}
}

// A preloaded object of the user's own is kept from what is measured, and said.
func TestPreloadIsTold(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	r := zcbench(t, []string{"LD_PRELOAD=/nonexistent/spy.so"}, "", "run", "null", "--smoke", "--bare", "-o", dir)
	r.want(t, exitOK)
	has := func(w string) bool { return strings.HasPrefix(w, "LD_PRELOAD in the environment") }
	if w := readResult(t, dir).Warnings; !slices.ContainsFunc(w, has) {
		t.Errorf("warnings %q", w)
	}
}

// The locale changes no figure of any export.
func TestLocaleChangesNoNumber(t *testing.T) {
	source := nullResult(t)
	for _, flag := range []string{"--csv", "--json", "--markdown", "--benchfmt", "--html"} {
		var outs []string
		for _, locale := range []string{"C.UTF-8", "de_DE.UTF-8", "ar_EG.UTF-8"} {
			r := zcbench(t, []string{"LC_ALL=" + locale, "LANG=" + locale, "LC_NUMERIC=" + locale, "LANGUAGE=de"}, "", "report", source, flag, "-")
			r.want(t, exitOK)
			outs = append(outs, r.out)
		}
		if outs[0] == "" || outs[0] != outs[1] || outs[0] != outs[2] {
			t.Errorf("%s depends on the locale", flag)
		}
	}
	var outs []string
	for _, locale := range []string{"C.UTF-8", "de_DE.UTF-8"} {
		outs = append(outs, zcbench(t, []string{"LC_ALL=" + locale}, "", "report", source).out)
	}
	if outs[0] == "" || outs[0] != outs[1] {
		t.Error("the table depends on the locale")
	}
}
