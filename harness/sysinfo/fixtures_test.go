package sysinfo

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// files is a machine as its files, path to text.
type files map[string]string

// laptop is a four-thread machine with everything set against the measurer.
var laptop = files{
	"proc/sys/kernel/osrelease": "6.12.9-amd64\n",
	"proc/cpuinfo": "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some  CPU @ 2.0GHz\n" +
		"flags\t\t: fpu tsc constant_tsc nonstop_tsc rdtscp\n\nprocessor\t: 1\n",
	"sys/devices/system/cpu/present":                       "0-3\n",
	"sys/devices/system/cpu/online":                        "0,2-3\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
	"sys/devices/system/cpu/cpu2/cpufreq/scaling_governor": "performance\n",
	"sys/devices/system/cpu/cpu3/cpufreq/scaling_governor": "powersave\n",
	"sys/devices/system/cpu/intel_pstate/no_turbo":         "0\n",
	"sys/devices/system/cpu/smt/active":                    "1\n",
	"sys/devices/system/cpu/smt/control":                   "on\n",
	"sys/devices/system/cpu/vulnerabilities/meltdown":      "Mitigation: PTI\n",
	"sys/devices/system/cpu/vulnerabilities/l1tf":          "Not affected\n",
	"sys/devices/system/cpu/vulnerabilities/mds":           "Vulnerable; SMT vulnerable\n",
	"sys/devices/system/cpu/vulnerabilities/itlb_multihit": "KVM: Mitigation: VMX disabled\n",
	"sys/devices/system/cpu/vulnerabilities/new_one":       "Unknown: no microcode\n",
	"proc/cmdline": "root=/dev/sda mitigations=off quiet\n",
	"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n",
	"proc/meminfo": "MemTotal:       16000000 kB\nMemFree: 1 kB\n",
	"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
	"proc/self/limits": "Limit   Soft Limit   Hard Limit   Units\n" +
		"Max open files            1024                 524288               files\n" +
		"Max locked memory         65536                unlimited            bytes\n",
	"proc/self/status":                    "Name:\tx\nUid:\t0\t1000\t0\t0\nSeccomp:\t0\nCpus_allowed_list:\t2\n",
	"proc/self/cgroup":                    "0::/user.slice/session\n",
	"proc/sys/net/ipv4/tcp_rmem":          "4096\t131072\t6291456\n",
	"proc/sys/net/ipv4/tcp_wmem":          "4096\t16384\t4194304\n",
	uringSysctl:                           "0\n",
	"proc/sys/kernel/perf_event_paranoid": "3\n",
	"proc/loadavg":                        "2.50 1.00 0.50 3/400 1234\n",
	"proc/stat":                           "cpu  70 0 10 15 0 0 0 5 40 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n",
}

// with returns the machine with some files changed; empty text removes one.
func (f files) with(changes files) files {
	out := maps.Clone(f)
	for name, text := range changes {
		if text == "" {
			delete(out, name)
			continue
		}
		out[name] = text
	}
	return out
}

// root writes the files and returns where.
func (f files) root(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func (f files) read(t *testing.T) record.Environment {
	t.Helper()
	return Read(f.root(t))
}
