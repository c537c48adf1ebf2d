package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// Cache keeps the last probe of a kind in a file. It is a convenience: without it
// checks only run again.
type Cache struct {
	Path string
	// Key is what the findings depend on; a probe of another key does not fit.
	Key string
}

// cached is the content of the file.
type cached struct {
	Key   string       `json:"key"`
	Probe record.Probe `json:"probe"`
}

// maxCacheBytes bounds the file.
const maxCacheBytes = 4 << 20

// CachePath is the file of a kind of probe in the user's cache directory.
func CachePath(kind string) (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(dir, "zcbench", "probe-"+kind+".json"), nil
}

// MachineKey names the running system and program: kernel release and version,
// boot, user, limits and the binary's digest. more is added to it.
func MachineKey(binary string, more ...string) (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", fmt.Errorf("uname: %w", err)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("read the boot id: %w", err)
	}
	digest, err := fileDigest(binary)
	if err != nil {
		return "", fmt.Errorf("digest of this program: %w", err)
	}
	parts := []string{
		unix.ByteSliceToString(u.Release[:]), unix.ByteSliceToString(u.Version[:]), strings.TrimSpace(string(boot)),
		fmt.Sprint("uid ", os.Geteuid()), "binary " + digest,
	}
	for name, resource := range map[string]int{"files": unix.RLIMIT_NOFILE, "memlock": unix.RLIMIT_MEMLOCK} {
		var l unix.Rlimit
		if err := unix.Getrlimit(resource, &l); err != nil {
			return "", fmt.Errorf("getrlimit: %w", err)
		}
		// The Go runtime raises the soft limit of files by itself.
		more = append(more, fmt.Sprint(name, " ", l.Max))
	}
	return strings.Join(append(parts, sorted(more)...), "\n"), nil
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Load returns the cached probe, and false where there is none that fits and is
// whole.
func (c Cache) Load() (record.Probe, bool) {
	f, err := os.Open(c.Path)
	if err != nil {
		return record.Probe{}, false
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxCacheBytes))
	var got cached
	if err != nil || json.Unmarshal(b, &got) != nil || got.Key != c.Key || got.Probe.Check() != nil {
		return record.Probe{}, false
	}
	return got.Probe, len(got.Probe.Findings) > 0
}

// Store replaces the cached probe as a whole.
func (c Cache) Store(p record.Probe) error {
	b, err := json.Marshal(cached{c.Key, p})
	if err != nil {
		return fmt.Errorf("encode the probe: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return fmt.Errorf("keep the probe: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(c.Path), "probe-*.tmp")
	if err != nil {
		return fmt.Errorf("keep the probe: %w", err)
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), c.Path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep the probe in %s: %w", c.Path, err), os.Remove(f.Name()))
	}
	return nil
}
