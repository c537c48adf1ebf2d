package residency

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// source tells which pages of a span are resident.
type source interface {
	name() string
	// scan adds the resident ranges of s to t, in rising order.
	scan(s span, t *tally) error
	// hugeKnown says whether scan can tell huge pages.
	hugeKnown() bool
	close() error
}

// opener tries to make a source; an error says why this kernel has none.
type opener func() (source, error)

// openers lists the sources, the cheapest truthful one first. Over 1 GiB with
// few pages resident mincore is three orders slower than a scan, and it takes
// pages that were only read for resident.
func openers() []opener { return []opener{openScan, openPagemap, openMincore} }

// Sampler counts the resident pages of fixed regions. It is not safe for
// concurrent use; it may run on any thread.
type Sampler struct {
	src    source
	runs   []span
	tally  tally
	notes  []string
	zero   bool
	spent  int64 // ns of CPU
	sample int64
}

// NewSampler chooses the first source that counts a scratch mapping rightly:
// PAGEMAP_SCAN (Linux 6.7), else /proc/self/pagemap, else mincore(2). A source
// that takes pages which were only read for resident is used last, and then
// Notes says so. Regions are widened to whole pages and may not share one.
func NewSampler(regions []Region) (*Sampler, error) {
	return newSampler(regions, openers())
}

func newSampler(regions []Region, list []opener) (*Sampler, error) {
	spans, err := pageSpans(regions)
	if err != nil {
		return nil, err
	}
	src, exact, err := choose(list)
	if err != nil {
		return nil, err
	}
	s := &Sampler{src: src, runs: joined(spans), zero: !exact}
	s.tally = tally{spans: spans, pages: make([]int64, len(regions)), pageSize: uintptr(os.Getpagesize())}
	if !exact {
		s.notes = append(s.notes, src.name()+" counts pages that were only read, which hold no memory, as resident")
	} else if countsHugeZero(src) {
		s.notes = append(s.notes, src.name()+" counts a huge page that was only read, which holds no memory, as resident")
	}
	return s, nil
}

// choose opens sources until one is exact, and keeps the first of the others
// in case none is.
func choose(list []opener) (src source, exact bool, err error) {
	var fallback source
	var refused []error
	for _, open := range list {
		s, err := open()
		if err != nil {
			refused = append(refused, err)
			continue
		}
		exact, err := probe(s)
		switch {
		case err != nil:
			refused = append(refused, errors.Join(err, s.close()))
		case exact && fallback != nil:
			return s, true, fallback.close()
		case exact:
			return s, true, nil
		case fallback == nil:
			fallback = s
		default:
			refused = append(refused, s.close())
		}
	}
	if fallback != nil {
		return fallback, false, nil
	}
	return nil, false, fmt.Errorf("no way to see resident pages on this kernel (is /proc mounted?): %w", errors.Join(refused...))
}

// Source names where the figures come from: pagemap-scan, pagemap or mincore.
func (s *Sampler) Source() string { return s.src.name() }

// Notes lists what the source cannot tell apart; it is empty for a source that
// is exact.
func (s *Sampler) Notes() []string { return s.notes }

// CountsZeroPages says whether pages that were only read, which all share the
// kernel's page of zeros, are taken for resident.
func (s *Sampler) CountsZeroPages() bool { return s.zero }

// Pages looks at every region and returns how many pages are resident in all.
func (s *Sampler) Pages() (total int64, err error) {
	runtime.LockOSThread() // the clock is that of a thread
	defer runtime.UnlockOSThread()
	begin := threadCPU()
	s.tally.reset()
	for _, r := range s.runs {
		if err := s.src.scan(r, &s.tally); err != nil {
			return 0, fmt.Errorf("resident pages of %#x-%#x by %s: %w", r.start, r.end, s.src.name(), err)
		}
	}
	s.spent += threadCPU() - begin
	s.sample++
	return s.tally.total, nil
}

// RegionPages returns the resident pages of the region with that index in the
// list given to NewSampler, as of the last call of Pages.
func (s *Sampler) RegionPages(index int) int64 { return s.tally.pages[index] }

// HugePages returns how many of the resident base pages lay in huge pages at
// the last call of Pages; ok is false if the source cannot tell.
func (s *Sampler) HugePages() (pages int64, ok bool) { return s.tally.huge, s.src.hugeKnown() }

// Samples returns how often Pages has looked.
func (s *Sampler) Samples() int64 { return s.sample }

// CostNS returns the mean CPU time a call of Pages took so far, in nanoseconds; 0
// before the first.
func (s *Sampler) CostNS() int64 {
	if s.sample == 0 {
		return 0
	}
	return s.spent / s.sample
}

// threadCPU is the CPU time of the calling thread in nanoseconds.
func threadCPU() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0 // every Linux has this clock
	}
	return ts.Nano()
}

// Close releases the source.
func (s *Sampler) Close() error { return s.src.close() }
