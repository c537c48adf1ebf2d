package probes

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/perfcount"
	"github.com/zcbench/zcbench/harness/residency"
)

// memoryFeatures are what figures of residency rest on.
func memoryFeatures() []feature {
	return []feature{
		{"pagemap", "proc_pid_pagemap(5)", "Resident pages can be counted one by one.", trySource("pagemap")},
		{"pagemap-scan", "PAGEMAP_SCAN, Linux 6.7", "Resident pages are counted in one call, pages of zeroes left out.", trySource("pagemap-scan")},
		{"mincore", "mincore(2)", "The source of last resort for resident pages: it counts the zero page.", trySource("mincore")},
		{"madv-dontneed", "madvise(2)", "Pages are given back at once.", tryDontneed},
		{"madv-free", "MADV_FREE, Linux 4.5", "Pages are given back when memory is short.", tryFree},
		{"thp-madvise", "madvise(2), MADV_HUGEPAGE", "Huge pages where asked for; a touch then makes 2 MiB resident.", tryHuge},
		{"noreserve-16x100mb", "mmap(2), MAP_NORESERVE", "Private ranges of 100 MB for 16 clients cost no memory until touched.", tryNoreserve},
	}
}

func counterFeatures() []feature {
	return []feature{
		{"perf-counters", "perf_event_open(2)", "Instructions and cycles beside the times.", tryPerf},
		{"perf-syscalls", "perf_event_open(2), raw_syscalls tracepoint", "System calls are counted exactly.", tryPerfSyscalls},
	}
}

const huge = 2 << 20

// scratch maps pages without huge ones.
func scratch(n int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	_ = unix.Madvise(mem, unix.MADV_NOHUGEPAGE) // a kernel without them refuses
	return mem, nil
}

func pages(n int) int { return n * os.Getpagesize() }

// trySource lets a source of resident pages count four of which two were written
// and one was only read.
func trySource(name string) func() (string, error) {
	return func() (string, error) {
		n, err := residency.Try(name)
		if err != nil {
			return "", refusal{name, err}
		}
		return fmt.Sprintf("of 4 pages, 2 written, 1 only read: it counts %d", n), nil
	}
}

// mincore counts the pages of up to 512 that the kernel calls resident.
func mincore(mem []byte) (n int, err error) {
	var vec [512]byte
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(addressOf(mem)), uintptr(len(mem)), uintptr(unsafe.Pointer(&vec)))
	if errno != 0 {
		return 0, errno
	}
	return bytes.Count(vec[:len(mem)/os.Getpagesize()], []byte{1}), nil
}

func tryDontneed() (string, error) {
	mem, err := scratch(pages(64))
	if err != nil {
		return "", err
	}
	fill(mem, 1)
	before, err := mincore(mem)
	if err != nil {
		return "", refusedAs("mincore", err)
	}
	if err := unix.Madvise(mem, unix.MADV_DONTNEED); err != nil {
		return "", refusedAs("MADV_DONTNEED", err)
	}
	after, err := mincore(mem)
	if err != nil {
		return "", err
	}
	if before != 64 || after != 0 || mem[0] != 0 {
		return "", fmt.Errorf("%d of 64 pages before, %d after, first byte %d", before, after, mem[0])
	}
	return "64 resident pages became 0", nil
}

func fill(mem []byte, b byte) {
	for i := range mem {
		mem[i] = b
	}
}

// tryFree needs LazyFree of smaps too: nothing else shows MADV_FREE.
func tryFree() (string, error) {
	mem, err := scratch(pages(64))
	if err != nil {
		return "", err
	}
	fill(mem, 1)
	if err := unix.Madvise(mem, unix.MADV_FREE); err != nil {
		return "", refusedAs("MADV_FREE", err)
	}
	lazy, err := smaps(mem, "LazyFree")
	if err != nil {
		return "", err
	}
	if lazy == 0 {
		return "", fmt.Errorf("smaps shows no LazyFree of 64 pages")
	}
	resident, err := mincore(mem)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("smaps shows %d KiB LazyFree of %d; mincore still calls %d of 64 pages resident", lazy>>10, len(mem)>>10, resident), nil
}

// smaps sums a field in bytes over the mappings that overlap mem.
func smaps(mem []byte, field string) (int64, error) {
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return 0, refusedAs("/proc/self/smaps", err)
	}
	from, to := addressOf(mem), addressOf(mem)+uint64(len(mem))
	ours, known := false, false
	sum := int64(0)
	for sc := bufio.NewScanner(bytes.NewReader(text)); sc.Scan(); {
		name, rest, _ := strings.Cut(sc.Text(), ":")
		if start, end, ok := strings.Cut(strings.Fields(sc.Text())[0], "-"); ok {
			a, errA := strconv.ParseUint(start, 16, 64)
			b, errB := strconv.ParseUint(end, 16, 64)
			if errA == nil && errB == nil {
				ours = a < to && b > from
				continue
			}
		}
		if name != field {
			continue
		}
		known = true
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s of smaps: %w", field, err)
		}
		if ours {
			sum += kib << 10
		}
	}
	if !known {
		return 0, refusal{field + " of smaps", errors.New("there is no such field")}
	}
	return sum, nil
}

func tryHuge() (string, error) {
	mem, err := unix.Mmap(-1, 0, 4*huge, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return "", fmt.Errorf("map memory: %w", err)
	}
	if err := unix.Madvise(mem, unix.MADV_HUGEPAGE); err != nil {
		return "", refusedAs("MADV_HUGEPAGE", err)
	}
	mem[-int(addressOf(mem))&(huge-1)] = 1
	got, err := smaps(mem, "AnonHugePages")
	if err != nil {
		return "", err
	}
	mode, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil {
		mode = []byte(err.Error())
	}
	setting := strings.TrimSpace(string(mode))
	if got == 0 {
		return "", refusal{"huge pages", fmt.Errorf("a touch in advised memory made none (setting: %s)", setting)}
	}
	return fmt.Sprintf("1 touch made %d KiB resident as huge pages (setting: %s)", got>>10, setting), nil
}

func tryNoreserve() (string, error) {
	const clients, slot = 16, 100_000_000
	size := (slot + os.Getpagesize() - 1) / os.Getpagesize() * os.Getpagesize()
	mem, err := scratch(clients * size)
	if err != nil {
		return "", refusal{"16 mappings of 100 MB", err}
	}
	for i := range clients {
		mem[i*size+size/2] = 1
	}
	rss, err := smaps(mem, "Rss")
	if err != nil {
		return "", err
	}
	if want := int64(pages(clients)); rss != want {
		return "", fmt.Errorf("%d bytes are resident after a touch in each of 16 ranges, not %d", rss, want)
	}
	return fmt.Sprintf("1 touch in each of 16 ranges: %d KiB resident of %d MB", rss>>10, clients*slot/1_000_000), nil
}

func tryPerf() (string, error) {
	c, missing := perfcount.Open()
	defer c.Close()
	if why, ok := missing["instructions"]; ok {
		return "", refusal{"counting instructions", errors.New(why)}
	}
	if err := c.Start(); err != nil {
		return "", fmt.Errorf("start the counters: %w", err)
	}
	sum := spin(1_000_000)
	if err := c.Stop(); err != nil {
		return "", fmt.Errorf("stop the counters: %w", err)
	}
	readings, err := c.Read()
	if err != nil {
		return "", fmt.Errorf("read the counters: %w", err)
	}
	var seen []string
	for _, r := range readings {
		if r.Unavailable == "" {
			seen = append(seen, fmt.Sprintf("%s %d", r.Metric, r.Value))
		}
		if r.Metric == "instructions" && r.Value < 1_000_000 {
			return "", fmt.Errorf("%d instructions counted in a loop of a million, which came to %d", r.Value, sum)
		}
	}
	return "a loop of a million: " + strings.Join(seen, ", "), nil
}

// spin passes time by a loop.
func spin(n int) (sum int) {
	for i := range n {
		sum += i ^ sum
	}
	return sum
}

func tryPerfSyscalls() (string, error) {
	c, err := perfcount.OpenSyscalls()
	if err != nil {
		return "", refusal{"counting system calls", err}
	}
	defer c.Close()
	if err := c.Start(); err != nil {
		return "", fmt.Errorf("start the counter: %w", err)
	}
	for range 1000 {
		unix.RawSyscall(unix.SYS_GETPPID, 0, 0, 0)
	}
	if err := c.Stop(); err != nil {
		return "", fmt.Errorf("stop the counter: %w", err)
	}
	if n := c.Count(); n < 1000 || n > 1010 {
		return "", fmt.Errorf("%d system calls counted of 1000", n)
	}
	return fmt.Sprintf("1000 calls made, %d counted", c.Count()), nil
}
