package clock

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Detection is the source the kernel's own words allow, and why.
type Detection struct {
	Source string // SourceTSC or SourceMonotonic
	Reason string
}

// Detect reads whether the TSC is invariant from proc/cpuinfo and the clock
// source directory under root, normally "/". It needs every CPU to show rdtscp,
// constant_tsc (one rate at any frequency) and nonstop_tsc (counts in deep
// sleep), and the kernel not to have dropped tsc as unstable from
// available_clocksource.
func Detect(root string) Detection {
	if !HasTSC {
		return Detection{SourceMonotonic, "this architecture has no time stamp counter"}
	}
	path := filepath.Join(root, "proc/cpuinfo")
	text, err := os.ReadFile(path)
	if err != nil {
		return Detection{SourceMonotonic, fmt.Sprintf("CPU flags are not readable: %v", err)}
	}
	if lacks := missingFlags(text); lacks != "" {
		return Detection{SourceMonotonic, fmt.Sprintf("no invariant TSC: %s lacks %s", path, lacks)}
	}
	path = filepath.Join(root, "sys/devices/system/clocksource/clocksource0/available_clocksource")
	if text, err = os.ReadFile(path); err != nil {
		return Detection{SourceTSC, "CPU flags show an invariant TSC; the kernel's list of clock sources is not readable"}
	}
	if list := strings.Fields(string(text)); !slices.Contains(list, "tsc") {
		return Detection{SourceMonotonic, fmt.Sprintf("the kernel does not trust the TSC: it offers only %s", strings.Join(list, ", "))}
	}
	return Detection{SourceTSC, "invariant TSC that the kernel offers as a clock source"}
}

// missingFlags returns the first flag of an invariant TSC that some CPU of a
// cpuinfo text lacks, or what else is wrong with the text.
func missingFlags(cpuinfo []byte) string {
	seen := false
	for line := range bytes.Lines(cpuinfo) {
		key, val, ok := bytes.Cut(line, []byte(":"))
		if !ok || string(bytes.TrimSpace(key)) != "flags" {
			continue
		}
		seen = true
		flags := strings.Fields(string(val))
		for _, f := range []string{"rdtscp", "constant_tsc", "nonstop_tsc"} {
			if !slices.Contains(flags, f) {
				return f
			}
		}
	}
	if !seen {
		return "a flags line"
	}
	return ""
}
