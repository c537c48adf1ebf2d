package sysinfo

import (
	"strings"
	"testing"
)

// TestVariants changes one file of the laptop and looks at one value; a want
// that begins with "!" is a part of the reason why there is none.
func TestVariants(t *testing.T) {
	cpu, cg := "sys/devices/system/cpu/", "sys/fs/cgroup/"
	for _, tc := range []struct {
		name, key, want string
		change          files
	}{
		{"ARM model", KeyCPUModel, "implementer 0x41 part 0xd0c", files{cpuinfo: "CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"}},
		{"no model", KeyCPUModel, "!names no model", files{cpuinfo: "processor\t: 0\n"}},
		{"no flags", KeyTSCInvariant, "!no line \"flags\"", files{cpuinfo: "processor\t: 0\n"}},
		{"TSC stops", KeyTSCInvariant, "no", files{cpuinfo: "flags\t: constant_tsc\n"}},
		{"no governor", KeyGovernor, "performance", files{cpu + "cpu0/cpufreq/scaling_governor": "", cpu + "cpu3/cpufreq/scaling_governor": ""}},
		{"AMD boost off", KeyTurbo, "off", files{cpu + "intel_pstate/no_turbo": "", cpu + "cpufreq/boost": "0\n"}},
		{"Intel turbo off", KeyTurbo, "off", files{cpu + "intel_pstate/no_turbo": "1\n"}},
		{"no switch", KeyTurbo, "!no switch", files{cpu + "intel_pstate/no_turbo": ""}},
		{"SMT forced off", KeySMT, "off (forceoff)", files{cpu + "smt/active": "0\n", cpu + "smt/control": "forceoff\n"}},
		{"bad list", KeyCPUs, "!not a list", files{cpu + "present": "3-0\n"}},
		{"empty list", KeyCPUs, "!not a list", files{cpu + "present": "\n"}},
		{"firmware names it", KeyHypervisor, "yes (QEMU)", files{cpuinfo: "flags\t: hypervisor\n", "sys/class/dmi/id/sys_vendor": "QEMU\n"}},
		{"nameless", KeyHypervisor, "yes", files{cpuinfo: "flags\t: hypervisor\n"}},
		{"user mode", KeyHypervisor, "user-mode linux", files{cpuinfo: "vendor_id\t: User Mode Linux\n"}},
		{"docker", KeyContainer, "docker", files{".dockerenv": " "}},
		{"podman", KeyContainer, "podman", files{"run/.containerenv": " "}},
		{"systemd says", KeyContainer, "systemd-nspawn", files{"run/systemd/container": "systemd-nspawn\n"}},
		{"pod", KeyContainer, "kubepods", files{"proc/self/cgroup": "0::/kubepods/burstable/pod1/abc\n"}},
		{"quota above", KeyCPULimit, "1.5 CPUs", files{
			cg + "user.slice/cpu.max": "150000 100000\n", cg + "user.slice/session/cpu.max": "max 100000\n", cg + "cpu.max": "400000 100000\n"}},
		{"quota of version 1", KeyCPULimit, "0.5 CPUs", files{"proc/self/cgroup": "4:memory:/x\n3:cpu,cpuacct:/docker/x\n",
			cg + "cpu,cpuacct/docker/x/cpu.cfs_quota_us": "50000\n", cg + "cpu,cpuacct/docker/x/cpu.cfs_period_us": "100000\n"}},
		{"no quota of version 1", KeyCPULimit, "none", files{"proc/self/cgroup": "3:cpu:/\n",
			cg + "cpu/cpu.cfs_quota_us": "-1\n", cg + "cpu/cpu.cfs_period_us": "100000\n"}},
		{"THP off", KeyTHP, "never", files{"sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]\n"}},
		{"THP unmarked", KeyTHP, "!marks no setting", files{"sys/kernel/mm/transparent_hugepage/enabled": "always\n"}},
		{"no limit", KeyMemlock, "unlimited", files{"proc/self/limits": "Max locked memory  unlimited  unlimited  bytes\n"}},
		{"bad limit", KeyMemlock, "!not a number", files{"proc/self/limits": "Max locked memory  lots  unlimited  bytes\n"}},
		{"no such limit", KeyNofile, "!no row", files{"proc/self/limits": "Max locked memory  1 1 bytes\n"}},
		{"bad memory", KeyMemory, "!MemTotal", files{"proc/meminfo": "MemTotal: many kB\n"}},
		{"short stat", KeySteal, "!no steal", files{"proc/stat": "cpu 1 2 3 4\n"}},
		{"bad stat", KeySteal, "!unexpected", files{"proc/stat": "cpu 1 2 3 4 5 6 7 x 0 0\n"}},
		{"just booted", KeySteal, "!no time", files{"proc/stat": "cpu 0 0 0 0 0 0 0 0 0 0\n"}},
		{"short load", KeyLoad, "!unexpected", files{"proc/loadavg": "0.1\n"}},
		{"root", KeyRoot, "yes", files{"proc/self/status": "Uid:\t1000\t0\t0\t0\n"}},
		{"no setting", KeyUringDisabled, "!no /" + uringSysctl, files{uringSysctl: ""}},
		{"clean CPU", KeyMitigations, "not affected", files{cpu + "vulnerabilities/meltdown": "", cpu + "vulnerabilities/mds": "",
			cpu + "vulnerabilities/itlb_multihit": "", cpu + "vulnerabilities/new_one": "", "proc/cmdline": "quiet\n"}},
		{"empty file", KeyKernel, "!empty", files{"proc/sys/kernel/osrelease": "\n"}},
	} {
		t.Run(tc.name, func(t *testing.T) { checkItem(t, laptop.with(tc.change), tc.key, tc.want) })
	}
}

func checkItem(t *testing.T, machine files, key, want string) {
	t.Helper()
	for _, it := range machine.read(t) {
		if it.Key != key {
			continue
		}
		if reason, ok := strings.CutPrefix(want, "!"); ok {
			if !strings.Contains(it.Unavailable, reason) {
				t.Errorf("%s: value %q, reason %q; want %q", key, it.Value, it.Unavailable, reason)
			}
		} else if it.Value != want {
			t.Errorf("%s = %q (%s), want %q", key, it.Value, it.Unavailable, want)
		}
		return
	}
	t.Errorf("no %s", key)
}

func TestBytesText(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1 KiB", 65536: "64 KiB", 1536: "1.5 KiB", 8 << 20: "8 MiB", 1 << 50: "1024 TiB",
	} {
		if got := bytesText(n); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

func TestReadAtMost(t *testing.T) {
	if b, err := readAtMost(strings.NewReader("12345"), 5); string(b) != "12345" || err != nil {
		t.Errorf("%q, %v", b, err)
	}
	if _, err := readAtMost(strings.NewReader("123456"), 5); err == nil {
		t.Error("an oversized file was accepted")
	}
}
