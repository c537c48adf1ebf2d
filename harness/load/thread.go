package load

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Pin keeps the calling thread, which must be locked, on one CPU.
func Pin(cpu int) error {
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin to CPU %d: %w", cpu, err)
	}
	return nil
}
