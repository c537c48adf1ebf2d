package probe

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// Runner runs checks and collects what they find.
type Runner struct {
	// Place is where checks run.
	Place Place
	// Elsewhere are other places by family, each of which takes one check at a time.
	Elsewhere map[string]Place
	// Parallel is how many checks run at once in Place; 0: as many as there are CPUs.
	Parallel int
	// Progress, if set, is told of each finding, one call at a time.
	Progress func(done, total int, f record.Finding)
}

// Run runs every check. It fails only when ctx ends first; what a check does
// shows in its finding. Findings are in the order of the checks.
func (r *Runner) Run(ctx context.Context, checks []Check) (record.Probe, error) {
	s := &running{Runner: r, checks: checks, found: make([]record.Finding, len(checks))}
	var together, alone []int
	apart := map[string][]int{}
	for i, c := range checks {
		switch {
		case r.Elsewhere[c.Family] != nil:
			apart[c.Family] = append(apart[c.Family], i)
		case c.Exclusive:
			alone = append(alone, i)
		default:
			together = append(together, i)
		}
	}
	var elsewhere sync.WaitGroup
	for family, list := range apart {
		elsewhere.Go(func() { s.work(ctx, r.Elsewhere[family], queue(list)) })
	}
	workers := r.Parallel
	if workers <= 0 {
		workers = runtime.NumCPU()
	}
	var here sync.WaitGroup
	jobs := queue(together)
	for range workers {
		here.Go(func() { s.work(ctx, r.Place, jobs) })
	}
	here.Wait()
	elsewhere.Wait()
	s.work(ctx, r.Place, queue(alone))
	p := record.Probe{Schema: record.ProbeSchema, Kernel: kernel(), Time: time.Now().UTC(), Findings: s.found}
	return p, ctx.Err()
}

// running is the state of one Runner.Run.
type running struct {
	*Runner
	checks []Check
	found  []record.Finding
	mu     sync.Mutex
	done   int
}

func queue(list []int) <-chan int {
	c := make(chan int, len(list))
	for _, i := range list {
		c <- i
	}
	close(c)
	return c
}

func (s *running) work(ctx context.Context, place Place, jobs <-chan int) {
	for i := range jobs {
		if ctx.Err() != nil {
			return
		}
		f := judge(s.checks[i], place(ctx, s.checks[i]))
		s.mu.Lock()
		s.found[i] = f
		s.done++
		if s.Progress != nil {
			s.Progress(s.done, len(s.checks), f)
		}
		s.mu.Unlock()
	}
}

func kernel() string {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "unknown: " + err.Error()
	}
	return unix.ByteSliceToString(u.Release[:])
}
