package harness

import (
	"fmt"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// asleepLeast is the shortest time that counts as a suspension: the two clocks it
// is told from cannot be read at once.
const asleepLeast = 100 * time.Millisecond

// asleep is how long the machine has been suspended since it was booted:
// CLOCK_BOOTTIME goes on meanwhile and CLOCK_MONOTONIC does not (clock_gettime(2)).
// So deadlines do not see it, and figures that rest on another clock may.
func asleep() time.Duration {
	const tries = 5
	var best, spread time.Duration
	for i := range tries {
		var before, boot, after unix.Timespec
		// These clocks are there since Linux 2.6.39; without them nothing is told.
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &before)
		_ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot)
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &after)
		between := time.Duration(after.Nano() - before.Nano())
		if i == 0 || between < spread {
			best, spread = time.Duration(boot.Nano()-before.Nano()), between
		}
	}
	return best
}

// suspended marks a trial during which the machine was suspended: what it measured
// does not count, and it is run again. If it failed, that is said of the failure.
func suspended(l *record.TrialLine, slept time.Duration) {
	if slept < asleepLeast {
		return
	}
	why := fmt.Sprintf("the machine was suspended for %v", slept.Round(100*time.Millisecond))
	if l.Record.Status == record.Failed {
		l.Record.Error = fmt.Sprintf("%s; %s meanwhile", l.Record.Error, why)
		return
	}
	l.Invalid = "the machine was suspended"
	l.Record.Notes = append(l.Record.Notes, why+" during this trial")
}
