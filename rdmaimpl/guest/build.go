package guest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// BuildOptions say how a kernel is built. The zero value is usable.
type BuildOptions struct {
	CacheDir string // empty: DefaultCacheDir()
	Source   string // path of a kernel source; empty: the newest in /usr/src
	Jobs     int    // compilers at once; 0: one per CPU
	Install  bool   // let root install what is missing with apt-get
}

const (
	unpackedStamp = ".unpacked"
	logName       = "build.log"
	// buildBytes is what a build takes on the disk while it runs.
	buildBytes = 1 << 30
)

// Build builds the guest's kernel unless the cache has it, and reports how far
// it is. An interrupted build goes on where it stopped. The error is a
// *MissingError if something must be installed first.
func Build(ctx context.Context, o BuildOptions, report func(Progress)) (Image, error) {
	m := newMeter(report)
	st, err := CheckStatus(o.CacheDir)
	if err != nil {
		return Image{}, err
	}
	if st.Unsupported != "" {
		return Image{}, errors.New(st.Unsupported)
	}
	if o.Source != "" {
		st.Source, st.Missing = o.Source, missing(true)
	}
	if len(st.Missing) > 0 && o.Install && os.Geteuid() == 0 {
		m.phase(PhaseInstall, 0)
		if err := install(ctx, st.Missing); err != nil {
			return Image{}, err
		}
		if st.Source == "" {
			st.Source = newestSource(sourceRoot)
		}
		st.Missing = missing(st.Source != "")
	}
	if len(st.Missing) > 0 {
		return Image{}, &MissingError{st.Missing}
	}
	sum, err := sourceSum(st.Source, st.CacheDir)
	if err != nil {
		return Image{}, err
	}
	b := build{source: st.Source, digest: kernelDigest(sum), jobs: o.Jobs, meter: m}
	b.dir = filepath.Join(st.CacheDir, b.digest)
	if b.jobs <= 0 {
		b.jobs = runtime.NumCPU()
	}
	return b.run(ctx)
}

// build is one build in one directory of the cache.
type build struct {
	source, digest, dir string
	jobs                int
	meter               *meter
}

func (b *build) tree() string { return filepath.Join(b.dir, treeName) }

func (b *build) run(ctx context.Context) (Image, error) {
	if strings.ContainsAny(b.dir, " :\t") {
		return Image{}, fmt.Errorf("a kernel cannot be built below %q: its path has blanks or colons; set XDG_CACHE_HOME to another directory", b.dir)
	}
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return Image{}, fmt.Errorf("make the cache directory: %w", err)
	}
	lock, err := b.lock(ctx)
	if err != nil {
		return Image{}, err
	}
	defer lock.Close()
	if im, err := readImage(b.dir); err == nil {
		return im, os.RemoveAll(b.tree()) // built while this one waited, or before
	}
	removeOtherTrees(filepath.Dir(b.dir), b.dir)
	began := time.Now()
	// What the build starts is to die with this thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := b.unpack(ctx); err != nil {
		return Image{}, err
	}
	b.meter.phase(PhaseConfigure, unpackPercent)
	if err := b.configure(ctx); err != nil {
		return Image{}, err
	}
	if err := b.compile(ctx); err != nil {
		return Image{}, err
	}
	b.meter.phase(PhaseFinish, unpackPercent+compilePercent)
	return b.finish(ctx, began)
}

// lock keeps two builds of the same kernel apart.
func (b *build) lock(ctx context.Context) (*os.File, error) {
	f, err := os.Create(filepath.Join(b.dir, lockName))
	if err != nil {
		return nil, fmt.Errorf("lock the cache: %w", err)
	}
	for told := false; ; {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		if !told {
			b.meter.phase(PhaseWait, 0)
			told = true
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// removeOtherTrees removes what interrupted builds of other kernels left, which
// is most of a gigabyte each.
func removeOtherTrees(cacheDir, keep string) {
	trees, _ := filepath.Glob(filepath.Join(cacheDir, "*", treeName))
	for _, tree := range trees {
		dir := filepath.Dir(tree)
		f, err := os.Open(filepath.Join(dir, lockName))
		if dir == keep || err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
			_ = os.RemoveAll(tree)
		}
		f.Close()
	}
}

// command prepares a build command: in its own process group, so that all of it
// can be stopped, and free of what an outer make would tell it.
func (b *build) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = b.tree()
	cmd.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool {
		k, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "ARCH", "SUBARCH", "CROSS_COMPILE",
			"CC", "CFLAGS", "LDFLAGS", "KCFLAGS", "KBUILD_OUTPUT", "O", "V", "GOFLAGS"}, k)
	})
	cmd.Env = append(cmd.Env, "LC_ALL=C", "KBUILD_BUILD_USER=zcbench", "KBUILD_BUILD_HOST=zcbench")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	// make removes what it was making when it gets this.
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
