package sysinfo

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// Levels from which a value is worth a warning.
const (
	loadPerCPUWarn   = 0.3 // of the 1-minute load average
	stealPercentWarn = 1.0
	nofileWarn       = 4096
)

// Warnings says, in a user's words, what about a machine makes its numbers
// worse or harder to compare. Unavailable values give no warning.
func Warnings(env record.Environment) []string {
	var out []string
	for _, check := range []func(record.Environment) string{
		warnCPUs, warnCPULimit, warnLoad, warnGovernor, warnTurbo, warnHypervisor, warnSteal,
		warnTSC, warnClockSource, warnTHP, warnMemlock, warnNofile, warnBusy, warnSMT, warnMitigations, warnContainer,
	} {
		if w := check(env); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// number returns the leading number of a value.
func number(env record.Environment, key string) (float64, bool) {
	v, ok := env.Get(key)
	if !ok {
		return 0, false
	}
	end := strings.IndexFunc(v, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(v)
	}
	n, err := strconv.ParseFloat(v[:end], 64)
	return n, err == nil
}

// is reports whether the value of key is one of words.
func is(env record.Environment, key string, words ...string) bool {
	v, ok := env.Get(key)
	for _, w := range words {
		if ok && v == w {
			return true
		}
	}
	return false
}

// usableCPUs returns how many CPUs this process may run on.
func usableCPUs(env record.Environment) (float64, bool) {
	if n, ok := number(env, KeyCPUsAllowed); ok {
		return n, true
	}
	return number(env, KeyCPUsOnline)
}

func warnCPUs(env record.Environment) string {
	if n, ok := usableCPUs(env); ok && n < 2 {
		return "Only one CPU may be used: the load generator and the measured thread take turns on it, so latencies contain each other's work."
	}
	return ""
}

func warnCPULimit(env record.Environment) string {
	n, ok := number(env, KeyCPULimit)
	if !ok {
		return ""
	}
	return fmt.Sprintf("A control group limits this process to %g CPUs: it is paused when it has used them up, which shows as very long latencies.", n)
}

func warnLoad(env record.Environment) string {
	load, ok1 := number(env, KeyLoad)
	cpus, ok2 := number(env, KeyCPUsOnline)
	if !ok1 || !ok2 || load <= loadPerCPUWarn*cpus {
		return ""
	}
	return fmt.Sprintf("The load average is %g on %g CPUs: other programs compete for them. Stop them, or wait until it is calm.", load, cpus)
}

func warnGovernor(env record.Environment) string {
	v, ok := env.Get(KeyGovernor)
	if !ok || v == "performance" {
		return ""
	}
	return fmt.Sprintf("The frequency governor is %s: the clock rate follows the load, and timings follow it. As root: cpupower frequency-set -g performance", v)
}

func warnTurbo(env record.Environment) string {
	if is(env, KeyTurbo, "on") {
		return "Turbo is on: the clock rate depends on temperature and on what the other CPUs do."
	}
	return ""
}

func warnHypervisor(env record.Environment) string {
	v, ok := env.Get(KeyHypervisor)
	if !ok || v == none {
		return ""
	}
	return "This is a virtual machine: neighbours, and faults the hypervisor handles, add noise. Trust ratios more than absolute times."
}

func warnSteal(env record.Environment) string {
	v, ok := number(env, KeySteal)
	if !ok || v < stealPercentWarn {
		return ""
	}
	return fmt.Sprintf("The hypervisor gave %g%% of the CPU time since boot to others: expect long pauses that are not the program's.", v)
}

func warnTSC(env record.Environment) string {
	if is(env, KeyTSCInvariant, "no") {
		return "The time stamp counter does not run at one rate: times come from CLOCK_MONOTONIC, whose reads cost more."
	}
	return ""
}

func warnClockSource(env record.Environment) string {
	v, ok := env.Get(KeyClockSource)
	if !ok || v != "hpet" && v != "acpi_pm" && v != "jiffies" && v != "refined-jiffies" {
		return ""
	}
	return fmt.Sprintf("The kernel's clock is %s: every reading is a slow system call, in the program and in zcbench.", v)
}

func warnTHP(env record.Environment) string {
	if is(env, KeyTHP, "always") {
		return "Transparent huge pages are set to always: touching one byte may make 2 MiB resident, unless a strategy advises against it."
	}
	return ""
}

func warnMemlock(env record.Environment) string {
	v, ok := env.Get(KeyMemlock)
	if !ok || strings.HasPrefix(v, unlimited) || is(env, KeyRoot, "yes") {
		return ""
	}
	return fmt.Sprintf("This user may lock %s of memory: rings and registered buffers beyond that fail. Raise it with ulimit -l, or run as root.", v)
}

func warnNofile(env record.Environment) string {
	n, ok := number(env, KeyNofile)
	if !ok || n >= nofileWarn {
		return ""
	}
	return fmt.Sprintf("At most %g files may be open: scenarios with many clients need more. Raise it with ulimit -n.", n)
}

func warnBusy(env record.Environment) string {
	v, ok := env.Get(KeyBusy)
	if !ok || v == none {
		return ""
	}
	return fmt.Sprintf("Other programs use the CPUs: %s of one. Stop them, or wait until it is calm.", v)
}

func warnSMT(env record.Environment) string {
	if is(env, KeySMT, "on") {
		return "Two threads share each core (SMT): what runs on one slows the other down. As root: echo off > /sys/devices/system/cpu/smt/control"
	}
	return ""
}

func warnMitigations(env record.Environment) string {
	if v, ok := env.Get(KeyMitigations); ok && strings.Contains(v, "mitigations=off") {
		return "The kernel was booted with mitigations=off: system calls cost less here than on most machines."
	}
	return ""
}

func warnContainer(env record.Environment) string {
	v, ok := env.Get(KeyContainer)
	if !ok || v == none {
		return ""
	}
	return fmt.Sprintf("This is a container (%s): programs outside it use the same CPUs and cannot be seen from here.", v)
}
