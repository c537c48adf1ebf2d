package harness

import (
	"fmt"
	"strconv"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
	"golang.org/x/sys/unix"
)

// MaxClients is how many clients the hard limit of open files allows a trial; its
// processes raise their soft limit to it. 0: it is not known.
func MaxClients() int {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	return max(1, int(min(l.Max, 1<<30))-load.SpareFiles)
}

// speaking are the sockets over which anything ever comes: nothing waits in those
// of clients that never speak, and to look at thousands of them takes its time.
func (b *Bench) speaking() []int {
	w := b.Trial.Workload
	quiet := load.Quiet(w)
	if quiet == nil || w.QuietTraffic > 0 {
		return b.FDs
	}
	var fds []int
	for c, fd := range b.FDs {
		if !quiet[c] {
			fds = append(fds, fd)
		}
	}
	return fds
}

// clientAxis is the axis of the clients. Where `most` of them are more than the
// limit allows (0: no limit) the point has as many as it does, and its id tells
// how many: its results are not those of the number in the file.
func clientAxis(values []scenarios.Clients, limit int) []axis {
	out := axisOf("clients", values, scenarios.Clients.Label, func(w *record.Workload, v scenarios.Clients) { w.Clients = v.N })
	for i, v := range values {
		if v.Most && limit > 0 && v.N > limit {
			out[i] = axis{"clients", strconv.Itoa(limit), func(w *record.Workload) { w.Clients = limit }, true}
		}
	}
	return out
}

// limitClients refuses numbers of clients that the limit does not allow, and
// notes those it has lowered.
func (p *Plan) limitClients(limit int) error {
	if limit == 0 {
		return nil
	}
	values := p.Scenario.Workload.Clients
	for i, v := range values {
		if v.N <= limit {
			continue
		}
		if !v.Most {
			at := "workload.clients"
			if len(values) > 1 {
				at = fmt.Sprintf("%s[%d]", at, i)
			}
			return p.Scenario.Errorf(at, "%d clients are more than the hard limit of open files allows, %d: %s; or write {most: %d} for as many as it allows",
				v.N, limit, load.RaiseFiles, v.N)
		}
		p.Notes = append(p.Notes, fmt.Sprintf("clients: %d in place of %d, as the hard limit of open files allows no more; to have all, %s", limit, v.N, load.RaiseFiles))
	}
	return nil
}
