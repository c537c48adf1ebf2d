package probes

import (
	"errors"
	"fmt"
	"time"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// Payloads of the sends: inline, no more than a device that takes little; and one
// of several packets.
const (
	inlineBytes = 64
	sgeBytes    = 4096
)

// Deadlines: of one wait for completions or for an event of a connection, and of a
// check in seconds.
const (
	waitTime     = 5 * time.Second
	checkSeconds = 20
)

// sendPoint is one way of naming a payload in a send.
type sendPoint struct {
	name, help string
	lane       verbs.Lane
	sges       int
}

// Where it is written down when a buffer should be read.
const (
	sourcePost = "ibv_post_send(3)"
	sourceEx   = "ibv_wr_post(3)"
	sourceCM   = "rdma_connect(3), rdma_accept(3)"
)

var sendPoints = []sendPoint{
	{"copy-post-send-inline", "when ibv_post_send reads a payload marked IBV_SEND_INLINE", verbs.InlineBorrowed, 1},
	{"copy-post-send-inline-list", "when ibv_post_send reads an inline payload of two parts", verbs.InlineBorrowed, 2},
	{"copy-set-inline-data", "when a payload given to ibv_wr_set_inline_data is read; the build is the setter", verbs.InlineEx, 1},
	{"copy-set-inline-data-list", "when a payload given to ibv_wr_set_inline_data_list is read; the build is the setter", verbs.InlineExList, 2},
	{"copy-post-send-sge", "when a registered buffer that an SGE of ibv_post_send names is read", verbs.SGE, 1},
	{"copy-set-sge", "when a registered buffer given to ibv_wr_set_sge is read; the build is the setter", verbs.SendWREx, 1},
}

// privatePoint is one call that hands over private data of a connection.
type privatePoint struct {
	name, help string
	call       verbs.Call
}

var privatePoints = []privatePoint{
	{"copy-connect-private-data", "when rdma_connect reads the private data", verbs.CallConnect},
	{"copy-accept-private-data", "when rdma_accept reads the private data", verbs.CallAccept},
}

func copyPoints() []probe.Check {
	var all []probe.Check
	add := func(name, help, source string, run func(*verbs.Context) record.Finding) {
		all = append(all, probe.Check{
			Sort: record.CopyPointFound, Family: "rdma", Name: name, Help: help, Source: source, Seconds: checkSeconds,
			Run: func() record.Finding { return onDevice(run) },
		})
	}
	for _, p := range sendPoints {
		source := sourcePost
		if p.lane.Info().Ex {
			source = sourceEx
		}
		add(p.name, p.help, source, p.run)
	}
	for _, p := range privatePoints {
		add(p.name, p.help, sourceCM, p.run)
	}
	return all
}

// run makes as many connections as a copy point asks.
func (p privatePoint) run(c *verbs.Context) record.Finding {
	times, err := c.CopyPrivate(p.call, probe.Changes, waitTime)
	return copyFinding(times, callTimes, fmt.Sprintf("%d B of private data", p.call.Room()), err)
}

// run sends as often as a copy point asks.
func (p sendPoint) run(c *verbs.Context) record.Finding {
	cfg := verbs.Config{Lane: p.lane, SGEs: p.sges, Bytes: sgeBytes, Deadline: waitTime}
	if p.lane.Info().Inline {
		limit, err := c.MaxInline()
		if err != nil {
			return failed(err)
		}
		cfg.Bytes = min(inlineBytes, limit/p.sges*p.sges)
		if cfg.Bytes == 0 {
			return record.Finding{Verdict: record.Unsupported, Reason: c.Name + " takes no bytes inline"}
		}
	}
	if p.lane == verbs.InlineExList {
		if f, wrong := wrongSetter(c); wrong {
			return f
		}
	}
	times, err := c.CopySend(cfg, probe.Changes)
	return copyFinding(times, sendTimes, fmt.Sprintf("messages of %d B, the receive posted after the change", cfg.Bytes), err)
}

// wrongSetter is the finding of a list setter that does not send what it is given:
// when it would have read the buffer cannot be told.
func wrongSetter(c *verbs.Context) (record.Finding, bool) {
	s, err := c.ProbeSetters()
	if err != nil {
		return failed(err), true
	}
	if s.InlineList == nil {
		return record.Finding{}, false
	}
	f := failed(s.InlineList)
	if f.Verdict == record.Inconclusive {
		f.Reason, f.Evidence = "the setter sends other bytes than it is given", s.InlineList.Error()
	}
	return f, true
}

// timeName is a time of a change, and the step's name in the record.
type timeName struct {
	when verbs.When
	name string
}

var sendTimes = []timeName{
	{verbs.BeforeBuild, probe.BeforeBuild}, {verbs.AfterBuild, probe.AfterBuild},
	{verbs.AfterPost, probe.AfterPost}, {verbs.AfterCompletion, probe.AfterCompletion},
}

var callTimes = []timeName{
	{verbs.BeforeBuild, probe.BeforeCall}, {verbs.AfterPost, probe.AfterCall}, {verbs.AfterCompletion, probe.AfterCompletion},
}

// copyFinding classifies what was counted, or says what ended the counting. how
// says what was done.
func copyFinding(times verbs.Times, names []timeName, how string, err error) record.Finding {
	steps := make([]record.Step, len(names))
	partly := 0
	for i, n := range names {
		a := times[n.when]
		steps[i] = record.Step{Name: n.name, Changed: a.Changed, Arrived: a.Arrived}
		partly += a.Partly
	}
	if err != nil && steps[0].Changed == 0 {
		return failed(err)
	}
	if partly > 0 {
		how += fmt.Sprintf("; %d arrived in part", partly)
	}
	f := probe.CopyFinding(steps)
	if err != nil {
		f = failed(err)
		f.Steps = steps
	}
	f.Evidence = how
	return f
}

// onDevice runs f on the first active device.
func onDevice(f func(*verbs.Context) record.Finding) record.Finding {
	c, err := verbs.Open("")
	if err != nil {
		return failed(err)
	}
	found := f(c)
	if err := c.Close(); err != nil && found.Reason == "" {
		found.Verdict, found.Reason = record.Inconclusive, err.Error()
	}
	return found
}

// failed is the finding of a probe that could not be carried through: what the
// device or the library does not do is unsupported, anything else tells nothing.
func failed(err error) record.Finding {
	f := record.Finding{Verdict: record.Inconclusive, Reason: err.Error()}
	var u *verbs.Unsupported
	if errors.As(err, &u) || errors.Is(err, verbs.ErrUnavailable) {
		f.Verdict = record.Unsupported
	}
	return f
}
