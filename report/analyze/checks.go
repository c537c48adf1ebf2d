package analyze

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// Codes of warnings.
const (
	CodeFingerprint = "fingerprint"   // cases of a point did different work
	CodeVerify      = "verify"        // a payload check failed or is missing
	CodeFailed      = "failed-trial"  // a trial failed
	CodeKilled      = "killed"        // no footer: the run did not end
	CodeInterrupted = "interrupted"   // the run ended early
	CodeMissing     = "missing"       // cases lack blocks others have
	CodeInvalid     = "invalid"       // trials left out
	CodeMark        = "mark"          // trials kept but marked
	CodeNearFloor   = "near-floor"    // figures within 3x of the harness floor
	CodeDrift       = "drift"         // not steady over the run
	CodeDemoted     = "varies"        // a count that does not repeat
	CodeSmoke       = "smoke"         // a smoke run
	CodePower       = "power"         // too few blocks for the claims
	CodeGuest       = "guest-syscall" // timings of a guest that decide nothing
	CodeHistogram   = "histogram"     // a histogram unreadable or cut
	CodeStray       = "stray"         // trials of cases the scenario does not list
	CodeRun         = "run"           // remarked by the run itself
	CodeBuilds      = "builds"        // two builds in one run
	CodeFor         = "for"           // blocks beyond the plan's
)

// list names up to four things and counts the rest.
func list(names []string) string {
	const most = 4
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// builds tells what effects mean in a run of two builds.
func (r *run) builds() []Warning {
	first, second := "", ""
	for _, c := range r.cases {
		switch {
		case first == "":
			first = c.info.Build
		case c.info.Build != first:
			second = c.info.Build
		}
	}
	if second == "" {
		return nil
	}
	return []Warning{{Level: LevelInfo, Code: CodeBuilds, Text: fmt.Sprintf(
		"two builds were interleaved: each case of %s is compared with the same case of %s, not with the baseline; claims read %s only", second, first, first)}}
}

// warnings gathers every remark, the gravest first.
func (r *run) warnings(s *Scenario, more []Warning) []Warning {
	var out []Warning
	add := func(w ...Warning) { out = append(out, w...) }
	add(more...)
	add(r.endWarnings()...)
	add(r.failures()...)
	add(r.unverified()...)
	add(r.incomplete()...)
	add(r.leftOut()...)
	add(r.marked()...)
	add(cellWarnings(s)...)
	add(r.power(s.Family)...)
	add(r.builds()...)
	for _, text := range r.res.Warnings {
		add(Warning{Level: LevelWarn, Code: CodeRun, Text: text})
	}
	rank := map[Level]int{LevelError: 0, LevelWarn: 1, LevelInfo: 2}
	slices.SortStableFunc(out, func(a, b Warning) int { return cmp.Compare(rank[a.Level], rank[b.Level]) })
	return out
}

func (r *run) endWarnings() []Warning {
	var out []Warning
	done := len(r.res.Trials)
	switch f := r.res.Footer; {
	case f == nil:
		out = append(out, Warning{Level: LevelWarn, Code: CodeKilled,
			Text: fmt.Sprintf("the run was killed: the file has no end; %d of %d planned trials were written; zcbench run --resume continues it", done, r.counts.Planned)})
	case f.Status == "failed":
		out = append(out, Warning{Level: LevelWarn, Code: CodeInterrupted,
			Text: fmt.Sprintf("the run ended as failed: %s of %d", plural(r.counts.Failed, "failed trial"), done)})
	case f.Status != "complete":
		out = append(out, Warning{Level: LevelWarn, Code: CodeInterrupted,
			Text: fmt.Sprintf("the run ended early (%s) after %d of %d planned trials", f.Status, done, r.counts.Planned)})
	}
	if f, h := r.res.Footer, r.res.Header; f != nil && f.ExtraBlocks > 0 {
		out = append(out, Warning{Level: LevelInfo, Code: CodeFor, Text: fmt.Sprintf(
			"the run was to go on for %v: its %s beyond the planned %d are used like these", time.Duration(h.ForNS), plural(f.ExtraBlocks, "block"), h.Scenario.Blocks)})
	}
	if r.res.Header.Scenario.Smoke {
		out = append(out, Warning{Level: LevelWarn, Code: CodeSmoke,
			Text: "this is a smoke run: it shows that everything works; its timings and other sampled figures decide nothing"})
	}
	if len(r.strays) > 0 {
		slices.Sort(r.strays)
		names := slices.Compact(r.strays)
		out = append(out, Warning{Level: LevelWarn, Code: CodeStray, Cases: names,
			Text: "trials of cases the scenario does not list are left out: " + list(names)})
	}
	return out
}

// failuresMax bounds the failed trials that are named one by one.
const failuresMax = 10

func (r *run) failures() []Warning {
	var out []Warning
	for i, t := range r.failed {
		why := cmp.Or(t.Record.Error, t.Exit, "no reason given")
		what := t.Trial.ID
		if !strings.Contains(what, t.Trial.Case) {
			what += fmt.Sprintf(" (%s of %s)", t.Trial.Purpose, t.Trial.Case)
		}
		w := Warning{Level: LevelWarn, Code: CodeFailed, Cases: []string{t.Trial.Case},
			Text: fmt.Sprintf("trial %s failed and is left out: %s", what, why)}
		switch {
		case t.Trial.Purpose == record.Verify:
			w.Level, w.Code = LevelError, CodeVerify
			w.Text = fmt.Sprintf("the payload check of %s failed in trial %s, so its figures mean nothing: %s", t.Trial.Case, t.Trial.ID, why)
		case i >= failuresMax:
			continue
		}
		out = append(out, w)
	}
	if n := len(r.failed) - failuresMax; n > 0 {
		out = append(out, Warning{Level: LevelWarn, Code: CodeFailed, Text: fmt.Sprintf("%s failed in all; the first %d are named", plural(len(r.failed), "trial"), failuresMax)})
	}
	return out
}

// unverified names measured cases whose payload no trial checked.
func (r *run) unverified() []Warning {
	var names []string
	for _, c := range r.cases {
		if c.counts.Verify == 0 && c.counts.Used > 0 && c.tainted.mark == "" {
			names = append(names, c.info.ID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Warning{{Level: LevelWarn, Code: CodeVerify, Cases: names,
		Text: "no trial checked every payload byte of " + list(names)}}
}

// incomplete names cases with fewer timing blocks than the most of any case at
// their point: pairs are missing there.
func (r *run) incomplete() []Warning {
	most := map[string]int{}
	for _, c := range r.cases {
		most[c.info.Point] = max(most[c.info.Point], c.counts.Timing)
	}
	var names []string
	for _, c := range r.cases {
		if c.skip == nil && c.counts.Timing < most[c.info.Point] {
			names = append(names, fmt.Sprintf("%s (%d of %d)", c.info.ID, c.counts.Timing, most[c.info.Point]))
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []Warning{{Level: LevelWarn, Code: CodeMissing, Cases: names,
		Text: "blocks without a valid timing trial are not paired: " + list(names)}}
}

// leftOut counts invalid trials by reason.
func (r *run) leftOut() []Warning {
	reasons := map[string]int{}
	for i := range r.res.Trials {
		if t := &r.res.Trials[i]; t.Invalid != "" {
			reasons[t.Invalid]++
		}
	}
	var out []Warning
	for _, why := range slices.Sorted(maps.Keys(reasons)) {
		out = append(out, Warning{Level: LevelInfo, Code: CodeInvalid,
			Text: fmt.Sprintf("%s left out as invalid: %s", plural(reasons[why], "trial"), why)})
	}
	return out
}

// markMeaning explains the marks a reader will meet most.
var markMeaning = map[string]string{
	receiverLimited:     "the receiver could not keep up with the load; latencies include the backlog",
	"rate-not-achieved": "the offered rate was not reached",
	"generator-limited": "the load generator was the limit",
	stolen:              "the hypervisor took CPU time away",
	preempted:           "others took the measured thread's CPU, far more often than in the other trials of the case",
}

// marked counts the marks of trials that are kept, and where they fell.
func (r *run) marked() []Warning {
	total := map[string]int{}
	where := map[string][]string{}
	for _, c := range r.cases {
		of := map[string]int{}
		for k, n := range c.marks {
			of[k.mark] += n
		}
		for m, n := range of {
			total[m] += n
			where[m] = append(where[m], fmt.Sprintf("%s (%d)", c.info.ID, n))
		}
	}
	var out []Warning
	for _, m := range slices.Sorted(maps.Keys(total)) {
		text := fmt.Sprintf("%s marked %s", plural(total[m], "trial"), m)
		if why := markMeaning[m]; why != "" {
			text += " (" + why + ")"
		}
		out = append(out, Warning{Level: LevelWarn, Code: CodeMark, Cases: where[m], Text: text + ": " + list(where[m])})
	}
	return out
}

// cellWarnings gathers what the marks of cells say.
func cellWarnings(s *Scenario) []Warning {
	where := map[string][]string{}
	for _, p := range s.Points {
		for _, c := range p.Cases {
			for _, m := range s.Metrics {
				for _, mark := range c.Cells[m.Name].Marks {
					where[mark] = append(where[mark], fmt.Sprintf("%s of %s", figure.Name(m.Name), c.Info.ID))
				}
			}
		}
	}
	var out []Warning
	add := func(mark, code string, level Level, text string) {
		if n := where[mark]; len(n) > 0 {
			out = append(out, Warning{Level: level, Code: code, Cases: n, Text: text + ": " + list(n)})
		}
	}
	add(MarkNearFloor, CodeNearFloor, LevelWarn, fmt.Sprintf("within %dx of what the harness itself costs", FloorFactor))
	add(MarkGuestSyscall, CodeGuest, LevelWarn, "timed in a guest with system calls or faults in the window, which decides nothing")
	add(MarkDemoted, CodeDemoted, LevelInfo, "counts that differ between trials of one seed are treated as sampled")
	if len(s.Steady.Drifts) > 0 {
		out = append(out, Warning{Level: LevelWarn, Code: CodeDrift, Cases: where[MarkDrift], Text: s.Steady.Summary})
	}
	return out
}

// power says when the blocks cannot decide the timed claims whatever they show.
func (r *run) power(family int) []Warning {
	blocks := 0
	for _, c := range r.cases {
		blocks = max(blocks, c.counts.Timing)
	}
	if r.res.Header.Scenario.Smoke || blocks == 0 || CanDecide(blocks, family, r.alpha) {
		return nil
	}
	return []Warning{{Level: LevelWarn, Code: CodePower,
		Text: fmt.Sprintf("%s cannot reach significance for %s at level %v: run at least %d",
			plural(blocks, "block"), plural(family, "timed claim"), r.alpha, MinBlocks(family, r.alpha))}}
}
