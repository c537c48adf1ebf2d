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
	"syscall"
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
// the cache cannot be used, a temporary directory is. A directory that others may
// write to is neither: the file is loaded into what is measured.
func Path(ctx context.Context) (string, error) {
	dir, err := cacheDir()
	if err != nil {
		return "", err
	}
	return pathIn(ctx, dir)
}

func cacheDir() (string, error) {
	if base, err := os.UserCacheDir(); err == nil && os.MkdirAll(base, 0o700) == nil {
		if dir, err := ownDirs(base, "zcbench", "shim"); err == nil {
			return dir, nil
		}
	}
	dir, err := ownDirs(os.TempDir(), fmt.Sprintf("zcbench-cache-%d", os.Geteuid()), "shim")
	if err != nil {
		return "", fmt.Errorf("keep the counting shim: %w", err)
	}
	return dir, nil
}

// ownDirs returns the directory of the names below base, each made if missing.
func ownDirs(base string, names ...string) (string, error) {
	dir := base
	for _, name := range names {
		dir = filepath.Join(dir, name)
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		if err := ownDir(dir); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// ownDir refuses a directory that others than this user may put files into.
func ownDir(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 || !ok || st.Uid != ownerHere(filepath.Dir(dir)) {
		return fmt.Errorf("%s is not a directory of this user's own that others may not write to (chown, chmod go-w), and what lies there would be loaded into programs", dir)
	}
	return nil
}

// ownerHere is the owner that this user's files are shown to have in a directory:
// the file system of a guest shows that of the host's process. Where no file can be
// made it is this user.
func ownerHere(dir string) uint32 {
	me := uint32(os.Geteuid())
	f, err := os.CreateTemp(dir, ".zcbench-owner-*")
	if err != nil {
		return me
	}
	defer os.Remove(f.Name())
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return me
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Uid
	}
	return me
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
	if err := os.Chmod(out, 0o700); err != nil {
		return fmt.Errorf("build the counting shim: %w", err)
	}
	if err := os.Rename(out, path); err != nil {
		return fmt.Errorf("build the counting shim: %w", err)
	}
	return nil
}
