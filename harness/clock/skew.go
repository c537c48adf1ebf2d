package clock

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// skewRounds is how many stamps each CPU takes. At some 200 ns for a round it
// ends within milliseconds.
const skewRounds = 10_000

// SyncSkewNS returns the most that stamps ran backwards between the first two
// CPUs this thread may run on, in nanoseconds; 0 when they never did. A skew
// below the time a cache line takes between the CPUs cannot be seen, nor can it
// reorder cause and effect. It is an error if there is only one CPU.
func (c *Clock) SyncSkewNS() (int64, error) {
	a, b, err := firstTwoCPUs()
	if err != nil {
		return 0, err
	}
	ticks, err := backwards(a, b, func(int) uint64 { return c.Now() })
	if err != nil {
		return 0, err
	}
	return c.NS(ticks), nil
}

func firstTwoCPUs() (a, b int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, 0, fmt.Errorf("read CPU affinity: %w", err)
	}
	a = -1
	for cpu := range len(set) * 64 {
		switch {
		case !set.IsSet(cpu):
		case a < 0:
			a = cpu
		default:
			return a, cpu, nil
		}
	}
	return 0, 0, errors.New("only one CPU may be used, so there is nothing to compare")
}

// warp is the state two CPUs share: the last stamp either took. As in the
// kernel's own test (arch/x86/kernel/tsc_sync.c, check_tsc_warp) every stamp
// must be at least the one before, whoever took it; here they take turns, so
// that one cannot finish before the other begins.
type warp struct {
	turn atomic.Uint32 // 0 or 1: who reads next
	_    [60]byte
	last uint64
	max  uint64
}

// round waits for its turn, takes a stamp and passes the turn on.
func (w *warp) round(me uint32, read func() uint64) {
	for spins := 1; w.turn.Load() != me; spins++ {
		if spins%1000 == 0 {
			runtime.Gosched() // with one processor only, the other must get it
		}
	}
	now := read()
	if now < w.last {
		w.max = max(w.max, w.last-now)
	}
	w.last = now
	w.turn.Store(1 - me)
}

// backwards returns the largest step back, in ticks, between stamps taken in
// turn on CPUs a and b.
func backwards(a, b int, read func(cpu int) uint64) (uint64, error) {
	var (
		w    warp
		wg   sync.WaitGroup
		errs [2]error
		pair sync.WaitGroup // both have tried to pin themselves
	)
	pair.Add(2)
	for i, cpu := range [2]int{a, b} {
		wg.Go(func() {
			restore, err := pin(cpu)
			errs[i] = err
			pair.Done()
			pair.Wait()
			if err == nil {
				defer restore()
			}
			if errs[0] != nil || errs[1] != nil {
				return
			}
			for range skewRounds {
				w.round(uint32(i), func() uint64 { return read(cpu) })
			}
		})
	}
	wg.Wait()
	return w.max, errors.Join(errs[:]...)
}

// pin ties the goroutine's thread to cpu until restore is called.
func pin(cpu int) (restore func(), err error) {
	runtime.LockOSThread()
	var old, set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &old); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("read CPU affinity: %w", err)
	}
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("pin a thread to CPU %d: %w", cpu, err)
	}
	return func() {
		// If the old mask is refused the thread stays locked and dies with the goroutine.
		if unix.SchedSetaffinity(0, &old) == nil {
			runtime.UnlockOSThread()
		}
	}, nil
}
