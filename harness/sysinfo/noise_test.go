package sysinfo

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func stat(pid int, name string, utime, stime, start int) string {
	return fmt.Sprintf("%d (%s) S 1 1 1 0 -1 4194560 1 0 0 0 %d %d 0 0 20 0 1 0 %d 1 1\n", pid, name, utime, stime, start)
}

func TestBusy(t *testing.T) {
	before := files{
		"proc/1/stat": stat(1, "init", 100, 100, 1), "proc/2/stat": stat(2, "ha) (\x1b[31m", 5, 5, 2), "proc/3/stat": stat(3, "make", 0, 0, 3),
		"proc/4/stat": stat(4, "reused", 900, 0, 4), "proc/5/stat": "5 (half", "proc/self/stat": stat(5, "own", 0, 0, 5),
		fmt.Sprintf("proc/%d/stat", os.Getpid()): stat(os.Getpid(), "zcbench", 0, 0, 9),
	}
	a := Snapshot(before.root(t))
	b := Snapshot(before.with(files{
		"proc/1/stat": stat(1, "init", 101, 100, 1), "proc/2/stat": stat(2, "ha) (\x1b[31m", 45, 5, 2), "proc/3/stat": stat(3, "make", 60, 39, 3),
		"proc/4/stat": stat(4, "new", 990, 0, 400), "proc/6/stat": stat(6, "later", 99, 0, 6),
		fmt.Sprintf("proc/%d/stat", os.Getpid()): stat(os.Getpid(), "zcbench", 99, 0, 9),
	}).root(t))
	b.at = a.at.Add(time.Second)
	if it := Busy(a, b); it.Value != "make (3) 99%, ha) (?[31m (2) 40%" {
		t.Errorf("busy are %+v", it)
	}
	if it := Busy(a, a); it.Value != none {
		t.Errorf("nobody did anything: %+v", it)
	}
	many := files{}
	for i := range 9 {
		many[fmt.Sprintf("proc/%d/stat", i+10)] = stat(i+10, "cc", 0, 0, 1)
	}
	from := Snapshot(many.root(t))
	for name, text := range many {
		many[name] = strings.Replace(text, " 0 0 0 0 0 0 20", " 0 0 0 70 0 0 20", 1)
	}
	for name := range many {
		var pid int
		if _, err := fmt.Sscanf(name, "proc/%d/stat", &pid); err != nil {
			t.Fatal(err)
		}
		many[name] = stat(pid, "cc", 70, 0, 1)
	}
	to := Snapshot(many.root(t))
	to.at = from.at.Add(time.Second)
	if it := Busy(from, to); strings.Count(it.Value, "70%") != busyMost || !strings.HasSuffix(it.Value, ", 4 more") {
		t.Errorf("nine are busy: %+v", it)
	}
	none := Snapshot(t.TempDir())
	if it := Busy(none, none); it.Unavailable == "" {
		t.Errorf("no processes: %+v", it)
	}
	if here := Snapshot("/"); len(here.used) == 0 {
		t.Error("no process is seen here, not even this one")
	}
}

func TestThrottles(t *testing.T) {
	hot := files{
		"sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count":    "3\n",
		"sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count":    "4\n",
		"sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count": "10\n",
		"sys/devices/system/cpu/cpu1/thermal_throttle/core_power_limit_count": "100\n",
	}
	if n, err := Throttles(hot.root(t)); n != 17 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if v, ok := hot.read(t).Get(KeyThrottles); v != "17 times since boot" || !ok {
		t.Errorf("%q, %v", v, ok)
	}
	if n, err := Throttles(t.TempDir()); err == nil {
		t.Errorf("no counter: %d", n)
	}
}
