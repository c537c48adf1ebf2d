package guest

import (
	"context"
	"errors"
	"time"

	"github.com/zcbench/zcbench/harness/probe"
)

// probeGrace is added to a check's deadline: a process takes longer to start in a
// guest.
const probeGrace = 2 * time.Second

// Probes is a place for checks: each gets a process in the guest, which is booted
// if there is none. A guest that does not boot is not tried again.
func (e *Executor) Probes() probe.Place {
	var refused error
	return func(ctx context.Context, c probe.Check) probe.Outcome {
		if refused != nil {
			return probe.Outcome{Err: refused, Class: class}
		}
		g, err := e.Guest(ctx)
		if err != nil {
			refused = err
			return probe.Outcome{Err: err, Class: class}
		}
		return probeIn(ctx, g, c)
	}
}

func probeIn(ctx context.Context, g *Guest, c probe.Check) probe.Outcome {
	p := Program{Argv: []string{g.Program(), probe.ChildCommand, c.Name}, Env: probe.Environment(g.Env())}
	r, err := g.Exec(ctx, Command{Program: p, Timeout: c.Deadline() + probeGrace})
	o := probe.Outcome{Answer: r.Answer, Stderr: r.Stderr, TimedOut: r.TimedOut, Ended: r.Err(), Class: class}
	var dead *DeadError
	switch {
	case errors.As(err, &dead):
		o.Ended, o.Stderr = dead, said(r.Stderr, dead.Console)
	case err != nil:
		o.Err = err
	}
	return o
}

// class of what is found in a guest.
const class = "guest"
