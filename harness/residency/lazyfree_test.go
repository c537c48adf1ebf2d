package residency

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestFreedLaterIsReportedApart gives pages back with MADV_FREE: they stay
// resident everywhere, and only LazyFree tells.
func TestFreedLaterIsReportedApart(t *testing.T) {
	const pages = 256
	mem := mapPages(t, pages)
	region := regionOf("mem", mem)
	for p := range pages {
		writePage(mem, p)
	}
	before, err := LazyFree([]Region{region})
	if err != nil || before.Bytes != 0 || !before.Exact {
		t.Fatalf("before: %+v, %v", before, err)
	}
	advise(t, mem, unix.MADV_FREE)
	drainBatches(t)
	expect(t, everySampler(t, region), pages, 0)
	got, err := LazyFree([]Region{region})
	if err != nil || got.Bytes != pages*int64(pageSize) || !got.Exact {
		t.Errorf("after MADV_FREE of %d bytes: %+v, %v", len(mem), got, err)
	}
	half := Region{"half", region.Addr, region.Len / 2}
	if got, err := LazyFree([]Region{half}); err != nil || got.Exact {
		t.Errorf("half a mapping is called exact: %+v, %v", got, err)
	}
	clear(mem) // writing takes the pages back
	if got, err := LazyFree([]Region{region}); err != nil || got.Bytes != 0 {
		t.Errorf("after writing again: %+v, %v", got, err)
	}
}

// drainBatches makes the kernel mark what it only queued per CPU: mlock drains
// the queues of all CPUs.
func drainBatches(t *testing.T) {
	t.Helper()
	mem := mapPages(t, 1)
	if err := unix.Mlock(mem); err != nil {
		t.Skipf("cannot drain the kernel's queues: mlock: %v", err)
	}
}

func TestLazyFreeParsing(t *testing.T) {
	const smaps = `1000-3000 rw-p 00000000 00:00 0
Rss:                   8 kB
LazyFree:              4 kB
VmFlags: rd wr
3000-6000 rw-p 00000000 00:00 0                  [anon: a-b]
LazyFree:              8 kB
9000-a000 r--p 00000000 00:00 0
LazyFree:             16 kB
`
	for _, tc := range []struct {
		region Region
		want   Lazy
	}{
		{Region{"first", 0x1000, 0x2000}, Lazy{4096, true}},
		{Region{"two", 0x1000, 0x5000}, Lazy{12288, true}},
		{Region{"part", 0x4000, 0x1000}, Lazy{8192, false}},
		{Region{"gap", 0x7000, 0x1000}, Lazy{0, true}},
	} {
		got, err := lazyFree(strings.NewReader(smaps), []Region{tc.region})
		if err != nil || got != tc.want {
			t.Errorf("%s: %+v, %v; want %+v", tc.region.Name, got, err, tc.want)
		}
	}
	if _, err := lazyFree(strings.NewReader("1000-2000 rw-p\nRss: 4 kB\n"), nil); err == nil {
		t.Error("a kernel without LazyFree lines is taken for one that frees nothing")
	}
	if _, err := lazyFree(strings.NewReader("1000-2000 rw-p\nLazyFree: x kB\n"), nil); err == nil {
		t.Error("garbage accepted")
	}
}
