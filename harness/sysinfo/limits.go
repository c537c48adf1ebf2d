package sysinfo

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// unlimited is how the kernel and this package write no limit.
const unlimited = "unlimited"

// readAtMost reads r to its end and fails if that is beyond limit bytes.
func readAtMost(r io.Reader, limit int64) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("longer than %d bytes", limit)
	}
	return b, err
}

// limit returns the soft limit of a row of /proc/self/limits, and the hard one
// if it differs.
func (t tree) limit(row string, format func(int64) string) (string, error) {
	const name = "proc/self/limits"
	s, err := t.raw(name)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(s) {
		rest, ok := strings.CutPrefix(line, row)
		if !ok {
			continue
		}
		f := strings.Fields(rest)
		if len(f) < 2 {
			break
		}
		soft, err := limitText(f[0], format)
		if err != nil {
			return "", fmt.Errorf("/%s, %s: %w", name, row, err)
		}
		hard, err := limitText(f[1], format)
		if err != nil {
			return "", fmt.Errorf("/%s, %s: %w", name, row, err)
		}
		if soft == hard {
			return soft, nil
		}
		return soft + " (at most " + hard + ")", nil
	}
	return "", fmt.Errorf("/%s has no row %q", name, row)
}

func limitText(s string, format func(int64) string) (string, error) {
	if s == unlimited {
		return s, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return "", fmt.Errorf("limit %q is not a number", s)
	}
	return format(n), nil
}

func plainText(n int64) string { return strconv.FormatInt(n, 10) }

// bytesText writes bytes in the largest binary unit they fill, with one decimal
// where they do not fill it evenly.
func bytesText(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, u := float64(n), 0
	for v >= 1024 && u < len(units)-1 {
		v, u = v/1024, u+1
	}
	if v == float64(int64(v)) {
		return fmt.Sprintf("%d %s", int64(v), units[u])
	}
	return fmt.Sprintf("%.1f %s", v, units[u])
}

// Bytes writes a number of bytes in the largest binary unit it fills.
func Bytes(n int64) string { return bytesText(n) }
