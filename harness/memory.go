package harness

import (
	"fmt"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
)

// memoryLevels are the memory figures of a counting trial's window.
type memoryLevels struct {
	pages    levels
	sockets  levels
	cgroup   levels            // charged for sockets to the process's control group
	kept     levels            // bytes of buffers that messages keep from new data
	stranded levels            // of these, the bytes that are not the messages' own
	regions  map[string]levels // pages by the name of a region
	huge     int64             // pages in huge pages at the end
	noHuge   string
	sampleNS int64 // mean CPU time of one look at all regions
	inHeap   bool  // buffers lie in the Go heap
	end      residency.Levels
	noStatus string
	lazyFree int64
	noLazy   string
	ring     int64
	pinned   int64
}

// region is the levels of the regions of one name; without any it holds nothing.
func (m *memoryLevels) region(name string) levels {
	if l, ok := m.regions[name]; ok {
		return l
	}
	return levels{n: 1}
}

// levels sums up the samples of one quantity.
type levels struct {
	sum, n, max, last int64
	reason            string // why there are none
}

func (l *levels) add(v int64) {
	l.sum, l.n, l.last = l.sum+v, l.n+1, v
	l.max = max(l.max, v)
}

// sampler takes the memory figures of a trial between messages, on the measured
// thread: in lockstep nothing is in flight then, so the samples repeat.
type sampler struct {
	pages    *residency.Sampler
	status   *residency.Status
	base     int64 // pages of the Go heap before the strategy was opened
	fds      []int
	regions  []residency.Region
	every    uint64
	early    uint64 // the same within the warm-up
	warmup   uint64 // messages
	pagesAt  record.Series
	socketAt record.Series
	noPages  string
	noSocket string
	// Regions of one name are told together: names lists the names, named says
	// for each region which it has.
	names    []string
	named    []int
	regionAt []record.Series // of pages, by name
	sink     *Sink
	holds    *stranded
	keptAt   record.Series
	strandAt record.Series
	cgroup   *residency.Cgroup
	cgroupAt record.Series
	noCgroup string
}

// Names of regions that the harness knows.
const (
	assemblyRegion = "assembly" // where the sink makes messages contiguous
	sendRegion     = "send"     // where a strategy composes replies
	heapRegion     = "go heap"
)

// newSampler prepares to take a sample every so many of total messages, those of
// the warm-up included, for the time line.
func newSampler(m Memory, assembly residency.Region, fds []int, baseline int64, every, total int) (*sampler, error) {
	s := &sampler{fds: fds, base: baseline, every: uint64(every), early: uint64(every), holds: &stranded{}}
	s.regions = append([]residency.Region{assembly}, m.Buffers...)
	if m.GoHeap {
		heap, err := goHeap()
		if err != nil {
			return nil, err
		}
		s.regions = append(s.regions, heap)
	}
	n := total/every + 2
	s.pagesAt = timeLine("buffer_pages", record.UnitPages, n)
	s.socketAt = timeLine("socket_bytes", record.UnitBytes, n)
	s.keptAt = timeLine("kept_bytes", record.UnitBytes, n)
	s.strandAt = timeLine("stranded_bytes", record.UnitBytes, n)
	s.cgroupAt = timeLine("cgroup_socket_bytes", record.UnitBytes, n)
	for _, r := range s.regions {
		at := slices.Index(s.names, r.Name)
		if at < 0 {
			at = len(s.names)
			s.names = append(s.names, r.Name)
			s.regionAt = append(s.regionAt, timeLine("pages:"+r.Name, record.UnitPages, n))
		}
		s.named = append(s.named, at)
	}
	var err error
	if s.cgroup, err = residency.NewCgroup(); err != nil {
		s.noCgroup = err.Error()
	}
	if s.pages, err = residency.NewSampler(s.regions); err != nil {
		return nil, fmt.Errorf("sample resident pages: %w", err)
	}
	if s.status, err = residency.NewStatus(); err != nil {
		return nil, fmt.Errorf("sample memory figures: %w", err)
	}
	return s, nil
}

// timeLine is an empty time line of at most so many samples.
func timeLine(name, unit string, n int) record.Series {
	return record.Series{Name: name, Unit: unit, X: resident[int64](n), Y: resident[int64](n)}
}

// take adds one sample after a number of messages and returns when the next is due.
func (s *sampler) take(messages uint64) uint64 {
	if v, err := s.pages.Pages(); err == nil {
		s.pagesAt.X = append(s.pagesAt.X, int64(messages))
		s.pagesAt.Y = append(s.pagesAt.Y, v-s.base)
		s.takeRegions(int64(messages))
	} else if s.noPages == "" {
		s.noPages = err.Error()
	}
	if v, err := residency.SocketMemory(s.fds); err == nil {
		s.socketAt.X = append(s.socketAt.X, int64(messages))
		s.socketAt.Y = append(s.socketAt.Y, v)
	} else if s.noSocket == "" {
		s.noSocket = err.Error()
	}
	if s.holds.keeper != nil {
		bytes, kept := s.holds.look(s.sink)
		s.keptAt.X, s.keptAt.Y = append(s.keptAt.X, int64(messages)), append(s.keptAt.Y, kept)
		s.strandAt.X, s.strandAt.Y = append(s.strandAt.X, int64(messages)), append(s.strandAt.Y, kept-bytes)
	}
	if s.cgroup != nil {
		if v, err := s.cgroup.SocketBytes(); err == nil {
			s.cgroupAt.X = append(s.cgroupAt.X, int64(messages))
			s.cgroupAt.Y = append(s.cgroupAt.Y, v)
		} else if s.noCgroup == "" {
			s.noCgroup = err.Error()
		}
	}
	return s.next(messages)
}

// next is when the next sample is due. A long warm-up is sampled more rarely: a
// look at the memory of thousands of clients takes milliseconds.
func (s *sampler) next(messages uint64) uint64 {
	switch {
	case messages+s.early <= s.warmup:
		return messages + s.early
	case messages < s.warmup:
		return s.warmup + s.every
	}
	return messages + s.every
}

// takeRegions adds the pages of the last look by region.
func (s *sampler) takeRegions(messages int64) {
	for i, name := range s.names {
		at := &s.regionAt[i]
		at.X, at.Y = append(at.X, messages), append(at.Y, 0)
		if name == heapRegion {
			at.Y[len(at.Y)-1] = -s.base
		}
	}
	for i, at := range s.named {
		y := s.regionAt[at].Y
		y[len(y)-1] += s.pages.RegionPages(i)
	}
}

// series are the time lines to be kept. A region that never held a page has none.
func (s *sampler) series() []record.Series {
	out := []record.Series{s.pagesAt, s.socketAt}
	if s.sink != nil && s.sink.holding && len(s.keptAt.X) > 0 {
		out = append(out, s.keptAt, s.strandAt)
	}
	if len(s.cgroupAt.X) > 0 {
		out = append(out, s.cgroupAt)
	}
	for _, r := range s.regionAt {
		if slices.ContainsFunc(r.Y, func(pages int64) bool { return pages != 0 }) {
			out = append(out, r)
		}
	}
	return out
}

// summary returns the levels of the samples after the warm-up.
func (s *sampler) summary(m Memory, warmup int64) *memoryLevels {
	out := &memoryLevels{inHeap: m.GoHeap, ring: m.Ring, pinned: m.Pinned, sampleNS: s.pages.CostNS(), regions: map[string]levels{}}
	out.pages = over(s.pagesAt, warmup, s.noPages)
	out.sockets = over(s.socketAt, warmup, s.noSocket)
	noKeeper := ""
	if s.holds.keeper == nil {
		noKeeper = "the strategy does not say what its buffers keep"
	}
	out.kept = over(s.keptAt, warmup, noKeeper)
	out.stranded = over(s.strandAt, warmup, noKeeper)
	out.cgroup = over(s.cgroupAt, warmup, s.noCgroup)
	for i, name := range s.names {
		out.regions[name] = over(s.regionAt[i], warmup, s.noPages)
	}
	if n, ok := s.pages.HugePages(); ok {
		out.huge = n
	} else {
		out.noHuge = s.pages.Source() + " does not tell huge pages"
	}
	var err error
	if out.end, err = s.status.Read(); err != nil {
		out.noStatus = err.Error()
	}
	if lazy, err := residency.LazyFree(m.Buffers); err != nil {
		out.noLazy = err.Error()
	} else {
		out.lazyFree = lazy.Bytes
	}
	return out
}

func over(series record.Series, warmup int64, reason string) levels {
	l := levels{reason: reason}
	for i, x := range series.X {
		if x > warmup {
			l.add(series.Y[i])
		}
	}
	if l.n == 0 && l.reason == "" {
		l.reason = "no sample fell into the window"
	}
	return l
}

func (s *sampler) Close() {
	s.pages.Close()
	s.status.Close()
	if s.cgroup != nil {
		s.cgroup.Close()
	}
}

// resetPeak starts the process's peak again; where the kernel refuses, the peak
// is that of the whole trial.
func (s *sampler) resetPeak() { _ = residency.ResetPeak() }
