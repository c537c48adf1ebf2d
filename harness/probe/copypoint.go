package probe

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// Steps at which a copy point probe changes the caller's buffer, in time order.
// A request that is prepared before it is handed over has the first four; an API
// that is one call has the last three.
const (
	BeforeBuild     = "before build"
	AfterBuild      = "after build, before post"
	AfterPost       = "after post, before completion"
	BeforeCall      = "before call"
	AfterCall       = "after call, before completion"
	AfterCompletion = "after completion"
)

// Changes is how often each step is tried.
const Changes = 100

// leastChanges is how often a step must have been tried for its count to mean
// anything: 0 of 30 bounds the share of arrivals to 10% at 95% confidence.
const leastChanges = 30

var (
	preparedSteps = []string{BeforeBuild, AfterBuild, AfterPost, AfterCompletion}
	callSteps     = []string{BeforeCall, AfterCall, AfterCompletion}
)

// ClassifyCopy says when an API reads the caller's buffer, from how many of the
// changes at each step arrived at the peer. The steps are those of one of the two
// shapes above, all of them, in order. The string says what the verdict rests on,
// or why there is none.
//
// The first and the last step are controls: what is changed before anything was
// called must arrive each time, what is changed after the completion never.
// Between them a buffer that is read within a call shows all or nothing at each
// step; only a read after the call may show a part, as it is a race.
func ClassifyCopy(steps []record.Step) (record.FindingVerdict, string) {
	prepared, err := shape(steps)
	if err == nil {
		err = controls(steps)
	}
	if err != nil {
		return record.Inconclusive, err.Error()
	}
	after := steps[len(steps)-2]
	if prepared {
		return classifyPrepared(steps[1], after)
	}
	if after.Arrived > 0 {
		return record.ReadLater, counted(after)
	}
	return record.ReadAtCall, counted(after)
}

func classifyPrepared(built, posted record.Step) (record.FindingVerdict, string) {
	figures := counted(built, posted)
	switch {
	case posted.Arrived > 0 && built.Arrived < built.Changed:
		return record.Inconclusive, "changes after the post arrive, yet not every change before it: " + figures
	case posted.Arrived > 0:
		return record.ReadLater, figures
	case built.Arrived == built.Changed:
		return record.ReadAtPost, figures
	case built.Arrived == 0:
		return record.ReadAtBuild, figures
	}
	return record.Inconclusive, "some changes between build and post arrive and some do not, with none after the post: " + figures
}

// shape checks that the steps are those of a prepared request or of a call, each
// tried often enough.
func shape(steps []record.Step) (prepared bool, err error) {
	prepared = named(steps, preparedSteps)
	if !prepared && !named(steps, callSteps) {
		names := make([]string, len(steps))
		for i, s := range steps {
			names[i] = s.Name
		}
		return false, fmt.Errorf("its steps [%s] are not those of a prepared request [%s] or of a call [%s]",
			strings.Join(names, "; "), strings.Join(preparedSteps, "; "), strings.Join(callSteps, "; "))
	}
	for _, s := range steps {
		if s.Arrived < 0 || s.Arrived > s.Changed {
			return prepared, fmt.Errorf("impossible counts: %s", counted(s))
		}
		if s.Changed < leastChanges {
			return prepared, fmt.Errorf("too few changes, at least %d are wanted: %s", leastChanges, counted(s))
		}
	}
	return prepared, nil
}

func named(steps []record.Step, names []string) bool {
	if len(steps) != len(names) {
		return false
	}
	for i, s := range steps {
		if s.Name != names[i] {
			return false
		}
	}
	return true
}

func controls(steps []record.Step) error {
	first, last := steps[0], steps[len(steps)-1]
	if first.Arrived < first.Changed {
		return fmt.Errorf("the control fails, changes made before anything was called must all arrive: %s", counted(first))
	}
	if last.Arrived > 0 {
		return fmt.Errorf("the control fails, nothing changed after the completion may arrive: %s", counted(last))
	}
	return nil
}

// counted tells the counts of steps.
func counted(steps ...record.Step) string {
	parts := make([]string, len(steps))
	for i, s := range steps {
		parts[i] = fmt.Sprintf("%s: %d of %d arrived", s.Name, s.Arrived, s.Changed)
	}
	return strings.Join(parts, "; ")
}

// reuse says what a verdict means for whoever owns the buffer.
var reuse = map[record.FindingVerdict]string{
	record.ReadAtBuild: "the buffer may be reused as soon as the request is built",
	record.ReadAtPost:  "the buffer must keep until the post has returned, and may be reused then",
	record.ReadAtCall:  "the buffer may be reused once the call has returned",
	record.ReadLater:   "the buffer must keep until the completion",
}

// CopyFinding is the finding of a copy point probe that counted these steps, which
// are its evidence.
func CopyFinding(steps []record.Step) record.Finding {
	verdict, why := ClassifyCopy(steps)
	f := record.Finding{Verdict: verdict, Help: reuse[verdict], Steps: steps}
	if verdict == record.Inconclusive {
		f.Reason = why
	}
	return f
}
