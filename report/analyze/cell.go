package analyze

import (
	"fmt"
	"slices"

	"github.com/zcbench/zcbench/harness/record"
)

// cell is the figure of metric m of case c, with its effect against the case's
// reference.
func (r *run) cell(c *caseData, m record.Metric) Cell {
	cell := Cell{Metric: m.Name, Unit: m.Unit, Per: m.Per}
	os := c.observe(m)
	if len(os) == 0 {
		cell.Unavailable = c.missing(m)
		return cell
	}
	cell.fill(m, os, r.alpha)
	if b := r.reference(c); b != nil && b != c {
		cell.Effect = effect(m, os, b.observe(m), Ratio, r.alpha)
	}
	if r.nearFloor(c, m, cell.Median) {
		cell.Marks = append(cell.Marks, MarkNearFloor)
	}
	if r.guestTimed(c, m) {
		cell.Marks = append(cell.Marks, MarkGuestSyscall)
	}
	return cell
}

// fill sets the value of the cell: the exact count where the trials of each
// seed agree, else the median over trials with its interval.
func (c *Cell) fill(m record.Metric, os []obs, alpha float64) {
	c.N = len(os)
	var values []float64
	for _, o := range os {
		values = append(values, o.float())
		c.Samples = append(c.Samples, Sample{o.block, o.repeat, o.float()})
	}
	if m.Kind == record.Exact {
		if _, ok := exactCounts(os); ok {
			c.Num, c.Den, c.Exact = pool(os, func(uint64) bool { return true })
		}
		if c.Exact {
			c.Median = float64(c.Num) / float64(c.Den)
			if c.N == 1 {
				c.Marks = append(c.Marks, MarkOnce)
			}
			return
		}
		c.Marks = append(c.Marks, MarkDemoted)
	}
	e := MedianInterval(values, alpha)
	c.Median = e.Value
	if e.HasInterval {
		c.HasInterval, c.Lo, c.Hi, c.Level = true, e.Lo, e.Hi, e.Level
	}
}

// guestTimed reports whether a timed metric of the case rests on guest trials
// whose window saw a system call or a fault: those cost tens of microseconds in
// a guest, so such timings decide nothing.
func (r *run) guestTimed(c *caseData, m record.Metric) bool {
	if r.class != "guest" || purposeOf(m) != record.Timing {
		return false
	}
	return slices.ContainsFunc(c.used, func(t *record.TrialLine) bool {
		return t.Trial.Purpose == record.Timing && (t.Record.Window.Syscalls > 0 || t.Record.Window.MinorFaults > 0)
	})
}

// described lists the metrics of the report: the scenario's columns, then every
// other metric some trial reports or says it cannot.
func (r *run) described() (metrics []record.Metric, columns []string) {
	seen := map[string]bool{}
	for _, name := range r.res.Header.Scenario.Metrics {
		if seen[name] {
			continue
		}
		seen[name] = true
		m, ok := r.metrics[name]
		if !ok {
			m = record.Metric{Name: name, Unit: record.UnitOne, Kind: record.Sampled, Purpose: record.Timing,
				Help: "not described in the result file"}
		}
		metrics, columns = append(metrics, m), append(columns, name)
	}
	reported := map[string]bool{}
	for _, c := range r.cases {
		for _, t := range c.used {
			for name := range t.Record.Metrics {
				reported[name] = true
			}
			for name := range t.Record.Unavailable {
				reported[name] = true
			}
		}
	}
	for _, m := range r.res.Header.Metrics {
		if reported[m.Name] && !seen[m.Name] {
			metrics = append(metrics, m)
		}
	}
	return metrics, columns
}

// caseMarks says what befell the trials of a case.
func (c *caseData) caseMarks() []string {
	var out []string
	of := map[record.Purpose]int{record.Timing: c.counts.Timing, record.Counting: c.counts.Counting}
	for k, n := range c.marks {
		kind := ""
		if k.purpose != record.Timing {
			kind = " " + string(k.purpose)
		}
		out = append(out, fmt.Sprintf("%s (%d of %d%s)", k.mark, n, of[k.purpose], kind))
	}
	slices.Sort(out)
	if c.tainted.mark != "" {
		out = append(out, c.tainted.mark)
	}
	return out
}
