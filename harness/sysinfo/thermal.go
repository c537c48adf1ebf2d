package sysinfo

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
)

// Throttles is how often the CPUs were slowed down for heat since the machine was
// booted, as x86 counts it (Documentation/admin-guide/abi, thermal_throttle).
func Throttles(root string) (int64, error) {
	t := tree{root}
	paths, err := filepath.Glob(filepath.Join(root, "sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count"))
	if err != nil {
		return 0, err
	}
	if len(paths) == 0 {
		return 0, errors.New("no counter of it in /sys (usual in a virtual machine)")
	}
	var sum int64
	for _, p := range paths {
		n, err := t.count(strings.TrimPrefix(p, root))
		if err != nil {
			continue // the CPU went offline
		}
		sum += n
	}
	return sum, nil
}

func throttles(t tree) (string, error) {
	n, err := Throttles(t.root)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(n, 10) + " times since boot", nil
}
