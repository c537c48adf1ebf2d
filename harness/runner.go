package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// maxReruns is how often a trial is run again because its generator was the limit.
const maxReruns = 2

// Out is where a run writes what it finished; *record.Writer is the real one.
type Out interface {
	Trial(record.TrialLine) error
	Skip(record.Skip) error
	Warning(string) error
}

// Event tells of a finished trial, for progress.
type Event struct {
	Done, Planned int
	Line          record.TrialLine
}

// Runner carries a plan out, one trial at a time.
type Runner struct {
	Plan     *Plan
	Registry Registry
	Exec     Executor
	Out      Out
	Probe    func(capability string) (reason, remedy string) // "" reason: there
	Found    *record.Probe                                   // of the machine the trials run on; nil: not found out
	Progress func(Event)
	Since    func() time.Duration // since the run began
	// For is how long after the start further blocks are begun; 0: none are.
	For time.Duration
	// Asleep is how long the machine has been suspended so far; nil: its clocks tell.
	Asleep func() time.Duration
	// Finished is what an interrupted run has written that is being resumed; nil:
	// nothing. What it measured is not measured again, failed or not.
	Finished *record.Result
}

// Summary counts what became of a plan's trials, those a resumed run found
// finished included.
type Summary struct {
	Trials      int // lines of the result, reruns included
	Failed      int
	Invalid     int
	NotRun      int // left out because their case's verification failed
	Skipped     []record.Skip
	Interrupted bool
	ExtraBlocks int    // begun beyond the plan's
	FirstFailed string // what failed first
}

// run is the state of one Runner.Run.
type run struct {
	*Runner
	sum      Summary
	past     record.Result      // what a resumed run has written
	capacity map[string]float64 // messages per second, by point
	broken   map[string]string  // cases whose verification failed, and why
	unfit    map[string]bool    // cases the device does not do, as their verify trial said
	skipped  map[string]bool    // cases
	done     int
	planned  int // trials, those of further blocks begun included
}

// Run carries the plan out. It returns an error only when the results cannot be
// written; trials that fail are in the summary.
func (r *Runner) Run(ctx context.Context) (Summary, error) {
	s := &run{Runner: r, capacity: map[string]float64{}, broken: map[string]string{}, unfit: map[string]bool{}, skipped: map[string]bool{}}
	if r.Asleep == nil {
		r.Asleep = asleep
	}
	if r.Finished != nil {
		s.past = *r.Finished
	}
	for _, l := range s.past.Trials {
		s.count(l)
	}
	s.planned = len(r.Plan.Trials)
	if err := s.skip(); err != nil {
		return s.sum, err
	}
	finished, attempts := finishedTrials(s.past.Trials)
	if err := s.all(ctx, r.Plan.Trials, finished, attempts); err != nil {
		return s.sum, err
	}
	if err := s.further(ctx, finished, attempts); err != nil {
		return s.sum, err
	}
	return s.sum, s.tellBroken()
}

// all runs trials in order, but for what is finished, until it is interrupted.
func (s *run) all(ctx context.Context, trials []record.Trial, finished map[string]record.TrialLine, attempts map[string]int) error {
	for _, t := range trials {
		t, ok := s.possible(t)
		if !ok {
			s.done++
			continue
		}
		if l, ok := finished[t.ID]; ok {
			s.learn(l)
			s.done++
			continue
		}
		if err := s.trial(ctx, t, attempts[t.ID]); err != nil || s.sum.Interrupted {
			return err
		}
	}
	return nil
}

// further runs blocks beyond the plan's until the time is over. A block that was
// begun is brought to its end, since its trials are paired.
func (s *run) further(ctx context.Context, finished map[string]record.TrialLine, attempts map[string]int) error {
	begun := 0
	for _, l := range s.past.Trials {
		begun = max(begun, l.Trial.Block+1)
	}
	own := s.Plan.Blocks()
	order := len(s.Plan.Trials)
	for b := own; s.For > 0 && own > 0 && !s.sum.Interrupted && (b < begun || s.Since() < s.For); b++ {
		trials := s.Plan.Block(b, order)
		order += len(trials)
		s.planned = order
		s.sum.ExtraBlocks++
		written := s.sum.Trials
		if err := s.all(ctx, trials, finished, attempts); err != nil {
			return err
		}
		if b >= begun && s.sum.Trials == written {
			return nil // nothing can be run here, however often
		}
	}
	return nil
}

// finishedTrials sorts the lines of an interrupted run: the trials that need not
// be run again, failed ones among them, and how many attempts the others had.
func finishedTrials(lines []record.TrialLine) (finished map[string]record.TrialLine, attempts map[string]int) {
	finished, attempts = map[string]record.TrialLine{}, map[string]int{}
	for _, l := range lines {
		if l.Invalid == "" || l.Trial.Attempt >= maxReruns {
			finished[l.Trial.ID] = l
		}
		attempts[l.Trial.ID] = l.Trial.Attempt + 1
	}
	return finished, attempts
}

// possible says whether a trial can be run here. The capacity of a point is
// measured with the first case that can, where the baseline cannot.
func (s *run) possible(t record.Trial) (record.Trial, bool) {
	if !s.skipped[t.Case] {
		return t, true
	}
	if t.Purpose != record.Capacity {
		return t, false
	}
	for _, c := range s.Plan.Cases {
		if c.Point == t.Point && !s.skipped[c.ID] {
			t.Case, t.Strategy, t.Params, t.Build, t.Command = c.ID, c.Strategy, c.Values, c.Build, c.Command
			t.ID = trialID(c.ID, t.Purpose, t.Block, t.Repeat)
			return t, true
		}
	}
	return t, false
}

// skip writes down the cases that cannot be measured here.
func (s *run) skip() error {
	told := map[string]bool{}
	for _, k := range s.past.Skips {
		told[k.Case] = true
		s.sum.Skipped = append(s.sum.Skipped, k)
	}
	for _, c := range s.Plan.Cases {
		k, lacks := s.lacking(c)
		if !lacks {
			continue
		}
		s.skipped[c.ID] = true
		if told[k.Case] {
			continue
		}
		told[k.Case] = true
		s.sum.Skipped = append(s.sum.Skipped, k)
		if err := s.Out.Skip(k); err != nil {
			return err
		}
	}
	return nil
}

// lacking says what a case needs that is not there.
func (s *run) lacking(c Case) (record.Skip, bool) {
	if c.Missing != nil {
		return record.Skip{Case: c.Label, Reason: c.Missing.Reason, Remedy: c.Missing.Remedy}, true
	}
	st, _ := s.Registry.Find(c.Strategy)
	if st.Needs != "" {
		if reason, remedy := s.Probe(st.Needs); reason != "" {
			return record.Skip{Case: c.Label, Reason: reason, Remedy: remedy, Needs: st.Needs}, true
		}
	}
	if f, wrong := faultOf(s.Found, c.Strategy, c.Values, s.Plan.Points[c.point].Workload); wrong {
		return faultSkip(c, f), true
	}
	return record.Skip{}, false
}

// trial runs one trial, again if its generator was the limit, and writes every
// attempt down.
func (s *run) trial(ctx context.Context, t record.Trial, attempt int) error {
	if t.Purpose != record.Verify && s.unfit[t.Case] {
		s.done++ // its skip is told
		return nil
	}
	if _, ok := s.broken[t.Case]; ok && t.Purpose != record.Verify {
		s.sum.NotRun++
		s.done++
		return nil
	}
	for ; ; attempt++ {
		if ctx.Err() != nil {
			s.sum.Interrupted = true
			return nil
		}
		t.Attempt = attempt
		line := s.attempt(ctx, t)
		if ctx.Err() != nil && line.Record.Status != record.OK {
			// Aborted by the user: it was not measured and did not fail.
			s.sum.Interrupted = true
			return nil
		}
		again := line.Invalid != "" && attempt < maxReruns
		if !again {
			s.done++
		}
		if err := s.write(line); err != nil {
			return err
		}
		if !again {
			return nil
		}
	}
}

func (s *run) attempt(ctx context.Context, t record.Trial) record.TrialLine {
	line := record.TrialLine{StartedNS: s.Since().Nanoseconds()}
	slept := s.Asleep()
	t, err := s.rated(t)
	var x Execution
	if err != nil {
		x = failed(t, err)
	} else {
		x = s.Exec.Run(ctx, t)
	}
	line.Trial, line.Record, line.Generator = t, x.Record, x.Generator
	line.Stderr, line.Exit = x.Stderr, x.Exit
	line.EndedNS = s.Since().Nanoseconds()
	judge(&line)
	suspended(&line, s.Asleep()-slept)
	return line
}

// rated gives an open load its rate in messages per second, and turns a hold by
// time into messages where a trial runs in lockstep.
func (s *run) rated(t record.Trial) (record.Trial, error) {
	w := &t.Workload
	lockstep := w.Load.Mode == load.Lockstep
	if w.Load.RateHz == 0 && (lockstep || w.Load.Mode == "open") {
		c, ok := s.capacity[t.Point]
		if !ok && (!lockstep || w.HoldNS > 0) && t.Purpose != record.Floor {
			return t, fmt.Errorf("trial %s has no rate: the capacity of its point was not measured", t.ID)
		}
		if w.Load.RateHz = c; w.Load.Fraction > 0 {
			w.Load.RateHz *= w.Load.Fraction
		}
	}
	if lockstep && w.HoldNS > 0 {
		// Little's law: what is in hand is the rate times the time it is held.
		w.HoldMessages, w.HoldNS = max(1, int(w.Load.RateHz*float64(w.HoldNS)/1e9)), 0
	}
	return t, nil
}

// judge marks a finished trial by what its generator and its own figures say.
func judge(l *record.TrialLine) {
	if l.Record.Status != record.OK {
		return
	}
	t := l.Trial
	if t.Workload.Kind != record.KindReceive {
		return // what cases of other kinds did is compared between them
	}
	want := load.NewSchedule(t).Fingerprint(t.Seed)
	if l.Record.Fingerprint != want {
		l.Record.Status = record.Failed
		l.Record.Error = fmt.Sprintf("the work does not match: %+v received, %+v sent", l.Record.Fingerprint, want)
		return
	}
	g := l.Generator
	if g == nil {
		return
	}
	fillSent(&l.Record, t.Purpose, g)
	switch g.Limited {
	case load.LimitedGenerator:
		if t.Purpose == record.Timing {
			l.Invalid = "generator-limited"
		} else {
			l.Marks = append(l.Marks, "generator-limited")
		}
	case load.LimitedReceiver:
		l.Marks = append(l.Marks, "receiver-limited")
	}
	if g.OfferedHz > 0 && g.AchievedHz < 0.98*g.OfferedHz {
		l.Marks = append(l.Marks, "rate-not-achieved")
	}
	if l.Record.Window.NS > 0 && float64(l.Record.Window.StealNS) > 0.02*float64(l.Record.Window.NS) {
		l.Marks = append(l.Marks, "steal")
	}
}

// learn takes from a line what later trials need.
func (s *run) learn(l record.TrialLine) {
	t := l.Trial
	switch {
	case t.Purpose == record.Capacity && l.Record.Status == record.OK:
		if v, ok := l.Record.Metrics["messages_per_s"]; ok {
			s.capacity[t.Point] = v.Float64()
		}
	case t.Purpose == record.Verify && l.Record.Status == record.Skipped:
		s.unfit[t.Case] = true
	case t.Purpose == record.Verify && l.Record.Status == record.Failed:
		s.broken[t.Case] = l.Record.Error
	}
}

// count adds a line to the summary.
func (s *run) count(l record.TrialLine) {
	s.sum.Trials++
	if l.Record.Status == record.Failed {
		s.sum.Failed++
		if s.sum.FirstFailed == "" {
			s.sum.FirstFailed = l.Trial.ID + ": " + l.Record.Error
		}
	}
	if l.Invalid != "" {
		s.sum.Invalid++
	}
}

func (s *run) write(l record.TrialLine) error {
	s.count(l)
	s.learn(l)
	if err := s.Out.Trial(l); err != nil {
		return err
	}
	if s.Progress != nil {
		s.Progress(Event{Done: s.done, Planned: s.planned, Line: l})
	}
	return nil
}

// tellBroken writes down what was left out.
func (s *run) tellBroken() error {
	for _, c := range s.Plan.Cases {
		why, ok := s.broken[c.ID]
		text := fmt.Sprintf("%s failed its verification and was not measured further: %s", c.ID, why)
		if !ok || slices.Contains(s.past.Warnings, text) {
			continue
		}
		if err := s.Out.Warning(text); err != nil {
			return err
		}
	}
	return nil
}
