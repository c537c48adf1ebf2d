package probes

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// limit is a bound of the kernel that is found by going up to it. try returns the
// largest value that worked and what was seen beyond it.
type limit struct {
	name, family, unit string
	source             string
	help               string
	seconds            int
	memory             int64 // bytes it may map; 0: little
	try                func() (value int64, evidence string, err error)
}

func (l limit) check() probe.Check {
	return probe.Check{
		Sort: record.LimitFound, Family: l.family, Name: l.name, Unit: l.unit, Source: l.source, Help: l.help,
		Seconds: l.seconds, MemoryBytes: l.memory, Exclusive: true, // an ordinary user's locked memory is shared by all
		Run: func() record.Finding {
			value, evidence, err := l.try()
			var no refusal
			switch {
			case errors.As(err, &no) && !errors.Is(err, unix.ENOMEM):
				return record.Finding{Verdict: record.Unsupported, Reason: no.Error()}
			case err != nil:
				return record.Finding{Verdict: record.Inconclusive, Reason: err.Error(), Evidence: evidence}
			}
			return record.Finding{Verdict: record.LimitIs, Value: value, Evidence: evidence}
		},
	}
}

// largest finds the largest value of 1 to bound that works, by doubling and then
// halving the gap. It returns the error of the value above it, nil where even bound
// works, and 0 where 1 does not.
func largest(bound int64, works func(int64) error) (value int64, beyond error) {
	low, high := int64(0), int64(1)
	for high < bound {
		if beyond = works(high); beyond != nil {
			break
		}
		low, high = high, min(high*2, bound)
	}
	if beyond == nil {
		if beyond = works(high); beyond == nil {
			return high, nil
		}
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		if err := works(mid); err != nil {
			high, beyond = mid, err
		} else {
			low = mid
		}
	}
	return low, beyond
}

// newRing is ring.New, tried again while the memory of rings before is not given
// back yet.
func newRing(sq, cq int) (r *ring.Ring, err error) {
	for range maxSettling {
		if r, err = ring.New(sq, cq); !errors.Is(err, unix.ENOMEM) {
			return r, err
		}
		time.Sleep(settling)
	}
	return nil, err
}

// starved says that memory ended a search, not the kernel's limit: an ordinary
// user's rings and registered buffers count against the memory he may lock.
func starved(beyond error, at int64) error {
	if !errors.Is(beyond, unix.ENOMEM) {
		return nil
	}
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil {
		return fmt.Errorf("getrlimit RLIMIT_MEMLOCK: %w", err)
	}
	return fmt.Errorf("memory ran out beyond %d, with RLIMIT_MEMLOCK at %d B: as root, whom that does not bind, it may go further", at, l.Cur)
}

func limits() []probe.Check {
	var out []probe.Check
	for _, l := range append(append(ringLimits(), bufferLimits()...), machineLimits()...) {
		out = append(out, l.check())
	}
	return out
}
