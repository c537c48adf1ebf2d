package sysinfo

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// calm is a machine nothing is wrong with.
var calm = files{
	cpuinfo:                         "flags\t: constant_tsc nonstop_tsc\n",
	"sys/devices/system/cpu/online": "0-3\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":            "performance\n",
	"sys/devices/system/cpu/intel_pstate/no_turbo":                    "1\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc\n",
	"sys/kernel/mm/transparent_hugepage/enabled":                      "always [madvise] never\n",
	"proc/self/limits": "Max open files 65536 65536 files\nMax locked memory 8388608 8388608 bytes\n",
	"proc/self/status": "Uid:\t0\t0\t0\t0\nCpus_allowed_list:\t0-3\n",
	"proc/self/cgroup": "0::/\n",
	"proc/loadavg":     "1.19 9.00 9.00 1/1 1\n",
	"proc/stat":        "cpu 10 0 0 989 0 0 0 1 0 0\n",
}

func TestNoWarnings(t *testing.T) {
	if w := Warnings(calm.read(t)); len(w) != 0 {
		t.Errorf("a calm machine: %q", w)
	}
	if w := Warnings(record.Environment{}); len(w) != 0 {
		t.Errorf("nothing known: %q", w)
	}
}

// TestEachWarning changes one thing and expects exactly one warning.
func TestEachWarning(t *testing.T) {
	for want, change := range map[string]files{
		"Only one CPU":                 {"proc/self/status": "Uid:\t0\t0\t0\t0\nCpus_allowed_list:\t2\n"},
		"to 1.5 CPUs":                  {"sys/fs/cgroup/cpu.max": "150000 100000\n"},
		"load average is 1.25":         {"proc/loadavg": "1.25 0 0 1/1 1\n"},
		"governor is powersave":        {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n"},
		"Turbo is on":                  {"sys/devices/system/cpu/intel_pstate/no_turbo": "0\n"},
		"virtual machine":              {cpuinfo: "flags\t: hypervisor constant_tsc nonstop_tsc\n"},
		"gave 3% of":                   {"proc/stat": "cpu 10 0 0 960 0 0 0 30 0 0\n"},
		"does not run at one rate":     {cpuinfo: "flags\t: constant_tsc\n"},
		"clock is hpet":                {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"},
		"set to always":                {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"},
		"Two threads share each core":  {"sys/devices/system/cpu/smt/active": "1\n"},
		"booted with mitigations=off":  {"proc/cmdline": "quiet mitigations=off\n", "sys/devices/system/cpu/vulnerabilities/mds": "Vulnerable\n"},
		"This is a container (podman)": {"run/.containerenv": "\n"},
		"may lock 8 MiB":               {"proc/self/status": "Uid:\t1\t1\t1\t1\nCpus_allowed_list:\t0-3\n"},
		"At most 1024 files":           {"proc/self/limits": "Max open files 1024 65536 files\nMax locked memory 1 1 bytes\n"},
	} {
		got := Warnings(calm.with(change).read(t))
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("want one warning with %q, got %q", want, got)
		}
	}
}

func TestBusyWarning(t *testing.T) {
	env := With(calm.read(t), record.EnvItem{Key: KeyBusy, Value: "make (3) 99%"})
	if w := Warnings(env); len(w) != 1 || !strings.Contains(w[0], "make (3) 99% of one") {
		t.Errorf("got %q", w)
	}
	if w := Warnings(With(env, record.EnvItem{Key: KeyBusy, Value: none})); len(w) != 0 {
		t.Errorf("nobody is busy: %q", w)
	}
}

func TestOneCPUFromOnlineList(t *testing.T) {
	env := calm.with(files{"proc/self/status": "Uid:\t0\t0\t0\t0\n", "sys/devices/system/cpu/online": "0\n", "proc/loadavg": "0 0 0 1/1 1\n"}).read(t)
	if got := Warnings(env); len(got) != 1 || !strings.Contains(got[0], "Only one CPU") {
		t.Errorf("got %q", got)
	}
}
