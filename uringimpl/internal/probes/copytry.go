package probes

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/uringimpl/internal/ring"
)

// moment is when a try changes the buffer. A zero-copy send has two between its
// post and its completion, which is the notification: before and after its result.
type moment int

const (
	beforeBuild moment = iota
	afterBuild
	afterPost // of a zero-copy send: before its result
	afterResult
	afterCompletion
)

var (
	preparedMoments = []struct {
		name string
		when moment
	}{
		{probe.BeforeBuild, beforeBuild}, {probe.AfterBuild, afterBuild},
		{probe.AfterPost, afterPost}, {probe.AfterCompletion, afterCompletion},
	}
	callMoments = []struct {
		name string
		when moment
	}{
		{probe.BeforeCall, beforeBuild}, {probe.AfterCall, afterPost}, {probe.AfterCompletion, afterCompletion},
	}
)

// errMissed means that a try came out such that it shows nothing: the socket was
// not in the state it was to be in, or the message had left before the change.
var errMissed = errors.New("the moment was missed")

// missable bounds the tries that may show nothing, for each that does.
const missable = 2

const (
	original = 'a'
	changed  = 'b'
	filler   = '.'
)

func (c copyCase) run(changes int) record.Finding {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	moments := preparedMoments
	if c.call.plain != nil {
		moments = callMoments
	}
	var steps []record.Step
	var seen copied
	parts := ""
	for _, m := range moments {
		s := record.Step{Name: m.name}
		var err error
		if m.when == afterPost && c.call.zeroCopy {
			s, parts, err = c.bothHalves(&seen, changes)
		} else {
			err = c.step(&s, &seen, m.when, changes)
		}
		if err != nil {
			return brokenCopy(err)
		}
		steps = append(steps, s)
	}
	f := probe.CopyFinding(steps)
	if c.call.zeroCopy {
		f.Evidence = join(f.Evidence, parts, seen.String())
	}
	return f
}

// bothHalves is the step between post and notification of a zero-copy send: half
// of its changes are made before the result, half after it.
func (c copyCase) bothHalves(seen *copied, changes int) (all record.Step, parts string, err error) {
	early, late := record.Step{Name: "before its result"}, record.Step{Name: "after its result"}
	if err = c.step(&early, seen, afterPost, (changes+1)/2); err == nil {
		err = c.step(&late, seen, afterResult, changes/2)
	}
	all = record.Step{Name: probe.AfterPost, Changed: early.Changed + late.Changed, Arrived: early.Arrived + late.Arrived}
	parts = fmt.Sprintf("of these %d of %d made before the result and %d of %d made after it", early.Arrived, early.Changed, late.Arrived, late.Changed)
	return all, parts, err
}

func brokenCopy(err error) record.Finding {
	var no refusal
	if errors.As(err, &no) {
		return record.Finding{Verdict: record.Unsupported, Reason: no.Error()}
	}
	return record.Finding{Verdict: record.Inconclusive, Reason: err.Error()}
}

func join(texts ...string) string {
	var b bytes.Buffer
	for _, t := range texts {
		if b.Len() > 0 && t != "" {
			b.WriteString("; ")
		}
		b.WriteString(t)
	}
	return b.String()
}

// copied counts what notifications said.
type copied struct{ notices, yes int }

func (c copied) String() string {
	return fmt.Sprintf("%d of %d notifications say that the bytes were copied after all", c.yes, c.notices)
}

// step changes the buffer at one moment of many tries over one connection.
func (c copyCase) step(s *record.Step, seen *copied, when moment, changes int) error {
	g := newCopyRig(c)
	missed := 0
	for g.err == nil && s.Changed < changes && missed <= missable*changes {
		arrived, err := g.try(when)
		if errors.Is(err, errMissed) {
			missed++
			continue
		}
		if err != nil {
			return errors.Join(err, g.close())
		}
		s.Changed++
		if arrived {
			s.Arrived++
		}
	}
	seen.notices += g.notices
	seen.yes += g.copied
	return g.close()
}

// try sends one message, changing the buffer at one moment, and tells whether the
// change arrived. It leaves the connection empty.
func (g *copyRig) try(when moment) (arrived bool, err error) {
	change := func(now moment) {
		if now == when {
			copy(g.message, bytes.Repeat([]byte{changed}, copyMessage))
		}
	}
	copy(g.message, bytes.Repeat([]byte{original}, copyMessage))
	s := &stretch{g: g}
	if g.state != withRoom {
		if s.backlog, err = g.clog(); err != nil {
			return false, err
		}
	}
	if g.call.plain != nil {
		err = g.tryCall(s, change)
	} else {
		err = g.tryRequest(s, change)
	}
	if err != nil && !errors.Is(err, errMissed) {
		return false, err
	}
	if when == afterCompletion && s.taken > s.backlog {
		err = errMissed // the peer had read a part of it by then
	}
	if finish := s.readTo(s.backlog + copyMessage + s.behind); finish != nil {
		return false, finish
	}
	return bytes.IndexByte(s.message, changed) >= 0, err
}

func (g *copyRig) tryCall(s *stretch, change func(moment)) error {
	change(beforeBuild)
	n, err := g.call.plain(g.tx, g.message)
	change(afterPost)
	if err != nil || n != copyMessage {
		return fmt.Errorf("%s of %d bytes: %d, %w", g.call.source, copyMessage, n, err)
	}
	// The peer has it: nothing is on its way any more.
	if err := s.waitReadable(copyMessage); err != nil {
		return err
	}
	change(afterCompletion)
	return nil
}

func (g *copyRig) tryRequest(s *stretch, change func(moment)) error {
	change(beforeBuild)
	e := g.ring.Next()
	if e == nil {
		return errors.New("the submission ring is full")
	}
	g.fillIn(e)
	change(afterBuild)
	if err := g.ring.Enter(0, 0, true); err != nil {
		return err
	}
	var missed error
	if a, _ := g.ring.Completions(); g.state == whenFull && len(a) > 0 {
		missed = errMissed // it did not wait
	}
	change(afterPost)
	more, err := g.result(s)
	if err != nil {
		return err
	}
	change(afterResult)
	if more && g.call.zeroCopy {
		if err := g.notification(s); err != nil {
			return err
		}
	}
	change(afterCompletion)
	return missed
}

// result waits for the request's result; more says that a notification follows.
func (g *copyRig) result(s *stretch) (more bool, err error) {
	c, err := s.completion(false)
	if err != nil {
		return false, err
	}
	more = c.Flags&ring.CQEMore != 0
	switch {
	case c.Res == copyMessage:
		return more, nil
	case c.Res == -int32(unix.EINVAL), c.Res == -int32(unix.EOPNOTSUPP):
		return more, refusal{"this request on this socket", unix.Errno(-c.Res)}
	case c.Res < 0:
		return more, fmt.Errorf("%s: %w", g.call.source, unix.Errno(-c.Res))
	}
	return more, fmt.Errorf("%s took %d of %d bytes", g.call.source, c.Res, copyMessage)
}

func (g *copyRig) notification(s *stretch) error {
	c, err := s.completion(true)
	if err != nil {
		return err
	}
	if c.Flags&ring.CQENotif == 0 {
		return fmt.Errorf("%s: a second completion that is no notification: %v", g.call.source, c)
	}
	g.notices++
	if uint32(c.Res)&ring.NotifCopied != 0 {
		g.copied++
	}
	return nil
}

// clog fills the connection to the state asked for, and tells with how many bytes.
// It is filled when it has stayed so for a while: what is on its way makes room.
func (g *copyRig) clog() (bytesIn int, err error) {
	p := bytes.Repeat([]byte{filler}, copyMessage)
	if g.state == whenQueued {
		p = bytes.Repeat(p, 32) // little segments would not fit the peer's buffer, and be sent again
	}
	for still := 0; still < 2; {
		n, err := unix.SendmsgN(g.tx, p, nil, nil, unix.MSG_DONTWAIT)
		switch {
		case err == nil && n > 0:
			bytesIn += n
			still = 0
			if g.state == whenQueued && bytesIn >= 2*copyPeerBytes*2 {
				return bytesIn, nil
			}
		case err == unix.EAGAIN:
			still++
			time.Sleep(200 * time.Microsecond)
		case err != unix.EINTR:
			return bytesIn, fmt.Errorf("fill the socket: %w", err)
		}
	}
	if g.state == whenQueued {
		return bytesIn, fmt.Errorf("the socket took only %d bytes", bytesIn)
	}
	return bytesIn, nil
}
