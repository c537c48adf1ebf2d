// Package residency says what memory is really held, to the page: the resident
// pages of a process' own buffers, its page tables and pinned memory, and what
// the kernel keeps for its sockets. Looking does not change what is seen, and
// after construction it does not allocate, so a sampler may run in a process
// whose garbage collector is off. Linux only.
package residency

import (
	"fmt"
	"os"
	"slices"
)

// Region is a range of this process' memory.
type Region struct {
	Name string
	Addr uintptr
	Len  uintptr // bytes
}

// span is a range of whole pages, end excluded.
type span struct {
	start, end uintptr
}

// pageSpan is a region widened to whole pages, and its place in the caller's list.
type pageSpan struct {
	span
	index int
}

// pageSpans widens regions to whole pages and sorts them by address. Empty
// regions are left out. Regions that share a page are refused, since the page
// would count twice.
func pageSpans(regions []Region) ([]pageSpan, error) {
	mask := uintptr(os.Getpagesize() - 1)
	spans := make([]pageSpan, 0, len(regions))
	for i, r := range regions {
		end := r.Addr + r.Len
		if end < r.Addr || end > end+mask {
			return nil, fmt.Errorf("region %q at %#x of %d bytes runs past the end of the address space", r.Name, r.Addr, r.Len)
		}
		if r.Len > 0 {
			spans = append(spans, pageSpan{span{r.Addr &^ mask, (end + mask) &^ mask}, i})
		}
	}
	slices.SortFunc(spans, func(a, b pageSpan) int {
		if a.start < b.start {
			return -1
		}
		return 1
	})
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; a.end > b.start {
			return nil, fmt.Errorf("regions %q and %q share the page at %#x; give each its own pages",
				regions[a.index].Name, regions[b.index].Name, b.start)
		}
	}
	return spans, nil
}

// joined merges spans that touch, so that slots cut from one mapping cost one
// call to the kernel.
func joined(spans []pageSpan) []span {
	var runs []span
	for _, s := range spans {
		if n := len(runs); n > 0 && runs[n-1].end == s.start {
			runs[n-1].end = s.end
			continue
		}
		runs = append(runs, s.span)
	}
	return runs
}
