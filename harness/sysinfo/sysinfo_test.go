package sysinfo

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func TestReadLaptop(t *testing.T) {
	env := laptop.read(t)
	for key, want := range map[string]string{
		KeyArch: runtime.GOARCH, KeyPageSize: strconv.Itoa(os.Getpagesize()), KeyGo: runtime.Version(),
		KeyKernel: "6.12.9-amd64", KeyCPUModel: "Some CPU @ 2.0GHz",
		KeyCPUs: "4", KeyCPUsOnline: "3", KeyCPUsAllowed: "1 (2)", KeyCPULimit: "none",
		KeyGovernor: "performance, powersave", KeyTurbo: "on", KeySMT: "on",
		KeyMitigations: "mitigated: itlb_multihit meltdown; vulnerable: mds; unknown: new_one; mitigations=off",
		KeyHypervisor:  "none", KeyContainer: "none", KeyClass: "n/a",
		KeyClockSource: "hpet", KeyTSCInvariant: "yes", KeyMemory: "15.3 GiB", KeyTHP: "always",
		KeyMemlock: "64 KiB (at most unlimited)", KeyNofile: "1024 (at most 524288)",
		KeyTCPRmem: "4096 131072 6291456", KeyTCPWmem: "4096 16384 4194304",
		KeyUringDisabled: "0", KeyPerfParanoid: "3", KeyLoad: "2.50 1.00 0.50",
		KeySteal: "5.00% since boot", KeyRoot: "no (uid 1000)",
	} {
		if got, ok := env.Get(key); got != want || !ok {
			t.Errorf("%s = %q, %v; want %q", key, got, ok, want)
		}
	}
}

// TestValueOrReason holds for any machine: one of the two, never both, and no
// reason names the place of the test tree.
func TestValueOrReason(t *testing.T) {
	empty := t.TempDir()
	for _, root := range []string{"/", empty, laptop.root(t)} {
		seen := map[string]bool{}
		for _, it := range Read(root) {
			if (it.Value == "") == (it.Unavailable == "") {
				t.Errorf("%s: value %q, unavailable %q", it.Key, it.Value, it.Unavailable)
			}
			if seen[it.Key] {
				t.Errorf("%s is there twice", it.Key)
			}
			seen[it.Key] = true
			if strings.Contains(it.Unavailable, empty) {
				t.Errorf("%s: %q names the test tree", it.Key, it.Unavailable)
			}
		}
	}
	if v, ok := Read(empty).Get(KeyKernel); ok {
		t.Errorf("kernel of an empty tree: %q", v)
	}
}

func TestThisMachineIsReadable(t *testing.T) {
	env := Read("/")
	for _, key := range []string{KeyKernel, KeyCPUs, KeyCPUsOnline, KeyCPUsAllowed, KeyMemory, KeyMemlock, KeyNofile, KeyLoad, KeyRoot, KeySteal} {
		if v, ok := env.Get(key); !ok {
			t.Errorf("%s unavailable: %q", key, v)
		}
	}
	if v, _ := env.Get(KeyRoot); (v == "yes") != (os.Geteuid() == 0) {
		t.Errorf("root is %q for user id %d", v, os.Geteuid())
	}
}

func TestCompareKinds(t *testing.T) {
	env := With(laptop.read(t), Library("rdma-core", "50"), Tool("v1"))
	want := map[string]record.Kind{
		KeyArch: record.Exact, KeyPageSize: record.Exact, "library_rdma-core": record.Exact,
		KeyKernel: record.Sampled, KeyCPUModel: record.Sampled, KeyGovernor: record.Sampled,
		KeyClass: record.Sampled, KeyPlacement: record.Sampled,
	}
	for _, it := range env {
		if it.Compare != want[it.Key] {
			t.Errorf("%s is compared for %q, want %q", it.Key, it.Compare, want[it.Key])
		}
	}
	other := laptop.with(files{"proc/sys/kernel/osrelease": "6.13\n", "proc/loadavg": "0 0 0 1/1 1\n"}).read(t)
	other = With(other, Library("rdma-core", "51"))
	if got := env.Mismatch(other, record.Exact); len(got) != 1 || got[0] != "library_rdma-core" {
		t.Errorf("exact mismatches %v", got)
	}
	if got := env.Mismatch(other, record.Sampled); len(got) != 2 {
		t.Errorf("sampled mismatches %v", got)
	}
}

func TestWith(t *testing.T) {
	env := laptop.read(t)
	set := With(env, Placement("thread on CPU 0"), Class("guest"), Tool("v1"))
	if len(set) != len(env)+1 || set[len(set)-1].Key != KeyTool {
		t.Fatalf("%d items after %d", len(set), len(env))
	}
	if v, ok := set.Get(KeyPlacement); v != "thread on CPU 0" || !ok {
		t.Errorf("placement %q, %v", v, ok)
	}
	if v, _ := set.Get(KeyClass); v != "guest" {
		t.Errorf("class %q", v)
	}
	if _, ok := env.Get(KeyPlacement); ok {
		t.Error("With changed its argument")
	}
}

func TestGOAMD64(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("not an amd64 binary")
	}
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "amd64"}, {Key: "GOAMD64", Value: "v3"}}}
	if v, err := goamd64(info, true); v != "v3" || err != nil {
		t.Errorf("%q, %v", v, err)
	}
	if v, err := goamd64(&debug.BuildInfo{}, true); err == nil {
		t.Errorf("without the setting: %q", v)
	}
	if v, err := goamd64(nil, false); err == nil {
		t.Errorf("without build information: %q", v)
	}
}
