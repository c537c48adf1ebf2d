package residency

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Cgroup reads what the kernel charges to this process' control group of version
// 2 for the buffers of sockets, those of all processes in the group together. It
// is not safe for concurrent use.
type Cgroup struct {
	f   *os.File
	fd  int
	buf [16 << 10]byte
}

// NewCgroup finds the group of this process. It is an error if the memory
// controller is not one of version 2 here.
func NewCgroup() (*Cgroup, error) { return newCgroup("/proc/self") }

func newCgroup(proc string) (*Cgroup, error) {
	groups, err := os.ReadFile(filepath.Join(proc, "cgroup"))
	if err != nil {
		return nil, fmt.Errorf("the control group of this process: %w", err)
	}
	mounts, err := os.ReadFile(filepath.Join(proc, "mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("where control groups are mounted: %w", err)
	}
	path, ok := unifiedGroup(string(groups))
	if !ok {
		return nil, errors.New("this process is in no control group of version 2")
	}
	mount, root, ok := unifiedMount(string(mounts))
	if !ok {
		return nil, errors.New("no cgroup2 file system is mounted")
	}
	// A mount may show only the part of the tree below its root.
	below, err := filepath.Rel(root, path)
	if err != nil || strings.HasPrefix(below, "..") {
		return nil, fmt.Errorf("control group %s is outside of what is mounted on %s", path, mount)
	}
	f, err := os.Open(filepath.Join(mount, below, "memory.stat"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("control group %s has no memory controller of version 2", path)
	}
	if err != nil {
		return nil, fmt.Errorf("memory of control group %s: %w", path, err)
	}
	return &Cgroup{f: f, fd: int(f.Fd())}, nil
}

// unifiedGroup finds the line of version 2, 0::PATH (cgroups(7)).
func unifiedGroup(text string) (path string, ok bool) {
	for line := range strings.Lines(text) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return path, true
		}
	}
	return "", false
}

// unifiedMount finds where version 2 is mounted, and which group that shows as
// its root (proc_pid_mountinfo(5)).
func unifiedMount(text string) (mount, root string, ok bool) {
	for line := range strings.Lines(text) {
		head, tail, found := strings.Cut(line, " - ")
		f := strings.Fields(head)
		if found && len(f) >= 5 && strings.HasPrefix(tail, "cgroup2 ") {
			return f[4], f[3], true
		}
	}
	return "", "", false
}

// SocketBytes returns the line `sock` of memory.stat, in bytes: whole pages, as of
// when the kernel last added up what its CPUs counted (every two seconds at the
// latest). It does not allocate.
func (c *Cgroup) SocketBytes() (int64, error) {
	n, err := unix.Pread(c.fd, c.buf[:], 0)
	for err == unix.EINTR {
		n, err = unix.Pread(c.fd, c.buf[:], 0)
	}
	if err != nil {
		return 0, fmt.Errorf("read %s: %w", c.f.Name(), err)
	}
	v, ok := statLine(c.buf[:n], "sock ")
	if !ok {
		return 0, fmt.Errorf("read %s: no line sock", c.f.Name())
	}
	return v, nil
}

// statLine finds the number behind a name that begins a line.
func statLine(text []byte, name string) (int64, bool) {
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if len(line) > len(name) && string(line[:len(name)]) == name {
			v, err := strconv.ParseInt(string(line[len(name):]), 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// Close closes the file.
func (c *Cgroup) Close() error { return c.f.Close() }
