package guest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	runDirPrefix = "zcbench-guest-"
	lockName     = "lock"
	// slackBytes is what a run directory needs beside the guest's memory: the
	// copies of the kernel and of this program, and some scratch.
	slackBytes = 96 << 20
	// maxBasePath keeps paths below it within the 255 bytes that the kernel has
	// for its uml_dir.
	maxBasePath = 150
	// abandonedAfter is the age at which a run directory without a lock file
	// counts as left behind, not as being made.
	abandonedAfter = time.Minute
)

// placeCandidates lists where a guest's memory may lie, best first: memory
// file systems, since anything else is written back to a disk.
func placeCandidates() []string {
	dirs := []string{"/dev/shm"}
	if tmp := os.Getenv("TMPDIR"); tmp != "" {
		if onTmpfs(tmp) {
			dirs = append([]string{tmp}, dirs...)
		} else {
			dirs = append(dirs, tmp)
		}
	}
	dirs = append(dirs, "/tmp", "/var/tmp")
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, cache)
	}
	return dirs
}

func onTmpfs(dir string) bool {
	var st unix.Statfs_t
	return unix.Statfs(dir, &st) == nil && st.Type == unix.TMPFS_MAGIC
}

// choosePlace returns the first directory that can hold a guest with memory of
// memBytes and can be reached by its owner, and why those before it cannot.
func choosePlace(candidates []string, memBytes int64, own owner) (dir string, rejected []string, err error) {
	for _, c := range candidates {
		dir, err := filepath.Abs(c)
		if err == nil && own.drop {
			err = checkReach(dir)
		}
		if err == nil {
			err = checkPlace(dir, memBytes)
		}
		if err == nil {
			return dir, rejected, nil
		}
		rejected = append(rejected, fmt.Sprintf("%s: %v", c, err))
	}
	return "", rejected, fmt.Errorf("no place for a guest of %d MiB: %s; set TMPDIR to a directory with %d MiB free that is not mounted noexec",
		memBytes>>20, strings.Join(rejected, "; "), (memBytes+slackBytes)>>20)
}

// checkPlace says what is wrong with a directory; nil if nothing is. The
// guest's kernel would die of a bus error in one that fills up.
func checkPlace(dir string, memBytes int64) error {
	if len(dir) > maxBasePath || strings.ContainsAny(dir, " \t\n,\"'") {
		return fmt.Errorf("path longer than %d bytes or with blanks, commas or quotes", maxBasePath)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return err
	}
	need := memBytes + slackBytes
	free := int64(st.Bavail) * st.Bsize
	unlimited := st.Type == unix.TMPFS_MAGIC && st.Blocks == 0
	if !unlimited && free < need {
		return fmt.Errorf("%d MiB free, %d MiB needed", free>>20, need>>20)
	}
	if st.Type == unix.TMPFS_MAGIC {
		if avail, err := availableMemory("/proc/meminfo"); err == nil && avail < need {
			return fmt.Errorf("a memory file system on a machine with %d MiB available, %d MiB needed", avail>>20, need>>20)
		}
	}
	return probeExec(dir)
}

// checkReach says which directory on a path others than its owner cannot pass.
func checkReach(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		fi, err := os.Stat(at)
		if err != nil {
			return err
		}
		if fi.Mode()&1 == 0 {
			return fmt.Errorf("root starts the guest as user %d, who cannot pass through %s", nobody, at)
		}
		if at == "/" {
			return nil
		}
	}
}

// probeExec makes a file in dir and maps it for execution, as the guest's
// kernel does with its memory.
func probeExec(dir string) error {
	f, err := os.CreateTemp(dir, runDirPrefix+"probe-")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil {
		return err
	}
	size := os.Getpagesize()
	if err := f.Truncate(int64(size)); err != nil {
		return err
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return errors.New("mounted noexec")
	}
	if err != nil {
		return fmt.Errorf("map a file for execution: %w", err)
	}
	return unix.Munmap(mem)
}

// availableMemory reads MemAvailable, in bytes.
func availableMemory(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "MemAvailable:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("%s has no MemAvailable", path)
}

// sweep removes this user's run directories whose host side and supervisor were
// both killed: nobody holds their lock any more.
func sweep(bases []string) {
	for _, base := range bases {
		dirs, _ := filepath.Glob(filepath.Join(base, runDirPrefix+"*"))
		for _, dir := range dirs {
			if abandoned(dir) {
				_ = os.RemoveAll(dir) // tried again next time
			}
		}
	}
}

func abandoned(dir string) bool {
	fi, err := os.Lstat(dir)
	if err != nil || !fi.IsDir() {
		return false
	}
	if st, ok := fi.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Geteuid() {
		return false
	}
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return errors.Is(err, os.ErrNotExist) && time.Since(fi.ModTime()) > abandonedAfter
	}
	defer f.Close()
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil
}
