package harness

import (
	"runtime"
	"strconv"

	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/sys/unix"
)

// measuredNice is the priority of a trial's processes, all threads alike: with
// the default one, whatever else wakes up on the machine takes their CPU for
// milliseconds, and tail latencies show that instead of the strategy.
const measuredNice = -20

// raisePriority gives the calling thread, and so the children it starts, the
// priority of measured processes. Without the privilege (CAP_SYS_NICE) nothing
// changes. The returned function goes back to what it was.
func raisePriority() (undo func(), err error) {
	// The system call, unlike the C function, returns 20-nice.
	before, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		return func() {}, err
	}
	if err := unix.Setpriority(unix.PRIO_PROCESS, 0, measuredNice); err != nil {
		return func() {}, err
	}
	return func() { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, 20-before) }, nil
}

// priorityItem says at which priority trials run here.
func priorityItem() record.EnvItem {
	it := record.EnvItem{Key: "priority", Compare: record.Sampled}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	undo, err := raisePriority()
	if err != nil {
		it.Unavailable = "the default one, as raising it is refused: " + err.Error()
		return it
	}
	undo()
	it.Value = "nice " + strconv.Itoa(measuredNice)
	return it
}
