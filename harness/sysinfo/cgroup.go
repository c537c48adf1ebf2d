package sysinfo

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cpuLimit returns the CPU time this process' control groups allow, in CPUs:
// the tightest of its group and those above (cgroups(7); cpu.max, or
// cpu.cfs_quota_us in version 1).
func cpuLimit(t tree) (string, error) {
	s, err := t.raw("proc/self/cgroup")
	if err != nil {
		return "", err
	}
	least := 0.0
	for line := range strings.Lines(s) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		read := t.quotaV1
		if f[1] == "" {
			read = t.quotaV2
		} else if !slices.Contains(strings.Split(f[1], ","), "cpu") {
			continue
		}
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			if q := read(dir); q > 0 && (least == 0 || q < least) {
				least = q
			}
			if dir == "/" {
				break
			}
		}
	}
	if least == 0 {
		return none, nil
	}
	return strconv.FormatFloat(least, 'f', -1, 64) + " CPUs", nil
}

// quotaV2 returns the CPUs that cpu.max of a group allows; 0 for no limit.
func (t tree) quotaV2(dir string) float64 {
	s, err := t.text(path.Join("sys/fs/cgroup", dir, "cpu.max"))
	if err != nil {
		return 0
	}
	var quota, period float64
	if n, _ := fmt.Sscan(s, &quota, &period); n != 2 || period <= 0 {
		return 0 // "max 100000"
	}
	return quota / period
}

func (t tree) quotaV1(dir string) float64 {
	for _, mount := range []string{"cpu", "cpu,cpuacct"} {
		base := path.Join("sys/fs/cgroup", mount, dir)
		quota, err1 := t.number(path.Join(base, "cpu.cfs_quota_us"))
		period, err2 := t.number(path.Join(base, "cpu.cfs_period_us"))
		if err1 == nil && err2 == nil && quota > 0 && period > 0 {
			return quota / period
		}
	}
	return 0
}

func (t tree) number(name string) (float64, error) {
	s, err := t.text(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(s, 64)
}
