package harness

import "github.com/zcbench/zcbench/harness/perfcount"

// perfCounters adds up the hardware counters of the measured thread over the
// stretches in which it works, leaving out those in which memory is sampled.
// Its methods work on nil.
type perfCounters struct {
	counters *perfcount.Counters
	reasons  map[string]string // metric -> why there is none
	totals   map[string]float64
	running  bool
}

func openPerf() *perfCounters {
	c, reasons := perfcount.Open()
	p := &perfCounters{counters: c, reasons: map[string]string{}, totals: map[string]float64{}}
	for k, v := range reasons {
		p.reasons[k] = v
	}
	// The map is filled now, so that nothing is allocated in the window.
	if readings, err := c.Read(); err == nil {
		for _, r := range readings {
			p.totals[r.Metric] = 0
		}
	}
	return p
}

// reset forgets what was counted and starts.
func (p *perfCounters) reset() {
	if p == nil {
		return
	}
	for m := range p.totals {
		p.totals[m] = 0
	}
	p.running = true
	p.resume()
}

func (p *perfCounters) resume() {
	if p == nil || !p.running {
		return
	}
	if err := p.counters.Start(); err != nil {
		p.fail(err)
	}
}

func (p *perfCounters) pause() {
	if p == nil || !p.running {
		return
	}
	if err := p.counters.Stop(); err != nil {
		p.fail(err)
		return
	}
	readings, err := p.counters.Read()
	if err != nil {
		p.fail(err)
		return
	}
	for _, r := range readings {
		if r.Unavailable != "" {
			p.reasons[r.Metric] = r.Unavailable
			continue
		}
		p.totals[r.Metric] += float64(r.Value)
	}
}

// fail gives up on all counters.
func (p *perfCounters) fail(err error) {
	p.running = false
	for m := range p.totals {
		p.reasons[m] = err.Error()
	}
	clear(p.totals)
}

// read returns the totals, and the reasons for those there are none of.
func (p *perfCounters) read() (map[string]float64, map[string]string) {
	for m := range p.reasons {
		delete(p.totals, m)
	}
	return p.totals, p.reasons
}

func (p *perfCounters) notes() []string { return p.counters.Notes() }

func (p *perfCounters) close() {
	if p != nil {
		_ = p.counters.Close() // nothing is written through it
	}
}
