package guest

import (
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

type mount struct {
	source, target, kind string
	flags                uintptr
	data                 string
}

func (m mount) do() error {
	if err := os.MkdirAll(m.target, 0o755); err != nil {
		return fmt.Errorf("make the mount point %s: %w", m.target, err)
	}
	if err := unix.Mount(m.source, m.target, m.kind, m.flags, m.data); err != nil {
		return fmt.Errorf("mount %s on %s: %w", m.kind, m.target, err)
	}
	return nil
}

// mountKernelFiles mounts what the guest's own kernel shows, over the host's.
func mountKernelFiles() error {
	const safe = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	for _, m := range []mount{
		{source: "proc", target: "/proc", kind: "proc", flags: safe},
		{source: "sysfs", target: "/sys", kind: "sysfs", flags: safe},
		{source: "dev", target: "/dev", kind: "devtmpfs", flags: unix.MS_NOSUID},
	} {
		if err := m.do(); err != nil {
			return err
		}
	}
	return nil
}

// mountShared mounts memory for /tmp and /dev/shm, then the run directory, which
// may lie below either, at the path it has on the host: read-only, but for the
// scratch directory in it.
func mountShared(d runDir) error {
	const safe = unix.MS_NOSUID | unix.MS_NODEV
	for _, m := range []mount{
		{source: "tmp", target: "/tmp", kind: "tmpfs", flags: safe, data: "mode=1777"},
		{source: "shm", target: "/dev/shm", kind: "tmpfs", flags: safe, data: "mode=1777"},
		{source: "none", target: d.path, kind: "hostfs", flags: safe | unix.MS_RDONLY, data: d.path},
		{source: "none", target: d.scratch(), kind: "hostfs", flags: safe, data: d.scratch()},
	} {
		if err := m.do(); err != nil {
			return err
		}
	}
	return nil
}

// useConsole makes the kernel's console this process's standard files: it was
// started before there was a /dev of the guest's.
func useConsole() error {
	fd, err := unix.Open("/dev/console", unix.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return fmt.Errorf("open the console: %w", err)
	}
	for std := range 3 {
		if fd == std {
			continue
		}
		if err := unix.Dup3(fd, std, 0); err != nil {
			return fmt.Errorf("use the console as fd %d: %w", std, err)
		}
	}
	if fd > 2 {
		return unix.Close(fd)
	}
	return nil
}

// openChannel opens a serial line for bytes as they are, for this process
// alone: others lack the right to open a line in exclusive use.
func openChannel(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open the channel %s: %w", path, err)
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("read the settings of %s: %w", path, err)
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = t.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8 | unix.CREAD | unix.CLOCAL
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, t); err != nil {
		return nil, fmt.Errorf("set %s to raw: %w", path, err)
	}
	if err := unix.IoctlSetInt(fd, unix.TIOCEXCL, 0); err != nil {
		return nil, fmt.Errorf("take %s for exclusive use: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// addEntropy credits the guest's random pool with bytes of the host's, so that
// getrandom never waits.
func addEntropy(seed []byte) error {
	f, err := os.OpenFile("/dev/random", os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("open /dev/random: %w", err)
	}
	defer f.Close()
	// struct rand_pool_info of linux/random.h.
	var pool struct {
		bits, bytes int32
		buf         [64]byte
	}
	n := copy(pool.buf[:], seed)
	pool.bits, pool.bytes = int32(8*n), int32(n)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), unix.RNDADDENTROPY, uintptr(unsafe.Pointer(&pool))); errno != 0 {
		return fmt.Errorf("seed /dev/random: %w", errno)
	}
	return nil
}

func setEnv(kv string) error {
	k, v, ok := strings.Cut(kv, "=")
	if !ok || k == "" {
		return fmt.Errorf("environment entry %q is not NAME=VALUE", kv)
	}
	return os.Setenv(k, v)
}
