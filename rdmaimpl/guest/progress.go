package guest

import (
	"sync"
	"time"
)

// Phases of a build.
const (
	PhaseInstall   = "install packages"
	PhaseWait      = "wait for another build"
	PhaseUnpack    = "unpack"
	PhaseConfigure = "configure"
	PhaseCompile   = "compile"
	PhaseFinish    = "finish"
)

// Progress is how far a build has come.
type Progress struct {
	Phase   string
	Done    int64 // objects compiled, bytes unpacked
	Total   int64 // 0: not known
	Percent float64
	Elapsed time.Duration
	Left    time.Duration // negative: not known yet
}

// usualObjects is how many files the fragment makes of linux 6.12; other
// versions differ by a few. It only moves the progress bar.
const usualObjects = 767

// Share of the whole that each long phase takes, in percent.
const (
	unpackPercent  = 10
	compilePercent = 88
	// minCompiled is how many objects it takes to tell how fast it goes.
	minCompiled = 10
)

// meter turns counts into Progress and reports it, from one goroutine at a time.
type meter struct {
	mu       sync.Mutex
	report   func(Progress)
	began    time.Time
	compiled time.Time // when compiling began
	before   int64     // objects of an interrupted build
	done     int64
	total    int64
}

func newMeter(report func(Progress)) *meter {
	if report == nil {
		report = func(Progress) {}
	}
	return &meter{report: report, began: time.Now()}
}

func (m *meter) phase(name string, percent float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.report(Progress{Phase: name, Percent: percent, Elapsed: time.Since(m.began), Left: -1})
}

func (m *meter) unpacked(done, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := Progress{Phase: PhaseUnpack, Done: done, Total: total, Elapsed: time.Since(m.began), Left: -1}
	p.Percent = unpackPercent * float64(done) / float64(total)
	m.report(p)
}

func (m *meter) startCompiling(before, total int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.compiled, m.before, m.done, m.total = time.Now(), before, before, max(total, before+1)
}

// object counts one object more.
func (m *meter) object() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.done++
	p := Progress{Phase: PhaseCompile, Done: m.done, Total: max(m.total, m.done), Elapsed: time.Since(m.began), Left: -1}
	share := float64(p.Done) / float64(p.Total)
	p.Percent = unpackPercent + compilePercent*share
	if now := m.done - m.before; now >= minCompiled {
		p.Left = time.Since(m.compiled) * time.Duration(p.Total-p.Done) / time.Duration(now)
	}
	m.report(p)
}
