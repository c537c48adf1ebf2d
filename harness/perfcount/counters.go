package perfcount

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// spec is one counter this package offers.
type spec struct {
	metric string
	kind   uint32
	config uint64
}

// dtlbReadMiss is composed as perf_event_open(2) says under PERF_TYPE_HW_CACHE.
const dtlbReadMiss = unix.PERF_COUNT_HW_CACHE_DTLB | unix.PERF_COUNT_HW_CACHE_OP_READ<<8 | unix.PERF_COUNT_HW_CACHE_RESULT_MISS<<16

// specs lists the counters. Cache misses are of the last level; their exact
// meaning is the CPU maker's.
func specs() []spec {
	return []spec{
		{"instructions", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS},
		{"cycles", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CPU_CYCLES},
		{"cache_misses", unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_CACHE_MISSES},
		{"dtlb_misses", unix.PERF_TYPE_HW_CACHE, dtlbReadMiss},
	}
}

// Reading is one counter at the last call of Read.
type Reading struct {
	Metric string
	// Value is the number of events since Start. If Multiplexed it is an
	// estimate: the event had a counter for only Share of the time.
	Value       int64
	Multiplexed bool
	Share       float64 // 0 to 1
	UserOnly    bool    // events in the kernel are not counted
	Unavailable string  // reason why there is no value; empty if there is one
}

// Counters counts events of the thread that opened it.
type Counters struct {
	events   []event
	readings []Reading
}

// Open opens what the machine has of instructions, cycles, cache_misses and
// dtlb_misses on the calling thread: in user and kernel mode if that is
// permitted, else in user mode, which Notes then says. The map gives, for each
// metric that cannot be counted, the reason. The Counters are usable, if
// empty, in any case.
func Open() (*Counters, map[string]string) {
	return open("/", specs(), perfEventOpen)
}

func open(root string, list []spec, perf opener) (*Counters, map[string]string) {
	c := &Counters{}
	unavailable := map[string]string{}
	for _, s := range list {
		userOnly := false
		fd, err := perf(attrOf(s.kind, s.config, userOnly))
		if errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) {
			userOnly = true
			fd, err = perf(attrOf(s.kind, s.config, userOnly))
		}
		if err != nil {
			unavailable[s.metric] = refusal(root, err)
			continue
		}
		c.events = append(c.events, event{fd: fd})
		c.readings = append(c.readings, Reading{Metric: s.metric, UserOnly: userOnly})
	}
	return c, unavailable
}

// Notes says which counters leave out the kernel.
func (c *Counters) Notes() []string {
	var notes []string
	for _, r := range c.readings {
		if r.UserOnly {
			notes = append(notes, r.Metric+" are counted in user mode only: counting the kernel is not permitted")
		}
	}
	return notes
}

// Start begins counting from zero.
func (c *Counters) Start() error {
	for i := range c.events {
		if err := c.events[i].start(); err != nil {
			return fmt.Errorf("start counting %s: %w", c.readings[i].Metric, err)
		}
	}
	return nil
}

// Stop ends counting; Read then gives what was counted.
func (c *Counters) Stop() error {
	for i := range c.events {
		if err := c.events[i].stop(); err != nil {
			return fmt.Errorf("stop counting %s: %w", c.readings[i].Metric, err)
		}
	}
	return nil
}

// Read returns one reading per open counter since Start. The slice is reused by
// the next call.
func (c *Counters) Read() ([]Reading, error) {
	for i := range c.events {
		s, err := c.events[i].since()
		r := &c.readings[i]
		if err != nil {
			return nil, fmt.Errorf("read counter of %s: %w", r.Metric, err)
		}
		r.set(s)
	}
	return c.readings, nil
}

// set fills in what a sample says.
func (r *Reading) set(s sample) {
	n, ok := s.scaled()
	r.Value, r.Multiplexed, r.Share, r.Unavailable = n, s.running != s.enabled, 1, ""
	if s.enabled > 0 {
		r.Share = float64(s.running) / float64(s.enabled)
	}
	if !ok {
		r.Unavailable = "the event never got a counter; another tool may hold them all (the NMI watchdog is one)"
	}
}

// Close closes the counters.
func (c *Counters) Close() error {
	var errs []error
	for i := range c.events {
		errs = append(errs, unix.Close(c.events[i].fd))
	}
	c.events, c.readings = nil, nil
	return errors.Join(errs...)
}
