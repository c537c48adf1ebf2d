package residency

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

var pageSize = os.Getpagesize()

// mapPages maps private anonymous memory without huge pages, between two
// guard pages so that the kernel cannot merge it with its neighbours.
func mapPages(t testing.TB, pages int) []byte {
	t.Helper()
	all, err := unix.Mmap(-1, 0, (pages+2)*pageSize, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(all); err != nil {
			t.Error(err)
		}
	})
	mem := all[pageSize : (pages+1)*pageSize]
	if err := unix.Mprotect(mem, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		t.Fatal(err)
	}
	advise(t, mem, unix.MADV_NOHUGEPAGE)
	return mem
}

func advise(t testing.TB, mem []byte, advice int) {
	t.Helper()
	if err := unix.Madvise(mem, advice); err != nil {
		t.Fatalf("madvise %d: %v", advice, err)
	}
}

func addrOf(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }

func regionOf(name string, mem []byte) Region {
	return Region{Name: name, Addr: addrOf(mem), Len: uintptr(len(mem))}
}

// everySampler returns a sampler for each source alone, and the chosen one.
func everySampler(t testing.TB, regions ...Region) []*Sampler {
	t.Helper()
	lists := [][]opener{openers()}
	for i, o := range openers() {
		if i == 0 && !kernelHasScan(t) {
			t.Log("PAGEMAP_SCAN needs Linux 6.7: not tested here")
			continue
		}
		lists = append(lists, []opener{o})
	}
	var all []*Sampler
	for _, list := range lists {
		s, err := newSampler(regions, list)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		all = append(all, s)
	}
	return all
}

// kernelHasScan goes by version, so that a probe that wrongly fails is seen.
func kernelHasScan(t testing.TB) bool {
	t.Helper()
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	return major > 6 || major == 6 && minor >= 7
}

// expect checks the total every sampler sees; zero is the number of pages that
// were only read.
func expect(t *testing.T, samplers []*Sampler, written, zero int) {
	t.Helper()
	for _, s := range samplers {
		want := int64(written)
		if s.CountsZeroPages() {
			want += int64(zero)
		}
		if got, err := s.Pages(); err != nil || got != want {
			t.Errorf("%s: %d pages, %v; want %d", s.Source(), got, err, want)
		}
	}
}

func writePage(mem []byte, page int) { mem[page*pageSize] = 1 }
func readPage(mem []byte, page int)  { readByte(mem, page*pageSize) }
