package load

import (
	"slices"

	"github.com/zcbench/zcbench/harness/record"
)

// Verdicts on what limited a trial.
const (
	LimitedNone      = "none"
	LimitedGenerator = "generator"
	LimitedReceiver  = "receiver"
)

// report sums up the window, which took wall ns and cpu ns of the thread.
func (g *generator) report(wall, cpu int64) record.Generator {
	r := record.Generator{
		CPUNS: cpu, WallNS: wall,
		BlockedNS: g.clk.NS(g.blocked), BlockedSends: g.stuck, IdleNS: g.clk.NS(g.idle),
		AchievedHz: float64(g.trial.Messages) / (float64(max(wall, 1)) / 1e9),
	}
	for _, size := range g.sched.Size[g.sched.Warmup:] {
		r.Messages++
		r.Bytes += int64(size)
	}
	if len(g.late) > 0 {
		slices.Sort(g.late)
		r.LateP50NS = g.late[len(g.late)/2]
		r.LateP99NS = g.late[len(g.late)*99/100]
	}
	if g.trial.Workload.Load.Mode == "open" {
		// A window's own length varies with the gaps drawn; the rate offered is that of its schedule.
		at := g.sched.At
		if span := g.clk.NS(at[len(at)-1] - at[g.sched.Warmup]); span > 0 {
			r.OfferedHz = float64(g.trial.Messages) / (float64(span) / 1e9)
		}
	}
	r.Limited = Limited(g.trial.Workload.Load.Mode, r)
	return r
}

// Limited tells whether the generator or the receiver kept a window from its
// offered load.
//
// Open loop: a window that took 2 % (and 1 ms) longer than its schedule was
// held up by full sockets (receiver) or by the generator itself. A generator
// whose median message left more than 100 us late by its own doing is the limit
// too, since latency counts from the intended time. Closed loop: a generator
// that spent under 2 % of the window waiting, for acknowledgements or for room
// in a socket, never waited for the receiver. Lockstep is never limited.
//
// A unix socket is full when its sender's buffer is, a tcp socket when both are.
// Over udp nothing ever blocks for want of room at the receiver: a window that was
// held up was held up by the generator, and a receiver that falls behind loses
// datagrams, which fails its trial.
func Limited(mode string, r record.Generator) string {
	switch mode {
	case "open":
		due := float64(r.Messages) / r.OfferedHz * 1e9
		excess := float64(r.WallNS) - due
		behind := r.OfferedHz > 0 && excess > 0.02*due && excess > 1e6
		switch {
		case behind && float64(r.BlockedNS) >= excess/2:
			return LimitedReceiver
		case behind, r.LateP50NS > 100_000:
			return LimitedGenerator
		case float64(r.BlockedNS) > 0.2*float64(r.WallNS):
			return LimitedReceiver
		}
	case "closed":
		if float64(r.IdleNS+r.BlockedNS) < 0.02*float64(r.WallNS) {
			return LimitedGenerator
		}
	}
	return LimitedNone
}
