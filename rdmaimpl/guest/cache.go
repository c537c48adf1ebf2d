package guest

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// fragment is the kernel configuration a guest is built with.
//
//go:embed guest.config
var fragment []byte

const (
	imageName   = "linux"
	imageInfo   = "image.json"
	sourcesInfo = "sources.json"
	treeName    = "src"
	digestChars = 16
)

// DefaultCacheDir is where guest kernels are kept: zcbench/guest in the user's
// cache directory.
func DefaultCacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache directory: %w", err)
	}
	return filepath.Join(dir, "zcbench", "guest"), nil
}

// Image is a guest kernel in the cache.
type Image struct {
	Path     string    `json:"-"`
	Digest   string    `json:"digest"`   // of fragment and source
	Fragment string    `json:"fragment"` // digest of the configuration alone
	Kernel   string    `json:"kernel"`   // release
	Source   string    `json:"source"`   // file name of the source
	Compiler string    `json:"compiler"`
	Objects  int64     `json:"objects"`  // compiled
	BuildNS  int64     `json:"build_ns"` // what building took, resumed parts not included
	Built    time.Time `json:"built"`
}

// Status is what a machine has, and lacks, for guests.
type Status struct {
	CacheDir string
	// Image is a kernel of this configuration, nil if there is none; Current says
	// that no other source than its own would be built now.
	Image   *Image
	Current bool
	Source  string // path of the source a build takes; empty: none installed
	Digest  string // of the kernel that source makes; empty without one
	Partial bool   // a build of it was interrupted and will be resumed
	// Missing is what a build needs first; Unsupported why there can be none.
	Missing     []Requirement
	Unsupported string
}

// CheckStatus looks at the cache directory, empty meaning DefaultCacheDir, and at
// what the machine has installed.
func CheckStatus(cacheDir string) (Status, error) {
	st := Status{CacheDir: cacheDir}
	if cacheDir == "" {
		dir, err := DefaultCacheDir()
		if err != nil {
			return st, err
		}
		st.CacheDir = dir
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		st.Unsupported = fmt.Sprintf("user-mode linux runs on linux/amd64, this is %s/%s", runtime.GOOS, runtime.GOARCH)
		return st, nil
	}
	st.Source = newestSource(sourceRoot)
	st.Missing = missing(st.Source != "")
	if st.Source != "" {
		sum, err := sourceSum(st.Source, st.CacheDir)
		if err != nil {
			return st, err
		}
		st.Digest = kernelDigest(sum)
		_, err = os.Stat(filepath.Join(st.CacheDir, st.Digest, treeName))
		st.Partial = err == nil
	}
	st.Image, st.Current = cachedImage(st.CacheDir, st.Digest)
	return st, nil
}

// cachedImage returns the kernel of a digest, else the newest of the same
// configuration. With no source installed any of these is current.
func cachedImage(cacheDir, digest string) (im *Image, current bool) {
	infos, _ := filepath.Glob(filepath.Join(cacheDir, "*", imageInfo))
	for _, info := range infos {
		found, err := readImage(filepath.Dir(info))
		switch {
		case err != nil || found.Fragment != fragmentDigest():
		case found.Digest == digest:
			return &found, true
		case im == nil || found.Built.After(im.Built):
			im = &found
		}
	}
	return im, im != nil && digest == ""
}

func readImage(dir string) (Image, error) {
	var im Image
	if err := readJSON(filepath.Join(dir, imageInfo), &im); err != nil {
		return im, err
	}
	im.Path = filepath.Join(dir, imageName)
	_, err := os.Stat(im.Path)
	return im, err
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	tmp := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := os.WriteFile(tmp, append(b, '\n'), 0o644); err != nil {
		return err
	}
	// Whatever the umask: a guest's user must be able to read it.
	return errors.Join(os.Chmod(tmp, 0o644), os.Rename(tmp, path))
}

// readJSON reads the one JSON value of a file.
func readJSON(path string, v any) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func fragmentDigest() string {
	sum := sha256.Sum256(fragment)
	return hex.EncodeToString(sum[:])[:digestChars]
}

// kernelDigest names the kernel made of the fragment and a source.
func kernelDigest(sourceSum string) string {
	sum := sha256.Sum256(append([]byte(sourceSum+"\n"), fragment...))
	return hex.EncodeToString(sum[:])[:digestChars]
}

// knownSum is the digest of a source seen before, valid while size and time of
// change are the same.
type knownSum struct {
	Bytes int64  `json:"bytes"`
	MTime int64  `json:"mtime_ns"`
	Sum   string `json:"sha256"`
}

// sourceSum returns the SHA-256 of a source, which it reads once only.
func sourceSum(path, cacheDir string) (string, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("kernel source: %w", err)
	}
	known := map[string]knownSum{}
	memo := filepath.Join(cacheDir, sourcesInfo)
	if b, err := os.ReadFile(memo); err == nil {
		_ = json.Unmarshal(b, &known) // a damaged memo is made anew
	}
	if k, ok := known[path]; ok && k.Bytes == fi.Size() && k.MTime == fi.ModTime().UnixNano() {
		return k.Sum, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("kernel source: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read kernel source %s: %w", path, err)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	known[path] = knownSum{fi.Size(), fi.ModTime().UnixNano(), sum}
	if err := errors.Join(os.MkdirAll(cacheDir, 0o755), writeJSON(memo, known)); err != nil {
		return sum, nil // a cache that cannot be written only costs reading again
	}
	return sum, nil
}
