// Package sysinfo reads the facts about a machine that measurements depend on.
// It reads files below a root directory, so a recorded tree stands in for a
// machine; only what the Go runtime knows comes from the running process.
// Linux only.
package sysinfo

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/zcbench/zcbench/harness/record"
)

// Keys of the environment items that Read, and the caller after it, fill in.
const (
	KeyArch            = "arch"
	KeyPageSize        = "page_size"
	KeyKernel          = "kernel"
	KeyCPUModel        = "cpu_model"
	KeyCPUs            = "cpus"
	KeyCPUsOnline      = "cpus_online"
	KeyCPUsAllowed     = "cpus_allowed"
	KeyCPULimit        = "cpu_limit"
	KeyGovernor        = "governor"
	KeyTurbo           = "turbo"
	KeySMT             = "smt"
	KeyMitigations     = "mitigations"
	KeyHypervisor      = "hypervisor"
	KeyContainer       = "container"
	KeyClass           = "class"
	KeyPlacement       = "placement"
	KeyClockSource     = "clock_source"
	KeyTSCInvariant    = "tsc_invariant"
	KeyMemory          = "memory_total"
	KeyTHP             = "thp"
	KeyMemlock         = "rlimit_memlock"
	KeyNofile          = "rlimit_nofile"
	KeyTCPRmem         = "tcp_rmem"
	KeyTCPWmem         = "tcp_wmem"
	KeyUringDisabled   = "io_uring_disabled"
	KeyPerfParanoid    = "perf_event_paranoid"
	KeyLoad            = "load_average"
	KeySteal           = "steal"
	KeyThrottles       = "thermal_throttle"
	KeyBusy            = "busy_processes"
	KeyRoot            = "root"
	KeyGo              = "go_version"
	KeyGOAMD64         = "goamd64"
	KeyTool            = "zcbench"
	keyLibrary         = "library_"
	classNotApplicable = "n/a"
)

// fact is one row of the environment: read returns the value, or an error that
// says why there is none.
type fact struct {
	key     string
	compare record.Kind
	read    func(tree) (string, error)
}

// facts lists the environment in the order it is shown.
func facts() []fact {
	return []fact{
		{KeyArch, record.Exact, func(tree) (string, error) { return runtime.GOARCH, nil }},
		{KeyPageSize, record.Exact, func(tree) (string, error) { return strconv.Itoa(os.Getpagesize()), nil }},
		{KeyKernel, record.Sampled, func(t tree) (string, error) { return t.text("proc/sys/kernel/osrelease") }},
		{KeyCPUModel, record.Sampled, cpuModel},
		{KeyCPUs, "", func(t tree) (string, error) { return t.cpuCount("sys/devices/system/cpu/present") }},
		{KeyCPUsOnline, "", func(t tree) (string, error) { return t.cpuCount("sys/devices/system/cpu/online") }},
		{KeyCPUsAllowed, "", cpusAllowed},
		{KeyCPULimit, "", cpuLimit},
		{KeyGovernor, record.Sampled, governor},
		{KeyTurbo, "", turbo},
		{KeySMT, "", smt},
		{KeyMitigations, "", mitigations},
		{KeyHypervisor, "", hypervisor},
		{KeyContainer, "", container},
		{KeyClass, record.Sampled, func(tree) (string, error) { return classNotApplicable, nil }},
		{KeyPlacement, record.Sampled, notDecided},
		{KeyClockSource, "", func(t tree) (string, error) {
			return t.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
		}},
		{KeyTSCInvariant, "", tscInvariant},
		{KeyMemory, "", memoryTotal},
		{KeyTHP, "", thp},
		{KeyMemlock, "", func(t tree) (string, error) { return t.limit("Max locked memory", bytesText) }},
		{KeyNofile, "", func(t tree) (string, error) { return t.limit("Max open files", plainText) }},
		{KeyTCPRmem, "", func(t tree) (string, error) { return t.fields("proc/sys/net/ipv4/tcp_rmem") }},
		{KeyTCPWmem, "", func(t tree) (string, error) { return t.fields("proc/sys/net/ipv4/tcp_wmem") }},
		{KeyUringDisabled, "", func(t tree) (string, error) { return t.text(uringSysctl) }},
		{KeyPerfParanoid, "", func(t tree) (string, error) { return t.text("proc/sys/kernel/perf_event_paranoid") }},
		{KeyLoad, "", loadAverage},
		{KeySteal, "", steal},
		{KeyThrottles, "", throttles},
		{KeyRoot, "", isRoot},
		{KeyGo, "", func(tree) (string, error) { return runtime.Version(), nil }},
		{KeyGOAMD64, "", func(tree) (string, error) { return goamd64(debug.ReadBuildInfo()) }},
	}
}

// Read returns the environment of the machine whose root directory is root,
// normally "/". A value that cannot be read carries the reason. The class is
// "n/a" and the placement unavailable until the caller sets them with With.
func Read(root string) record.Environment {
	t := tree{root}
	var env record.Environment
	for _, f := range facts() {
		env = append(env, item(f, t))
	}
	return env
}

func item(f fact, t tree) record.EnvItem {
	it := record.EnvItem{Key: f.key, Compare: f.compare}
	v, err := f.read(t)
	switch {
	case err != nil:
		it.Unavailable = err.Error()
	case v == "":
		it.Unavailable = "it is empty"
	default:
		it.Value = v
	}
	return it
}

// With returns env with items set: one whose key is present takes its place,
// the others are added at the end. env itself is not changed.
func With(env record.Environment, items ...record.EnvItem) record.Environment {
	out := append(record.Environment(nil), env...)
next:
	for _, it := range items {
		for i := range out {
			if out[i].Key == it.Key {
				out[i] = it
				continue next
			}
		}
		out = append(out, it)
	}
	return out
}

// Class is what stands behind an RDMA scenario: hardware, soft (a software
// device on the running kernel) or guest.
func Class(class string) record.EnvItem {
	return record.EnvItem{Key: KeyClass, Value: class, Compare: record.Sampled}
}

// Placement says which CPU ran what.
func Placement(text string) record.EnvItem {
	return record.EnvItem{Key: KeyPlacement, Value: text, Compare: record.Sampled}
}

// Tool is the version of zcbench itself. It is told but not compared: two
// versions are what one compares.
func Tool(version string) record.EnvItem {
	return record.EnvItem{Key: KeyTool, Value: version}
}

// Library is the version of a library or provider under test, on which even
// counts depend.
func Library(name, version string) record.EnvItem {
	return record.EnvItem{Key: keyLibrary + name, Value: version, Compare: record.Exact}
}
