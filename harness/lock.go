package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ErrBusy means another zcbench is measuring on this machine.
var ErrBusy = errors.New("another zcbench is measuring on this machine")

// Lock is the machine-wide right to measure.
type Lock struct{ f *os.File }

const lockMode = 0o644

// LockPath is where the lock file is: one place for all users of a machine.
func LockPath() string { return filepath.Join(os.TempDir(), "zcbench.lock") }

// Acquire takes the lock of the machine at path. When it is taken, Acquire
// calls waiting with the holder's word once and waits, or fails with ErrBusy
// if wait is false. The file is never removed: a lock on a removed file would
// keep nobody out. Anyone may lock it, only its maker write to it.
// Symbolic links are refused: the file is in a folder anyone may write to.
func Acquire(ctx context.Context, path string, wait bool, waiting func(holder string)) (*Lock, error) {
	// Non-blocking: a pipe in its place must not make anyone wait.
	const flags = unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT|flags, lockMode)
	if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EROFS) {
		fd, err = unix.Open(path, unix.O_RDONLY|flags, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("open the lock %s: %w; its owner or root can remove it while no zcbench runs", path, err)
	}
	_ = unix.Fchmod(fd, lockMode) // its maker's umask may have kept others out; only its owner may
	l := &Lock{f: os.NewFile(uintptr(fd), path)}
	for told := false; ; {
		err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			l.sign()
			return l, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), l.f.Close())
		}
		holder := l.holder()
		if !wait {
			return nil, errors.Join(fmt.Errorf("%w (%s)", ErrBusy, holder), l.f.Close())
		}
		if !told {
			told = true
			waiting(holder)
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), l.f.Close())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// sign says who holds the lock, where the file may be written.
func (l *Lock) sign() {
	if l.f.Truncate(0) == nil {
		_, _ = l.f.WriteAt(fmt.Appendf(nil, "process %d", os.Getpid()), 0) // only a courtesy to those who wait
	}
}

func (l *Lock) holder() string {
	b, err := io.ReadAll(io.NewSectionReader(l.f, 0, 64))
	text := strings.TrimSpace(string(b))
	if err != nil || text == "" {
		return "holder unknown"
	}
	return text
}

// Release gives the lock back.
func (l *Lock) Release() error { return l.f.Close() }
