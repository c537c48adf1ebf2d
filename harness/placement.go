package harness

import (
	"golang.org/x/sys/unix"
)

// PickCPUs chooses the CPU of the measured thread and that of the load
// generator among those this process may use: the last two, as the first takes
// most interrupts. With one CPU both get it.
func PickCPUs() (measured, generator int) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return -1, -1
	}
	var cpus []int
	for cpu := 0; cpu < 8*len(set)*8 && len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	switch n := len(cpus); n {
	case 0:
		return -1, -1
	case 1:
		return cpus[0], cpus[0]
	default:
		return cpus[n-1], cpus[n-2]
	}
}
