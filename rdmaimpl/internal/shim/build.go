package shim

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed preload
var sources embed.FS

// compileFlags build the shim: no builtin of the compiler may turn the shim's own
// loops into calls of what it replaces, and its thread locals must not allocate.
var compileFlags = []string{
	"-O2", "-Wall", "-shared", "-fPIC", "-std=gnu11", "-fvisibility=default", "-fno-builtin",
	"-fno-tree-loop-distribute-patterns", "-ftls-model=initial-exec", "-U_FORTIFY_SOURCE",
}

// compilers are tried in order.
var compilers = []string{"cc", "gcc", "clang"}

// ErrNoCompiler is returned when the shim must be built and nothing can.
var ErrNoCompiler = errors.New("counting allocations needs a C compiler to build the shim once: install gcc (apt-get install gcc libc6-dev)")

// Path returns the shim's file, compiling it into the user's cache directory
// when this version of it is not there. The build takes about a second. Wherever
// the cache cannot be written, a temporary directory is used.
func Path(ctx context.Context) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return pathIn(ctx, dir)
}

func cacheDir() (string, error) {
	base, err := os.UserCacheDir()
	if err != nil || os.MkdirAll(base, 0o700) != nil {
		base = filepath.Join(os.TempDir(), fmt.Sprintf("zcbench-cache-%d", os.Getuid()))
	}
	dir := filepath.Join(base, "zcbench", "shim")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("keep the counting shim in %s: %w", dir, err)
	}
	return dir, nil
}

func pathIn(ctx context.Context, dir string) (string, error) {
	key, err := digest()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "zcshim-"+key+".so")
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		return path, nil
	}
	cc, err := compiler()
	if err != nil {
		return "", err
	}
	return path, compile(ctx, cc, path)
}

// digest names a build by its sources, flags and machine.
func digest() (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, runtime.GOARCH, strings.Join(compileFlags, " "))
	err := fs.WalkDir(sources, "preload", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(name)
		fmt.Fprintln(h, name, len(text))
		h.Write(text)
		return err
	})
	return fmt.Sprintf("%x", h.Sum(nil))[:16], err
}

func compiler() (string, error) {
	for _, name := range compilers {
		if cc, err := exec.LookPath(name); err == nil {
			return cc, nil
		}
	}
	return "", ErrNoCompiler
}

// compile builds into a directory of its own and renames, so that a second
// process never sees half a file.
func compile(ctx context.Context, cc, path string) error {
	work, err := os.MkdirTemp(filepath.Dir(path), "build-")
	if err != nil {
		return fmt.Errorf("build the counting shim: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, sources); err != nil {
		return fmt.Errorf("build the counting shim: %w", err)
	}
	units, err := filepath.Glob(filepath.Join(work, "preload", "*.c"))
	if err != nil {
		return err
	}
	out := filepath.Join(work, "out.so")
	args := append(append([]string{}, compileFlags...), "-o", out)
	args = append(append(args, units...), "-ldl", "-lpthread")
	cmd := exec.CommandContext(ctx, cc, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "LD_PRELOAD=")
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the counting shim with %s: %w (a missing header means libc6-dev is not installed): %s", cc, err, strings.TrimSpace(string(text)))
	}
	if err := os.Chmod(out, 0o755); err != nil {
		return fmt.Errorf("build the counting shim: %w", err)
	}
	if err := os.Rename(out, path); err != nil {
		return fmt.Errorf("build the counting shim: %w", err)
	}
	return nil
}
