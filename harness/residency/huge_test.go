package residency

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const hugeBytes = 2 << 20

// mapAligned maps n huge pages' worth of aligned memory with the given advice.
func mapAligned(t *testing.T, n, advice int) []byte {
	t.Helper()
	mem := mapPages(t, (n+1)*hugeBytes/pageSize)
	off := -int(addrOf(mem)) & (hugeBytes - 1)
	mem = mem[off : off+n*hugeBytes]
	advise(t, mem, advice)
	return mem
}

func needHugePages(t *testing.T) {
	t.Helper()
	b, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || strings.Contains(string(b), "[never]") {
		t.Skipf("transparent huge pages are off: %q, %v", b, err)
	}
}

// TestSparseTouches writes one byte in each of 32 huge-page ranges: 32 base
// pages where huge pages are advised against, all of them where they are given.
func TestSparseTouches(t *testing.T) {
	const n = 32
	mem := mapAligned(t, n, unix.MADV_NOHUGEPAGE)
	samplers := everySampler(t, regionOf("mem", mem))
	for i := range n {
		mem[i*hugeBytes] = 1
	}
	expect(t, samplers, n, 0)
	if huge, ok := samplers[0].HugePages(); ok && huge != 0 {
		t.Errorf("%d huge pages against advice", huge)
	}
}

func TestHugePagesCountInFull(t *testing.T) {
	needHugePages(t)
	const n, perHuge = 32, hugeBytes / 4096
	if pageSize != 4096 {
		t.Skipf("page size %d", pageSize)
	}
	mem := mapAligned(t, n, unix.MADV_HUGEPAGE)
	samplers := everySampler(t, regionOf("mem", mem))
	for i := range n {
		mem[i*hugeBytes] = 1
	}
	given := smapsKB(t, addrOf(mem), "AnonHugePages:") << 10 / hugeBytes
	if given == 0 {
		t.Skip("the kernel had no huge page to give")
	}
	expect(t, samplers, int(given*perHuge+(n-given)), 0)
	if huge, ok := samplers[0].HugePages(); ok && huge != given*perHuge {
		t.Errorf("%d base pages in huge pages, smaps says %d", huge, given*perHuge)
	}
	advise(t, mem[:hugeBytes], unix.MADV_DONTNEED)
	expect(t, samplers, int((given-1)*perHuge+(n-given)), 0)
}

// TestHugeZeroPage reads one byte where huge pages are wanted: no memory is
// held, and a source that says otherwise must carry a note.
func TestHugeZeroPage(t *testing.T) {
	needHugePages(t)
	mem := mapAligned(t, 1, unix.MADV_HUGEPAGE)
	readByte(mem, 0)
	for _, s := range everySampler(t, regionOf("mem", mem)) {
		n, err := s.Pages()
		if err != nil {
			t.Fatal(err)
		}
		if n != 0 && len(s.Notes()) == 0 {
			t.Errorf("%s counts %d pages of a huge zero page and has no note", s.Source(), n)
		}
		t.Logf("%s: %d pages, notes %q", s.Source(), n, s.Notes())
	}
}

// smapsKB returns a field in kB of the mapping that holds addr.
func smapsKB(t *testing.T, addr uintptr, field string) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for line := range strings.Lines(string(b)) {
		if m, ok := parseMapping([]byte(line)); ok {
			inside = m.start <= addr && addr < m.end
		} else if rest, ok := strings.CutPrefix(line, field); ok && inside {
			kb, _ := parseKB([]byte(rest))
			return kb
		}
	}
	t.Fatalf("no %s for %#x in smaps", field, addr)
	return 0
}
