package sysinfo

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

func notDecided(tree) (string, error) { return "", errors.New("not decided yet") }

func memoryTotal(t tree) (string, error) {
	const name = "proc/meminfo"
	v, err := t.keyed(name, "MemTotal")
	if err != nil {
		return "", err
	}
	kb, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(v, "kB")), 10, 64)
	if err != nil {
		return "", fmt.Errorf("/%s: MemTotal is %q", name, v)
	}
	return bytesText(kb << 10), nil
}

// thp returns the setting the kernel shows in brackets.
func thp(t tree) (string, error) {
	const name = "sys/kernel/mm/transparent_hugepage/enabled"
	s, err := t.text(name)
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(s, "[")
	v, _, ok := strings.Cut(rest, "]")
	if !ok {
		return "", fmt.Errorf("/%s marks no setting: %q", name, s)
	}
	return v, nil
}

// loadAverage returns the average number of runnable tasks over 1, 5 and 15
// minutes.
func loadAverage(t tree) (string, error) {
	const name = "proc/loadavg"
	s, err := t.text(name)
	if err != nil {
		return "", err
	}
	f := strings.Fields(s)
	if len(f) < 3 {
		return "", fmt.Errorf("/%s: unexpected %q", name, s)
	}
	return strings.Join(f[:3], " "), nil
}

// steal returns the share of CPU time since boot that the hypervisor gave to
// others (proc_stat(5), 8th number; guest time is within user time).
func steal(t tree) (string, error) {
	const name = "proc/stat"
	s, err := t.raw(name)
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(s, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return "", fmt.Errorf("/%s has no steal time", name)
	}
	total, stolen := 0.0, 0.0
	for i, word := range f[1:9] {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return "", fmt.Errorf("/%s: unexpected %q", name, word)
		}
		total += v
		if i == 7 {
			stolen = v
		}
	}
	if total == 0 {
		return "", fmt.Errorf("/%s: no time has passed", name)
	}
	return strconv.FormatFloat(100*stolen/total, 'f', 2, 64) + "% since boot", nil
}

// isRoot tells the effective user id, the second number of the Uid line.
func isRoot(t tree) (string, error) {
	v, err := t.keyed("proc/self/status", "Uid")
	if err != nil {
		return "", err
	}
	f := strings.Fields(v)
	if len(f) < 2 {
		return "", fmt.Errorf("/proc/self/status: Uid is %q", v)
	}
	if f[1] == "0" {
		return "yes", nil
	}
	return "no (uid " + f[1] + ")", nil
}

// goamd64 returns the instruction set level the binary was built for.
func goamd64(info *debug.BuildInfo, ok bool) (string, error) {
	if runtime.GOARCH != "amd64" {
		return "", errors.New("not an amd64 binary")
	}
	if !ok {
		return "", errors.New("the binary has no build information")
	}
	for _, s := range info.Settings {
		if s.Key == "GOAMD64" {
			return s.Value, nil
		}
	}
	return "", errors.New("the build information does not name it")
}
