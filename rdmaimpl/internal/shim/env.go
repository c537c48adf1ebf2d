package shim

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Env returns the variables that run a child under the shim, and behind it under
// another allocator's shared object when one is given. With a report file the
// shim writes the counts there at the end of each window, for a child that does
// not read them itself; ReadReport reads it.
func Env(path, allocator, report string) []string {
	preload := path
	if allocator != "" {
		preload = strings.TrimPrefix(preload+":"+allocator, ":")
	}
	env := []string{"LD_PRELOAD=" + preload}
	if report != "" {
		env = append(env, "ZC_SHIM_OUT="+report)
	}
	return env
}

// Allocator is a replacement for the C library's allocator.
type Allocator struct {
	Name    string
	Package string // of Debian
	files   []string
}

// Allocators are those a scenario may name besides glibc.
var Allocators = []Allocator{
	{"jemalloc", "libjemalloc2", []string{"libjemalloc.so.2", "libjemalloc.so"}},
	{"mimalloc", "libmimalloc2.0", []string{"libmimalloc.so.2", "libmimalloc.so.2.*", "libmimalloc.so"}},
}

// libDirs are where distributions put shared objects.
var libDirs = []string{"/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"}

// FindAllocator returns the shared object of an allocator by name; "glibc" needs
// none and gives "". The error of one that is not installed names its package.
func FindAllocator(name string) (string, error) {
	if name == "glibc" {
		return "", nil
	}
	for _, a := range Allocators {
		if a.Name != name {
			continue
		}
		for _, dir := range libDirs {
			for _, file := range a.files {
				if found, _ := filepath.Glob(filepath.Join(dir, file)); len(found) > 0 {
					return found[0], nil
				}
			}
		}
		return "", fmt.Errorf("allocator %s is not installed: apt-get install %s", name, a.Package)
	}
	return "", fmt.Errorf("allocator %q is unknown: use glibc, jemalloc or mimalloc", name)
}

// Answers says whether the object at path, as AllocatorPath returns it, is the
// allocator of that name.
func Answers(name, path string) bool {
	base := filepath.Base(path)
	if name == "glibc" {
		return strings.HasPrefix(base, "libc.so") || strings.HasPrefix(base, "libc-")
	}
	return strings.HasPrefix(base, "lib"+name+".")
}

// ReadReport reads what a child left in the report file of Env: its counts and
// the file of the allocator that answered.
func ReadReport(path string) (Counts, string, error) {
	text, err := readReport(path)
	if errors.Is(err, os.ErrNotExist) {
		return Counts{}, "", errors.New("no counts of the shim: the program never ended a window (zc_window_begin, zc_window_end), or is linked statically")
	}
	if err != nil {
		return Counts{}, "", fmt.Errorf("counts of the shim: %w", err)
	}
	var c Counts
	var allocator string
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		seen[name] = true
		switch name {
		case "zcshim":
			_, err = fmt.Sscanf(rest, "1 windows=%d", &c.Windows)
		case "allocator":
			allocator = rest
		case "lane":
			err = c.Lane.parse(rest)
		case "library":
			err = c.Library.parse(rest)
		default:
			err = errors.New("a line that is none of a report")
		}
		if err != nil {
			return Counts{}, "", fmt.Errorf("counts of the shim in %s: %w", path, err)
		}
	}
	if allocator == "" || c.Windows == 0 || !seen["lane"] || !seen["library"] {
		return Counts{}, "", fmt.Errorf("counts of the shim in %s: cut short", path)
	}
	return c, allocator, nil
}

// maxReport is more than any report has, in bytes.
const maxReport = 4 << 10

// readReport reads a file that any program may have put there: it is not followed
// elsewhere, waited for, or read at any length.
func readReport(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxReport {
		return nil, fmt.Errorf("%s is not a report", path)
	}
	return io.ReadAll(io.LimitReader(f, maxReport))
}

func (s *Side) parse(fields string) error {
	into := map[string]*uint64{
		"allocs": &s.Allocs, "reallocs": &s.Reallocs, "frees": &s.Frees, "requested_bytes": &s.RequestedBytes,
		"copies": &s.Copies, "copied_bytes": &s.CopiedBytes, "syscalls": &s.Syscalls,
	}
	for _, f := range strings.Fields(fields) {
		key, val, _ := strings.Cut(f, "=")
		n, err := strconv.ParseUint(val, 10, 64)
		to := into[key]
		if err != nil || to == nil {
			return fmt.Errorf("field %q is not a count", f)
		}
		*to = n
		delete(into, key)
	}
	if len(into) > 0 {
		return fmt.Errorf("%d counts are missing", len(into))
	}
	return nil
}
