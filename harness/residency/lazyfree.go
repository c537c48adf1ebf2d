package residency

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
)

// Lazy is memory given back with MADV_FREE that the kernel has not taken yet.
// It still counts as resident everywhere else.
type Lazy struct {
	Bytes int64
	// Exact is false if a mapping with such memory reaches beyond the regions:
	// the kernel merges mappings side by side and counts by mapping only, so
	// Bytes may then hold memory of others.
	Exact bool
}

// LazyFree adds up LazyFree of the mappings that touch a region, from
// /proc/self/smaps (proc_pid_smaps(5)). The kernel marks such pages in batches
// of some tens per CPU, so the last few may not show yet. It walks all page
// tables and allocates: call it outside the window.
func LazyFree(regions []Region) (Lazy, error) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return Lazy{}, fmt.Errorf("lazily freed memory: %w", err)
	}
	defer f.Close()
	lazy, err := lazyFree(f, regions)
	if err != nil {
		return Lazy{}, fmt.Errorf("lazily freed memory, %s: %w", f.Name(), err)
	}
	return lazy, nil
}

func lazyFree(smaps io.Reader, regions []Region) (Lazy, error) {
	spans, err := pageSpans(regions)
	if err != nil {
		return Lazy{}, err
	}
	runs := joined(spans)
	lazy := Lazy{Exact: true}
	var at span // of the mapping being read
	known := false
	lines := bufio.NewScanner(smaps)
	lines.Buffer(make([]byte, 0, 64<<10), 1<<20)
	for lines.Scan() {
		if m, ok := parseMapping(lines.Bytes()); ok {
			at = m
			continue
		}
		rest, ok := bytes.CutPrefix(lines.Bytes(), []byte("LazyFree:"))
		if !ok {
			continue
		}
		known = true
		kb, ok := parseKB(rest)
		if !ok {
			return Lazy{}, fmt.Errorf("unexpected line %q", lines.Text())
		}
		touches, within := place(at, runs)
		if touches && kb > 0 {
			lazy.Bytes += kb << 10
			lazy.Exact = lazy.Exact && within
		}
	}
	if err := lines.Err(); err != nil {
		return Lazy{}, err
	}
	if !known {
		return Lazy{}, fmt.Errorf("no LazyFree lines; they need Linux 4.12")
	}
	return lazy, nil
}

// parseMapping reads the address range a mapping's block begins with.
func parseMapping(line []byte) (span, bool) {
	addrs, _, _ := bytes.Cut(line, []byte(" "))
	lo, hi, ok := bytes.Cut(addrs, []byte("-"))
	if !ok {
		return span{}, false
	}
	start, err1 := strconv.ParseUint(string(lo), 16, 64)
	end, err2 := strconv.ParseUint(string(hi), 16, 64)
	return span{uintptr(start), uintptr(end)}, err1 == nil && err2 == nil
}

// place says whether m touches one of runs, and whether it lies within one.
func place(m span, runs []span) (touches, within bool) {
	for _, r := range runs {
		if m.start < r.end && r.start < m.end {
			touches = true
			within = within || (r.start <= m.start && m.end <= r.end)
		}
	}
	return touches, within
}
