package guest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// runDir is a guest's directory on the host. The guest's kernel can write below
// state and scratch only; the rest belongs to the user who started it.
type runDir struct {
	path string
	lock *os.File // held as long as anyone needs the directory
}

func (d runDir) kernel() string  { return filepath.Join(d.path, "linux") }
func (d runDir) program() string { return filepath.Join(d.path, "zcbench") }
func (d runDir) imports() string { return filepath.Join(d.path, "import") }
func (d runDir) inbox() string   { return filepath.Join(d.path, "inbox") }
func (d runDir) state() string   { return filepath.Join(d.path, "uml") }
func (d runDir) scratch() string { return filepath.Join(d.path, "scratch") }
func (d runDir) temp() string    { return filepath.Join(d.scratch(), "tmp") }

// What the host leaves for the guest's init.
func (d runDir) setupFile() string { return filepath.Join(d.inbox(), "setup.json") }
func (d runDir) commandFile(id uint64) string {
	return filepath.Join(d.inbox(), fmt.Sprintf("command-%d.json", id))
}

func runDirAt(path string) runDir { return runDir{path: path} }

// owner is the user a guest's kernel runs as.
type owner struct {
	uid, gid int
	drop     bool // from root
}

// nobody is the user without rights on Linux systems.
const nobody = 65534

// guestOwner is nobody when root starts the guest, else the user itself.
func guestOwner() owner {
	if os.Geteuid() == 0 {
		return owner{nobody, nobody, true}
	}
	return owner{os.Geteuid(), os.Getegid(), false}
}

// makeRunDir makes a run directory in base with copies of a kernel and of this
// program, as both may be replaced while the guest runs, and may lie where its
// user cannot read.
func makeRunDir(base, kernel string, own owner) (d runDir, err error) {
	if d.path, err = os.MkdirTemp(base, runDirPrefix); err != nil {
		return d, fmt.Errorf("make the guest's directory: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.remove())
		}
	}()
	if d.lock, err = makeLock(d.path); err != nil {
		return d, err
	}
	for _, dir := range []string{d.imports(), d.inbox()} {
		if err = makeReadable(dir); err != nil {
			return d, err
		}
	}
	if own.drop {
		// The guest's user may pass through, not look around, and others neither; what
		// the inbox tells, such as the environment, is for the guest's user alone.
		if err = errors.Join(os.Lchown(d.path, -1, own.gid), os.Chmod(d.path, 0o710), os.Lchown(d.inbox(), -1, own.gid), os.Chmod(d.inbox(), 0o750)); err != nil {
			return d, err
		}
	}
	for _, dir := range []string{d.state(), d.scratch(), d.temp()} {
		if err = os.Mkdir(dir, 0o700); err != nil {
			return d, err
		}
		if err = os.Lchown(dir, own.uid, own.gid); err != nil {
			return d, fmt.Errorf("give %s to user %d: %w", dir, own.uid, err)
		}
	}
	if err = copyProgram(kernel, d.kernel()); err != nil {
		return d, err
	}
	return d, copyProgram("/proc/self/exe", d.program())
}

// makeLock makes the lock of a run directory, which is never seen unlocked.
func makeLock(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, lockName+"-")
	if err != nil {
		return nil, fmt.Errorf("make the guest's lock: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, lockName))
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("make the guest's lock: %w", err)
	}
	return f, nil
}

// remove removes the directory and lets go of its lock.
func (d runDir) remove() error {
	err := os.RemoveAll(d.path)
	if d.lock != nil {
		d.lock.Close()
	}
	if err != nil {
		return fmt.Errorf("remove the guest's directory: %w", err)
	}
	return nil
}

// importFile copies a host file, executable, to where the guest sees it
// read-only, and returns that path, the same in guest and host.
func (d runDir) importFile(n int, from string) (string, error) {
	dir := filepath.Join(d.imports(), strconv.Itoa(n))
	if err := makeReadable(dir); err != nil {
		return "", fmt.Errorf("import %s: %w", from, err)
	}
	to := filepath.Join(dir, filepath.Base(from))
	return to, copyProgram(from, to)
}

// makeReadable makes a directory that the guest's user can read, whatever the
// umask.
func makeReadable(dir string) error {
	return errors.Join(os.Mkdir(dir, 0o755), os.Chmod(dir, 0o755))
}

func copyProgram(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy for the guest: %w", err)
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return fmt.Errorf("copy for the guest: %w", err)
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Chmod(0o755) // whatever the umask
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy %s to %s: %w", from, to, err)
	}
	return nil
}
