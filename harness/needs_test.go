package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// roomy is a machine that has enough of everything.
var roomy = map[string]string{
	"proc/self/limits":                      "Max processes 4096 4096 processes\nMax open files 64 4096 files\nMax locked memory 8388608 8388608 bytes\n",
	"proc/self/status":                      "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n",
	"proc/self/cgroup":                      "0::/me\n",
	"proc/meminfo":                          "MemAvailable: 8000000 kB\n",
	"proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
	"proc/sys/vm/max_map_count":             "65530\n",
}

// machineOf writes the files of a machine with some changed; empty text: missing.
func machineOf(t *testing.T, base, change map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for _, files := range []map[string]string{base, change} {
		for name, text := range files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			err := os.WriteFile(path, []byte(text), 0o600)
			if text == "" {
				err = os.Remove(path)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func needs(t *testing.T, p *Plan, change map[string]string, free int64, freeErr error) map[string]Need {
	t.Helper()
	reg := testRegistry()
	for i := range reg {
		if reg[i].Name == "alpha" {
			reg[i].Pins = func(w record.Workload, p Values) int64 {
				return int64(w.Clients) * w.BudgetBytes * p.Bytes("chunk", 0) / 1024
			}
		}
	}
	out := map[string]Need{}
	for _, n := range p.Needs(reg, Place{Root: machineOf(t, roomy, change), Output: filepath.Join(t.TempDir(), "not", "yet"),
		Free: func(string) (int64, error) { return free, freeErr }}) {
		out[n.Name] = n
	}
	return out
}

func TestNeedsFollowThePlan(t *testing.T) {
	few := needs(t, planned(t, scenarioText, PlanOptions{Seed: 1}), nil, 1<<40, nil)
	for name, n := range few {
		if n.Tight() || n.Lacking() || n.Unknown != "" || n.Least > n.Ample {
			t.Errorf("%s on a roomy machine: %+v", name, n)
		}
	}
	if n := few["locked memory"]; n.Ample != 4*8192*4 || !strings.HasPrefix(n.Of, "alpha{chunk=4KiB}@clients=4") || n.Least != 0 {
		t.Errorf("locked memory: %+v", n)
	}
	many := needs(t, planned(t, edited(t, "[1, 4]", "[1, 1004]"), PlanOptions{Seed: 1}), nil, 1<<40, nil)
	for name, more := range map[string]int64{
		"open files": 1000, "ports": 1000, "memory mappings": 2000, "locked memory": 1000 * 8192 * 4, "disk": 0, "processes and threads": 0,
	} {
		if got := many[name].Ample - few[name].Ample; got != more {
			t.Errorf("%s: a thousand clients more take %d more, want %d", name, got, more)
		}
	}
	if got := many["memory"].Ample - few["memory"].Ample; got < 1000*8192 {
		t.Errorf("memory: a thousand clients more take %d more", got)
	}
	long := needs(t, planned(t, scenarioText, PlanOptions{Seed: 1, Blocks: 60}), nil, 1<<40, nil)
	if long["disk"].Ample <= few["disk"].Ample {
		t.Error("more blocks take no more room on the disk")
	}
	if n := needs(t, planned(t, edited(t, "  load:", "  transport: unix\n  load:"), PlanOptions{Seed: 1}), nil, 1, nil)["ports"]; n.Ample != 0 {
		t.Errorf("ports without a network: %+v", n)
	}
}

// Each limit, set too low, is told by its name with what raises it.
func TestNeedsThatAreNotMet(t *testing.T) {
	p := planned(t, edited(t, "[1, 4]", "[1, 1004]"), PlanOptions{Seed: 1})
	for name, c := range map[string]struct {
		change map[string]string
		sure   bool
		says   []string
	}{
		"open files":            {map[string]string{"proc/self/limits": "Max processes 4096 4096 processes\nMax open files 64 1000 files\nMax locked memory 1 1 bytes\n"}, true, []string{"1000 is there by RLIMIT_NOFILE", "prlimit --pid $$ --nofile="}},
		"locked memory":         {map[string]string{"proc/self/limits": "Max processes 4096 4096 processes\nMax open files 9999 9999 files\nMax locked memory 65536 65536 bytes\n"}, false, []string{"64 KiB is there by RLIMIT_MEMLOCK", "--memlock="}},
		"memory":                {map[string]string{"sys/fs/cgroup/me/memory.max": "67108864\n", "sys/fs/cgroup/me/memory.current": "0\n"}, true, []string{"64 MiB is there by /sys/fs/cgroup/me/memory.max", "> /sys/fs/cgroup/me/memory.max"}},
		"processes and threads": {map[string]string{"sys/fs/cgroup/pids.max": "20\n", "sys/fs/cgroup/pids.current": "10\n"}, true, []string{"10 is there by /sys/fs/cgroup/pids.max"}},
		"ports":                 {map[string]string{"proc/sys/net/ipv4/ip_local_port_range": "100 200\n"}, true, []string{"101 is there", "sysctl -w net.ipv4.ip_local_port_range"}},
		"memory mappings":       {map[string]string{"proc/sys/vm/max_map_count": "2000\n"}, false, []string{"sysctl -w vm.max_map_count=2520"}},
	} {
		all := needs(t, p, c.change, 1<<40, nil)
		n := all[name]
		if !n.Tight() || n.Lacking() != c.sure {
			t.Errorf("%s: %+v", name, n)
		}
		for _, s := range append(c.says, name) {
			if !strings.Contains(n.String(), s) {
				t.Errorf("%q does not say %q", n, s)
			}
		}
		for other, n := range all {
			if other != name && n.Lacking() {
				t.Errorf("%s lacks where only %s was taken: %s", other, name, n)
			}
		}
	}
	if n := needs(t, p, nil, 1000, nil)["disk"]; !n.Lacking() || !strings.Contains(n.String(), "-o") {
		t.Errorf("a full disk: %+v", n)
	}
	if n := needs(t, p, nil, 0, errors.New("no such disk"))["disk"]; n.Tight() || !strings.Contains(n.Unknown, "no such disk") {
		t.Errorf("an unknown disk: %+v", n)
	}
	if n := needs(t, p, map[string]string{"proc/meminfo": ""}, 1, nil)["memory"]; n.Tight() || !strings.Contains(n.Unknown, "meminfo") {
		t.Errorf("memory that nobody tells: %+v", n)
	}
	if dir := existing("/no/such/folder"); dir != "/" {
		t.Errorf("the folder above is %s", dir)
	}
	if free, err := freeOn(t.TempDir()); err != nil || free <= 0 {
		t.Errorf("%d bytes free: %v", free, err)
	}
}
