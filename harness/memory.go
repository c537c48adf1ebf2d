package harness

import (
	"fmt"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/residency"
)

// memoryLevels are the memory figures of a counting trial's window.
type memoryLevels struct {
	pages    levels
	sockets  levels
	end      residency.Levels
	noStatus string
	lazyFree int64
	noLazy   string
	ring     int64
	pinned   int64
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
	pagesAt  record.Series
	socketAt record.Series
	noPages  string
	noSocket string
}

// newSampler prepares to take a sample every so many of total messages, those of
// the warm-up included, for the time line.
func newSampler(m Memory, assembly residency.Region, fds []int, baseline int64, every, total int) (*sampler, error) {
	s := &sampler{fds: fds, base: baseline, every: uint64(every)}
	s.regions = append([]residency.Region{assembly}, m.Buffers...)
	if m.GoHeap {
		heap, err := goHeap()
		if err != nil {
			return nil, err
		}
		s.regions = append(s.regions, heap)
	}
	n := total/every + 2
	for _, series := range []*record.Series{&s.pagesAt, &s.socketAt} {
		series.X, series.Y = resident[int64](n), resident[int64](n)
	}
	s.pagesAt.Name, s.pagesAt.Unit = "buffer_pages", record.UnitPages
	s.socketAt.Name, s.socketAt.Unit = "socket_bytes", record.UnitBytes
	var err error
	if s.pages, err = residency.NewSampler(s.regions); err != nil {
		return nil, fmt.Errorf("sample resident pages: %w", err)
	}
	if s.status, err = residency.NewStatus(); err != nil {
		return nil, fmt.Errorf("sample memory figures: %w", err)
	}
	return s, nil
}

// take adds one sample after a number of messages and returns when the next is due.
func (s *sampler) take(messages uint64) uint64 {
	if v, err := s.pages.Pages(); err == nil {
		s.pagesAt.X = append(s.pagesAt.X, int64(messages))
		s.pagesAt.Y = append(s.pagesAt.Y, v-s.base)
	} else if s.noPages == "" {
		s.noPages = err.Error()
	}
	if v, err := residency.SocketMemory(s.fds); err == nil {
		s.socketAt.X = append(s.socketAt.X, int64(messages))
		s.socketAt.Y = append(s.socketAt.Y, v)
	} else if s.noSocket == "" {
		s.noSocket = err.Error()
	}
	return messages + s.every
}

// summary returns the levels of the samples after the warm-up.
func (s *sampler) summary(m Memory, warmup int64) *memoryLevels {
	out := &memoryLevels{ring: m.Ring, pinned: m.Pinned}
	out.pages = over(s.pagesAt, warmup, s.noPages)
	out.sockets = over(s.socketAt, warmup, s.noSocket)
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
}

// resetPeak starts the process's peak again; where the kernel refuses, the peak
// is that of the whole trial.
func (s *sampler) resetPeak() { _ = residency.ResetPeak() }
