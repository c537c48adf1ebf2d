package guest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// notUnpacked are parts of the source that the guest's kernel does not touch:
// they are two thirds of it. Their Kconfig files stay, as others include them.
var notUnpacked = []string{
	"*/drivers/gpu/*.[ch]", "*/drivers/media/*.[ch]", "*/drivers/staging/*.[ch]", "*/drivers/accel/*.[ch]",
	"*/drivers/net/ethernet/*.[ch]", "*/drivers/net/wireless/*.[ch]", "*/drivers/scsi/*.[ch]",
	"*/drivers/infiniband/hw/*.[ch]", "*/sound/*.[ch]", "*/Documentation/*/*", "*/tools/testing/*",
	"*/tools/perf/*", "*.dts", "*.dtsi",
}

// unpack unpacks the source, unless an earlier build has.
func (b *build) unpack(ctx context.Context) error {
	stamp := filepath.Join(b.tree(), unpackedStamp)
	if _, err := os.Stat(stamp); err == nil {
		return nil
	}
	if err := os.RemoveAll(b.tree()); err != nil { // unpacked in part
		return fmt.Errorf("clear an interrupted build: %w", err)
	}
	if err := os.MkdirAll(b.tree(), 0o755); err != nil {
		return fmt.Errorf("make the build directory: %w", err)
	}
	var st unix.Statfs_t
	if err := unix.Statfs(b.dir, &st); err == nil && int64(st.Bavail)*st.Bsize < buildBytes {
		return fmt.Errorf("%s has %d MiB free: a kernel build needs %d MiB; free some or set XDG_CACHE_HOME to another directory",
			b.dir, int64(st.Bavail)*st.Bsize>>20, buildBytes>>20)
	}
	f, err := os.Open(b.source)
	if err != nil {
		return fmt.Errorf("kernel source: %w", err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("kernel source: %w", err)
	}
	args := []string{"-x", "-C", b.tree(), "--strip-components=1", "--no-same-owner", unpackFlag(b.source)}
	for _, p := range notUnpacked {
		args = append(args, "--exclude="+p)
	}
	cmd := b.command(ctx, "tar", args...)
	cmd.Stdin = &countingReader{r: f, total: fi.Size(), report: b.meter.unpacked}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("unpack %s: %w: %s", b.source, errors.Join(err, ctx.Err()), lastLines(string(out), 3))
	}
	return os.WriteFile(stamp, nil, 0o644)
}

func unpackFlag(path string) string {
	switch filepath.Ext(path) {
	case ".bz2":
		return "-j"
	case ".gz":
		return "-z"
	case ".zst":
		return "--zstd"
	}
	return "-J"
}

// countingReader reports every mebibyte read.
type countingReader struct {
	r              io.Reader
	n, told, total int64
	report         func(done, total int64)
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.n-c.told >= 1<<20 || err != nil {
		c.told = c.n
		c.report(c.n, c.total)
	}
	return n, err
}
