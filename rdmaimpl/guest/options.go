package guest

import (
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/zcbench/zcbench/harness/childenv"
)

// Options say how a guest is booted. The zero value is usable.
type Options struct {
	CacheDir string // where kernels are; empty: DefaultCacheDir()
	Kernel   string // path of a kernel to boot; empty: the cached one
	MemBytes int64  // memory of the guest; 0: DefaultMemBytes
	// CPU is the host CPU, counted from 1, that the guest stays on; 0: any.
	CPU      int
	Boot     time.Duration // until the device must be usable; 0: DefaultBoot
	Lifetime time.Duration // after which it is killed; 0: DefaultLifetime
	// TempDirs are where the guest's memory and scratch may lie, tried in this
	// order; nil: /dev/shm, TMPDIR and the usual places for temporary files.
	TempDirs []string
	Env      []string // of the guest's programs, beside the host's
}

// Defaults of Options.
const (
	DefaultMemBytes = 512 << 20
	DefaultBoot     = 30 * time.Second
	DefaultLifetime = 4 * time.Hour

	minMemBytes = 64 << 20
)

// guestAddress is from the block kept for benchmarks (RFC 2544): it is in no
// one's network, and leaves the guest for nowhere.
var guestAddress = netip.MustParsePrefix("198.18.0.1/24")

func (o Options) complete() (Options, error) {
	if o.MemBytes == 0 {
		o.MemBytes = DefaultMemBytes
	}
	if o.MemBytes < minMemBytes {
		return o, fmt.Errorf("a guest with %d bytes of memory: it needs at least %d MiB", o.MemBytes, minMemBytes>>20)
	}
	if o.Boot == 0 {
		o.Boot = DefaultBoot
	}
	if o.Lifetime == 0 {
		o.Lifetime = DefaultLifetime
	}
	if o.TempDirs == nil {
		o.TempDirs = placeCandidates()
	}
	if o.Kernel == "" {
		st, err := CheckStatus(o.CacheDir)
		if err != nil {
			return o, err
		}
		if st.Image == nil {
			return o, ErrNoKernel
		}
		o.Kernel = st.Image.Path
	}
	return o, nil
}

// programEnv is the environment of the guest's programs: the host's, but for
// what would change how they run, count or print, and for directories not writable there.
func programEnv(extra []string, temp string) []string {
	env := childenv.Clean(os.Environ(), "HOME", "TMPDIR", "TMP", "TEMP", "XDG_CACHE_HOME", "PWD")
	if os.Getenv("PATH") == "" {
		env = append(env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	}
	env = append(env, "LC_ALL=C", "HOME="+temp, "TMPDIR="+temp)
	return append(env, extra...)
}

// kernelArgs is the command line of the guest's kernel.
func kernelArgs(o Options, d runDir) []string {
	return []string{
		fmt.Sprintf("mem=%dM", o.MemBytes>>20),
		"uml_dir=" + d.state(), "umid=guest",
		"root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
		"init=" + d.program(),
		"con=null", "con0=null,fd:1", "ssl=null",
		fmt.Sprintf("ssl0=fd:%d,fd:%d", channelInFD, channelOutFD),
		"quiet", "--", initArg, d.path,
	}
}
