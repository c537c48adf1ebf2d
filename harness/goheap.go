package harness

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"unsafe"

	"github.com/zcbench/zcbench/harness/residency"
)

// goHeapSpan is how much address space behind its start the Go heap may take
// here. Address space that is not mapped costs nothing to look at.
const goHeapSpan = 8 << 30

// goHeap finds where Go keeps its heap: the mapping that holds a heap object,
// and what follows. Since Go 1.26 the heap begins at a random address.
func goHeap() (residency.Region, error) {
	object := make([]byte, 64<<10)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(object)))
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return residency.Region{}, fmt.Errorf("find the Go heap: %w", err)
	}
	for sc := bufio.NewScanner(bytes.NewReader(maps)); sc.Scan(); {
		var lo, hi uintptr
		if _, err := fmt.Sscanf(sc.Text(), "%x-%x", &lo, &hi); err == nil && lo <= at && at < hi {
			return residency.Region{Name: heapRegion, Addr: lo, Len: goHeapSpan}, nil
		}
	}
	return residency.Region{}, fmt.Errorf("find the Go heap: no mapping holds address %#x", at)
}

// goHeapPages counts the resident pages of the Go heap now.
func goHeapPages() (int64, error) {
	heap, err := goHeap()
	if err != nil {
		return 0, err
	}
	s, err := residency.NewSampler([]residency.Region{heap})
	if err != nil {
		return 0, err
	}
	defer s.Close()
	return s.Pages()
}
