package guest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestUnmetLines(t *testing.T) {
	const want = "# A\nCONFIG_A=y\n# wanted\nCONFIG_B=y\nCONFIG_C=y\nCONFIG_D=\"x\"\n"
	lost := unmet([]byte(want), []byte("CONFIG_A=y\n# CONFIG_C is not set\nCONFIG_D=\"x\"\n"))
	if got := strings.Join(lost, " "); got != "CONFIG_C=y" {
		t.Errorf("unmet: %q, want CONFIG_C=y alone: B is only wanted", got)
	}
}

// The kernel must have what the issue asks of it, whatever else changes.
func TestFragmentAsksForVerbsAndRing(t *testing.T) {
	for _, line := range []string{"CONFIG_IO_URING=y", "CONFIG_RDMA_RXE=y", "CONFIG_INFINIBAND_USER_ACCESS=y", "CONFIG_INFINIBAND_ADDR_TRANS=y"} {
		if lost := unmet(fragment, []byte(strings.ReplaceAll(string(fragment), line, ""))); len(lost) != 1 || lost[0] != line {
			t.Errorf("a configuration without %s would pass: lost %v", line, lost)
		}
	}
}

func TestNewestSource(t *testing.T) {
	root := t.TempDir()
	if got := newestSource(root); got != "" {
		t.Errorf("in an empty directory: %q", got)
	}
	for _, name := range []string{"linux-source-6.9.tar.xz", "linux-source-6.12.tar.xz", "linux-source-6.1.tar.xz", "linux-source-7.tar", "linux-source-x.tar.xz"} {
		writeFile(t, filepath.Join(root, name), name)
	}
	if got := filepath.Base(newestSource(root)); got != "linux-source-6.12.tar.xz" {
		t.Errorf("newest is %s: versions compare by number", got)
	}
	nested := filepath.Join(root, "linux-source-6.14.0", "linux-source-6.14.0.tar.bz2")
	writeFile(t, nested, "x")
	if got := newestSource(root); got != nested {
		t.Errorf("newest is %s, want the one in its own folder", got)
	}
}

// The digest of a source is kept, and made again when the file has changed.
func TestSourceSumFollowsTheFile(t *testing.T) {
	dir := t.TempDir()
	src, cache := filepath.Join(dir, "source"), filepath.Join(dir, "cache")
	writeFile(t, src, "one")
	one, err := sourceSum(src, cache)
	if err != nil {
		t.Fatal(err)
	}
	stamp := time.Unix(1000, 0)
	writeFile(t, src, "two")
	if err := os.Chtimes(src, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	two, err := sourceSum(src, cache)
	if err != nil || one == two {
		t.Errorf("other bytes have the digest %s too, %v", two, err)
	}
	// Same size and time: the file is not read again, which is the point.
	writeFile(t, src, "six")
	if err := os.Chtimes(src, stamp, stamp); err != nil {
		t.Fatal(err)
	}
	if again, err := sourceSum(src, cache); err != nil || again != two {
		t.Errorf("the digest was not kept: %s, %v", again, err)
	}
	if kernelDigest(one) == kernelDigest(two) {
		t.Error("kernels of two sources have one digest")
	}
}

func TestCachedImage(t *testing.T) {
	cache := t.TempDir()
	put := func(digest, fragment string, built int64) {
		im := Image{Digest: digest, Fragment: fragment, Built: time.Unix(built, 0)}
		writeFile(t, filepath.Join(cache, digest, imageName), "kernel")
		if err := writeJSON(filepath.Join(cache, digest, imageInfo), im); err != nil {
			t.Fatal(err)
		}
	}
	if im, _ := cachedImage(cache, ""); im != nil {
		t.Errorf("an empty cache has %+v", im)
	}
	put("foreign", "another configuration", 9)
	put("old", fragmentDigest(), 1)
	put("new", fragmentDigest(), 2)
	for _, c := range []struct {
		digest, want string
		current      bool
	}{{"old", "old", true}, {"", "new", true}, {"newer", "new", false}} {
		im, current := cachedImage(cache, c.digest)
		if im == nil || im.Digest != c.want || current != c.current {
			t.Errorf("digest %q: got %+v, current %v", c.digest, im, current)
		}
	}
	if err := os.Remove(filepath.Join(cache, "new", imageName)); err != nil {
		t.Fatal(err)
	}
	if im, _ := cachedImage(cache, ""); im == nil || im.Digest != "old" {
		t.Errorf("with the newest kernel's file gone: %+v", im)
	}
}

func TestMissingSaysWhatToInstall(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	list := missing(false)
	err := &MissingError{list}
	for _, want := range []string{"flex", "bison", "bc", "make", "gcc", "linux-source", "xz-utils"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "apt-get") {
		t.Errorf("apt-get is named where there is none: %v", err)
	}
	writeFile(t, filepath.Join(bin, "apt-get"), "#!/bin/sh\nexit 1\n")
	if err := os.Chmod(filepath.Join(bin, "apt-get"), 0o755); err != nil {
		t.Fatal(err)
	}
	if want := "run `" + InstallCommand(list) + "`"; !strings.Contains(err.Error(), want) {
		t.Errorf("no %s in: %v", want, err)
	}
	if os.Geteuid() == 0 {
		if err := install(t.Context(), list); err == nil || !strings.Contains(err.Error(), "apt-get install") {
			t.Errorf("an installation that fails: %v", err)
		}
	}
	if n := strings.Count(InstallCommand(list), "binutils"); n != 1 {
		t.Errorf("binutils is named %d times: %s", n, InstallCommand(list))
	}
	_, buildErr := Build(t.Context(), BuildOptions{CacheDir: t.TempDir(), Source: "/dev/null"}, nil)
	var missing *MissingError
	if !errors.As(buildErr, &missing) {
		t.Errorf("a build without tools: %v", buildErr)
	}
}

// An interrupted unpacking is not taken for a whole one, a path the kernel's
// makefiles cannot take is refused, and a broken source is named.
func TestBuildRefuses(t *testing.T) {
	if len(missing(true)) > 0 {
		t.Skip((&MissingError{missing(true)}).Error())
	}
	src := filepath.Join(t.TempDir(), "linux-source-6.12.tar.xz")
	writeFile(t, src, "this is no archive")
	cache := filepath.Join(t.TempDir(), "cache")
	if _, err := Build(t.Context(), BuildOptions{CacheDir: cache, Source: src}, nil); err == nil || !strings.Contains(err.Error(), src) {
		t.Errorf("a source that is none: %v", err)
	}
	stamps, _ := filepath.Glob(filepath.Join(cache, "*", treeName, unpackedStamp))
	if len(stamps) > 0 {
		t.Error("a failed unpacking counts as done")
	}
	if _, err := Build(t.Context(), BuildOptions{CacheDir: filepath.Join(cache, "with blank"), Source: src}, nil); err == nil || !strings.Contains(err.Error(), "blanks") {
		t.Errorf("a path with a blank: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, BuildOptions{CacheDir: cache, Source: src}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled build: %v", err)
	}
}

func TestMeterTellsTimeLeft(t *testing.T) {
	var seen []Progress
	m := newMeter(func(p Progress) { seen = append(seen, p) })
	m.unpacked(50, 100)
	m.startCompiling(100, 200)
	m.compiled = time.Now().Add(-10 * time.Second)
	for range 100 {
		m.object()
	}
	if p := seen[0]; p.Phase != PhaseUnpack || p.Percent != unpackPercent/2 || p.Left >= 0 {
		t.Errorf("half unpacked: %+v", p)
	}
	// 50 of the 100 left are done after 10 s: 10 s are left.
	if p := seen[50]; p.Done != 150 || p.Total != 200 || p.Left < 9*time.Second || p.Left > 11*time.Second {
		t.Errorf("half compiled: %+v", p)
	}
	if p := seen[1]; p.Left >= 0 {
		t.Errorf("after one object the time left is said to be known: %+v", p)
	}
	if p := seen[100]; p.Left != 0 || p.Percent != unpackPercent+compilePercent {
		t.Errorf("all compiled: %+v", p)
	}
	for i := 1; i < len(seen); i++ {
		if seen[i].Percent < seen[i-1].Percent {
			t.Fatalf("progress went back: %+v after %+v", seen[i], seen[i-1])
		}
	}
}

// Only trees that nobody builds in are removed.
func TestRemoveOtherTrees(t *testing.T) {
	cache := t.TempDir()
	for _, name := range []string{"keep", "stale", "busy"} {
		writeFile(t, filepath.Join(cache, name, treeName, "file"), "x")
		writeFile(t, filepath.Join(cache, name, lockName), "")
	}
	busy := build{dir: filepath.Join(cache, "busy"), meter: newMeter(nil)}
	lock, err := busy.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	removeOtherTrees(cache, filepath.Join(cache, "keep"))
	for name, want := range map[string]bool{"keep": true, "stale": false, "busy": true} {
		if _, err := os.Stat(filepath.Join(cache, name, treeName)); (err == nil) != want {
			t.Errorf("tree %s: %v", name, err)
		}
	}
	// A second build of the same kernel waits for the first.
	phases := ""
	second := build{dir: busy.dir, meter: newMeter(func(p Progress) { phases += p.Phase })}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := second.lock(ctx); !errors.Is(err, context.DeadlineExceeded) || phases != PhaseWait {
		t.Errorf("a second build: %v, phases %q", err, phases)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
