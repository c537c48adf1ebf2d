package shim

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func buildShim(t *testing.T) string {
	t.Helper()
	path, err := Path(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// program compiles testdata/program.c.
func program(t *testing.T) string {
	t.Helper()
	cc, err := compiler()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "program")
	cmd := exec.CommandContext(t.Context(), cc, "-O2", "-Ipreload", "-o", out, "testdata/program.c", "-ldl", "-lpthread")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

func runUnder(t *testing.T, allocator string) (Counts, string, []uint64) {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report")
	cmd := exec.CommandContext(t.Context(), program(t), "32")
	cmd.Env = append(os.Environ(), Env(buildShim(t), allocator, report)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var n [7]uint64
	if _, err := fmt.Sscan(string(out), &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &n[6]); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	c, path, err := ReadReport(report)
	if err != nil {
		t.Fatal(err)
	}
	return c, path, n[:]
}

func checkProgram(t *testing.T, c Counts, n []uint64) {
	t.Helper()
	// malloc 32, realloc 262144, calloc 64, memalign 200; copies of 32, 32 and 32
	// bytes; another thread's thousand blocks are not this one's.
	want := Side{Allocs: 3, Reallocs: 1, Frees: 2, RequestedBytes: 32 + 262144 + 64 + 200, Copies: 3, CopiedBytes: 96, Syscalls: 1}
	if c.Lane != want {
		t.Errorf("counts of the program:\n got %+v\nwant %+v", c.Lane, want)
	}
	if c.Windows != 3 {
		t.Errorf("%d windows, want 3", c.Windows)
	}
	const blocks, each = 4096, 1000
	if grew := n[1] - n[0]; grew < blocks*each || grew > blocks*each*2 {
		t.Errorf("used grew by %d bytes for %d of %d", grew, blocks, each)
	}
	if n[2] > n[0]+(n[1]-n[0])/8 {
		t.Errorf("used is still %d of %d after most blocks were freed", n[2]-n[0], n[1]-n[0])
	}
	if n[4]-n[3] < blocks*each {
		t.Errorf("held grew by only %d bytes for %d of %d that were touched", n[4]-n[3], blocks, each)
	}
	if n[6] != blocks {
		t.Errorf("%d blocks more are live, want %d", n[6], blocks)
	}
}

func TestCountsOfAProgram(t *testing.T) {
	c, allocator, n := runUnder(t, "")
	checkProgram(t, c, n)
	if !Answers("glibc", allocator) {
		t.Errorf("allocator %s is not glibc", allocator)
	}
	// The heap keeps the pages of what was freed: holes between survivors.
	if n[5]-n[3] < (n[4]-n[3])/2 {
		t.Errorf("held fell to %d of %d with a block left on every page", n[5]-n[3], n[4]-n[3])
	}
}

func TestCountsUnderOtherAllocators(t *testing.T) {
	for _, a := range Allocators {
		t.Run(a.Name, func(t *testing.T) {
			file, err := FindAllocator(a.Name)
			if err != nil {
				t.Skip(err)
			}
			c, answered, n := runUnder(t, file)
			checkProgram(t, c, n)
			if !Answers(a.Name, answered) || Answers("glibc", answered) {
				t.Errorf("%s answered, not %s", answered, a.Name)
			}
		})
	}
}

func TestBuiltOnceAndByContent(t *testing.T) {
	dir := t.TempDir()
	path, err := pathIn(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	again, err := pathIn(t.Context(), dir)
	if err != nil || again != path {
		t.Fatalf("second call gives %q, %v", again, err)
	}
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the second call built again (%v)", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("the build left %d files (%v), want the shim alone", len(left), err)
	}
	if err := os.WriteFile(path, nil, 0o755); err != nil { // cut short by a full disk
		t.Fatal(err)
	}
	if _, err := pathIn(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Errorf("an empty file was taken for the shim (%v)", err)
	}
}

func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := pathIn(t.Context(), t.TempDir())
	if !errors.Is(err, ErrNoCompiler) || !strings.Contains(err.Error(), "install gcc") {
		t.Errorf("without a compiler: %v", err)
	}
}

func TestBuildCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := pathIn(ctx, dir); err == nil {
		t.Error("a cancelled build succeeded")
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("a cancelled build left %v", left)
	}
}

// What others could put a file into is no place for one that is loaded into
// programs, and it is passed over for one that is.
func TestCacheIsTheUsersOwn(t *testing.T) {
	home, temp := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CACHE_HOME", home)
	t.Setenv("TMPDIR", temp)
	inHome := filepath.Join(home, "zcbench", "shim")
	inTemp := filepath.Join(temp, fmt.Sprintf("zcbench-cache-%d", os.Geteuid()), "shim")
	mode := func(dir string, m os.FileMode) {
		t.Helper()
		if err := os.Chmod(dir, m); err != nil {
			t.Fatal(err)
		}
	}
	is := func(want string) {
		t.Helper()
		got, err := cacheDir()
		if got != want || want == "" && (err == nil || !strings.Contains(err.Error(), "own")) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
		if info, err := os.Stat(want); want != "" && (err != nil || info.Mode().Perm() != 0o700) {
			t.Errorf("%s: %v, %v", want, info, err)
		}
	}
	is(inHome)
	mode(inHome, 0o777)
	is(inTemp)
	mode(filepath.Dir(inTemp), 0o770)
	is("")
	mode(inHome, 0o700)
	is(inHome)
	mode(filepath.Dir(inHome), 0o707)
	is("")
	if err := errors.Join(os.RemoveAll(filepath.Dir(inTemp)), os.Symlink(t.TempDir(), filepath.Dir(inTemp))); err != nil {
		t.Fatal(err)
	}
	is("")
}

func TestAttachWithoutShim(t *testing.T) {
	if os.Getenv("LD_PRELOAD") != "" {
		t.Skip("something is preloaded")
	}
	if _, err := Attach(); !errors.Is(err, ErrNotPreloaded) {
		t.Errorf("attach without the shim: %v", err)
	}
	if p := AllocatorPath(); p != "" && !Answers("glibc", p) {
		t.Errorf("malloc is answered by %s", p)
	}
}

func TestReadReportRefusesGarbage(t *testing.T) {
	good := "zcshim 1 windows=1\nallocator /lib/libc.so.6\n" +
		"lane allocs=1 reallocs=2 frees=3 requested_bytes=4 copies=5 copied_bytes=6 syscalls=7\n" +
		"library allocs=0 reallocs=0 frees=0 requested_bytes=0 copies=0 copied_bytes=0 syscalls=0\n"
	read := func(text string) (Counts, error) {
		path := filepath.Join(t.TempDir(), "report")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, _, err := ReadReport(path)
		return c, err
	}
	c, err := read(good)
	if want := (Side{1, 2, 3, 4, 5, 6, 7}); err != nil || c.Lane != want || c.Windows != 1 {
		t.Errorf("a good report gives %+v, %v", c, err)
	}
	for name, text := range map[string]string{
		"empty":          "",
		"cut":            good[:30],
		"negative":       strings.Replace(good, "allocs=1", "allocs=-1", 1),
		"missing count":  strings.Replace(good, " copies=5", "", 1),
		"unknown line":   good + "hello\n",
		"other version":  strings.Replace(good, "zcshim 1", "zcshim 2", 1),
		"repeated count": strings.Replace(good, "allocs=1", "allocs=1 allocs=1", 1),
	} {
		if _, err := read(text); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, _, err := ReadReport(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "zc_window_begin") {
		t.Errorf("a report that is not there: %v", err)
	}
}

// A program may leave anything where its report belongs.
func TestReadReportIsNotLedAstray(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("sesame\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, make := range map[string]func(path string) error{
		"link": func(path string) error { return os.Symlink(secret, path) },
		"fifo": func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"dir":  func(path string) error { return os.Mkdir(path, 0o700) },
		"large": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("zcshim 1 windows=1\n", 1000)), 0o600)
		},
		"other": func(path string) error { return os.WriteFile(path, []byte("sesame\n"), 0o600) },
	} {
		path := filepath.Join(dir, name)
		if err := make(path); err != nil {
			t.Fatal(err)
		}
		if _, _, err := ReadReport(path); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFindAllocator(t *testing.T) {
	if p, err := FindAllocator("glibc"); p != "" || err != nil {
		t.Errorf("glibc: %q, %v", p, err)
	}
	if _, err := FindAllocator("nonesuch"); err == nil {
		t.Error("an unknown allocator was found")
	}
	defer func(dirs []string) { libDirs = dirs }(libDirs)
	libDirs = []string{t.TempDir()}
	if _, err := FindAllocator("jemalloc"); err == nil || !strings.Contains(err.Error(), "libjemalloc2") {
		t.Errorf("a missing allocator: %v, want its package named", err)
	}
}
