package harness

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// Processes that are stopped, not ended, take their trial's time up and no more:
// the trial fails by name, says how far it was, and the next one runs.
func TestStoppedProcesses(t *testing.T) {
	long := readerTrial(record.Timing)
	long.Messages, long.DeadlineMS = 1<<18, 3000 // of which the end never comes
	short := readerTrial(record.Timing)
	short.DeadlineMS = 700
	for _, c := range []struct {
		misbehaviour
		trial record.Trial
	}{
		{misbehaviour{"stops itself", "did not end within its 700 ms and was killed; its window had not begun", "", "signal: killed"}, short},
		{misbehaviour{"generator stops itself", "did not end within its 3000 ms and was killed; its window had begun", "", "signal: killed"}, long},
	} {
		tr := c.trial
		c.check(t, tr, behave(t, context.Background(), c.how, tr))
		if left := children(t); len(left) > 0 {
			t.Errorf("%s: children are left: %v", c.how, left)
		}
		if x := behave(t, context.Background(), "well", readerTrial(record.Timing)); x.Record.Status != record.OK {
			t.Errorf("after %s: %s, %s", c.how, x.Record.Status, x.Record.Error)
		}
	}
}

// A child that takes more memory than its trial can need fails alone, and its
// trial says that memory was what it lacked.
func TestChildMemoryIsBounded(t *testing.T) {
	tr := nullTrial()
	x := behave(t, context.Background(), "takes all memory", tr)
	m := misbehaviour{"takes all memory", "it ran out of memory, of which it may take 2.", "memory", "exit status 2"}
	if raceEnabled { // its run-time ends by itself
		m.stderr, m.exit = "failed to allocate", "exit status 66"
	}
	m.check(t, tr, x)
	if x := behave(t, context.Background(), "well", tr); x.Record.Status != record.OK {
		t.Errorf("after it: %s, %s", x.Record.Status, x.Record.Error)
	}
}

func TestMemoryBoundHoldsWhatIsNeeded(t *testing.T) {
	small, large := readerTrial(record.Timing), readerTrial(record.Timing)
	large.Workload.Clients, large.Workload.BudgetBytes = 10_000, 1<<20
	if a, b := memoryBound(small), memoryBound(large); a < 1<<30 || b < a+4*10_000<<20 {
		t.Errorf("bounds of %d and %d bytes", a, b)
	}
	big := small
	big.Workload.Sizes = record.Sizes{Kind: "fixed", Bytes: 16 << 20}
	if b := memoryBound(big); b < 64<<30 {
		t.Errorf("messages of 16 MiB, which reserve 64 GiB: %d bytes", b)
	}
}

// While the machine is suspended no clock of a deadline runs. A trial that saw it
// does not count and is run again; one that failed says so.
func TestSuspendedMachine(t *testing.T) {
	s := newSession(smallPlan(t))
	var slept time.Duration
	s.Asleep = func() time.Duration { return slept }
	victim, broken := "alpha{chunk=1KiB}/timing/block2", "beta/timing/block3"
	s.exec.change = func(tr record.Trial, x *Execution) {
		switch {
		case tr.ID == victim && tr.Attempt == 0:
			slept += time.Minute
		case tr.ID == broken:
			slept += 2 * time.Second
			*x = failed(tr, errDiskFull)
		default:
			slept += asleepLeast / 2 // no more than reading the clocks may be off
		}
	}
	sum := s.run(t, context.Background())
	lines := s.lines(victim)
	if len(lines) != 2 || lines[0].Invalid != "the machine was suspended" || lines[1].Invalid != "" {
		t.Fatalf("%d lines of %s: %+v", len(lines), victim, lines)
	}
	if notes := lines[0].Record.Notes; len(notes) != 1 || notes[0] != "the machine was suspended for 1m0s during this trial" {
		t.Errorf("notes %q", notes)
	}
	if failed := s.lines(broken); len(failed) != 1 || !strings.HasSuffix(failed[0].Record.Error, "; the machine was suspended for 2s meanwhile") {
		t.Errorf("the failed trial says %+v", failed)
	}
	if sum.Invalid != 1 || sum.Failed != 1 {
		t.Errorf("summary %+v", sum)
	}
}

func TestAsleepStandsStillWhileAwake(t *testing.T) {
	before := asleep()
	time.Sleep(3 * asleepLeast)
	if d := asleep() - before; d < -asleepLeast || d > asleepLeast {
		t.Errorf("awake, the machine slept %v", d)
	}
}

// The log of a process keeps its first words, which say why, and its last.
func TestLogKeepsBothEnds(t *testing.T) {
	var l tail
	for _, s := range []string{"fatal error: ", "out of memory\n", strings.Repeat("x", 10_000), "\nthe end"} {
		if n, err := l.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if s := l.String(); !strings.HasPrefix(s, "fatal error: out of memory\nxxx") || !strings.HasSuffix(s, "xx\nthe end") || !strings.Contains(s, tailCut) || len(s) != tailBytes {
		t.Errorf("%d bytes: %.60q", len(s), s)
	}
	var short tail
	_, _ = short.Write([]byte(strings.Repeat("y", tailBytes-len(tailCut))))
	if s := short.String(); s != strings.Repeat("y", tailBytes-len(tailCut)) {
		t.Errorf("what fits is cut to %d bytes", len(s))
	}
}
