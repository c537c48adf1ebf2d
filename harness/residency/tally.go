package residency

// tally adds up resident ranges by region. Ranges must arrive in rising order
// and lie within the joined spans.
type tally struct {
	spans    []pageSpan
	pages    []int64 // by index of the caller's region
	pageSize uintptr
	next     int // first span that may still get pages
	total    int64
	huge     int64
}

func (t *tally) reset() {
	clear(t.pages)
	t.next, t.total, t.huge = 0, 0, 0
}

// add counts the resident range [start, end).
func (t *tally) add(start, end uintptr, huge bool) {
	for t.next < len(t.spans) && t.spans[t.next].end <= start {
		t.next++
	}
	for i := t.next; i < len(t.spans) && t.spans[i].start < end; i++ {
		s := t.spans[i]
		n := int64((min(end, s.end) - max(start, s.start)) / t.pageSize)
		t.pages[s.index] += n
		t.total += n
		if huge {
			t.huge += n
		}
	}
}
