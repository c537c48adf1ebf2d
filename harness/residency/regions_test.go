package residency

import (
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// TestZappedPrefix gives back what is consumed of a buffer, 16 pages at a time,
// while the rest goes on being filled: to the page, only what is not given back
// stays.
func TestZappedPrefix(t *testing.T) {
	const pages, step = 256, 16
	mem := mapPages(t, pages)
	samplers := everySampler(t, regionOf("mem", mem))
	zapped := 0
	for p := range pages {
		writePage(mem, p)
		if p+1-zapped >= step {
			advise(t, mem[zapped*pageSize:(p+1)*pageSize], unix.MADV_DONTNEED)
			zapped = p + 1
		}
		expect(t, samplers, p+1-zapped, 0)
	}
}

// TestReadingBackGivenPages: a page that is read after it was given back is the
// page of zeros, which holds no memory.
func TestReadingBackGivenPages(t *testing.T) {
	const pages = 64
	mem := mapPages(t, pages)
	samplers := everySampler(t, regionOf("mem", mem))
	for p := range pages {
		writePage(mem, p)
	}
	advise(t, mem[:pages/2*pageSize], unix.MADV_DONTNEED)
	for p := range pages / 4 {
		readPage(mem, p)
	}
	expect(t, samplers, pages/2, pages/4)
}

// TestPrefixOfHugePage gives back part of a huge page: the kernel splits it, and
// the rest stays.
func TestPrefixOfHugePage(t *testing.T) {
	needHugePages(t)
	if pageSize != 4096 {
		t.Skipf("page size %d", pageSize)
	}
	mem := mapAligned(t, 1, unix.MADV_HUGEPAGE)
	samplers := everySampler(t, regionOf("mem", mem))
	mem[0] = 1
	if smapsKB(t, addrOf(mem), "AnonHugePages:") == 0 {
		t.Skip("the kernel had no huge page to give")
	}
	expect(t, samplers, 512, 0)
	advise(t, mem[:100*pageSize], unix.MADV_DONTNEED)
	expect(t, samplers, 412, 0)
	if huge, ok := samplers[0].HugePages(); ok && huge != 0 {
		t.Errorf("%d pages are said to lie in a huge page that was split", huge)
	}
}

// TestFreedInHugePage: MADV_FREE of a whole huge page leaves all of it resident.
func TestFreedInHugePage(t *testing.T) {
	needHugePages(t)
	if pageSize != 4096 {
		t.Skipf("page size %d", pageSize)
	}
	mem := mapAligned(t, 1, unix.MADV_HUGEPAGE)
	mem[0] = 1
	if smapsKB(t, addrOf(mem), "AnonHugePages:") == 0 {
		t.Skip("the kernel had no huge page to give")
	}
	region := regionOf("mem", mem)
	advise(t, mem, unix.MADV_FREE)
	drainBatches(t)
	expect(t, everySampler(t, region), 512, 0)
	if got, err := LazyFree([]Region{region}); err != nil || got.Bytes != hugeBytes {
		t.Errorf("%+v, %v: want all of the huge page to be lazily freed", got, err)
	}
}

// TestSlotsCountOnce: however many ranges are resident, each counts once, side by
// side and apart, in total and by region. A kernel that tells wrongly how far it
// has looked is not believed.
func TestSlotsCountOnce(t *testing.T) {
	for _, n := range []int{1, 511, 512, 513, 700, 1023, 1024, 1025, 1500, 1536, 1537, 2048, 2100} {
		for _, apart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/apart=%v", n, apart), func(t *testing.T) {
				for _, s := range everySampler(t, slots(t, n, 4*pageSize, apart)...) {
					if got, err := s.Pages(); err != nil || got != int64(n) {
						t.Errorf("%s: %d pages, %v; want %d", s.Source(), got, err, n)
					}
					for i := range n {
						if got := s.RegionPages(i); got != 1 {
							t.Fatalf("%s: %d pages in region %d, want 1", s.Source(), got, i)
						}
					}
				}
			})
		}
	}
}

// slots reserves so many ranges of a size, touching one page of each, in one
// mapping or with a page between any two.
func slots(tb testing.TB, n, size int, apart bool) []Region {
	tb.Helper()
	stride := size
	if apart {
		stride += pageSize
	}
	mem, err := unix.Mmap(-1, 0, n*stride, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { unix.Munmap(mem) })
	advise(tb, mem, unix.MADV_NOHUGEPAGE)
	regions := make([]Region, n)
	for i := range regions {
		part := mem[i*stride:][:size]
		part[0] = 1
		regions[i] = regionOf("slot", part)
	}
	return regions
}

// BenchmarkSampleRegions looks at 2048 slots of 100 MB with one page resident in
// each: side by side in one mapping, which takes one scan, or apart. core% is
// what one look a second costs of a core.
//
//	go test ./harness/residency -run '^$' -bench SampleRegions
func BenchmarkSampleRegions(b *testing.B) {
	const n, size = 2048, 100 << 20
	for _, apart := range []bool{false, true} {
		b.Run(fmt.Sprintf("apart=%v", apart), func(b *testing.B) {
			s, err := NewSampler(slots(b, n, size, apart))
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			b.ReportAllocs()
			for b.Loop() {
				if pages, err := s.Pages(); err != nil || pages != n {
					b.Fatalf("%d pages, %v", pages, err)
				}
			}
			b.ReportMetric(float64(s.CostNS())/1e9*100, "core%")
			b.Logf("by %s", s.Source())
		})
	}
}
