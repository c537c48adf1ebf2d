package sysinfo

import (
	"strings"
	"testing"
)

// modest is a user's process among others, with limits everywhere.
var modest = files{
	"proc/self/limits": "Limit   Soft Limit   Hard Limit   Units\n" +
		"Max processes             100                  200                  processes\n" +
		"Max open files            1024                 4096                 files\n" +
		"Max locked memory         65536                unlimited            bytes\n",
	"proc/self/status":                        "Uid:\t1000\t1000\t1000\t1000\nThreads:\t7\nCapEff:\t0000000000000000\n",
	"proc/11/status":                          "Uid:\t1000\t1000\t1000\t1000\nThreads:\t7\n",
	"proc/12/status":                          "Uid:\t1000\t0\t0\t0\nThreads:\t20\n",
	"proc/13/status":                          "Uid:\t100\t100\t100\t100\nThreads:\t500\n",
	"proc/meminfo":                            "MemTotal: 4000 kB\nMemAvailable:  1000 kB\n",
	"proc/sys/net/ipv4/ip_local_port_range":   "32768\t60999\n",
	"proc/sys/vm/max_map_count":               "65530\n",
	"proc/self/cgroup":                        "0::/user/me\n",
	"sys/fs/cgroup/user/memory.max":           "max\n",
	"sys/fs/cgroup/user/memory.current":       "5\n",
	"sys/fs/cgroup/memory.max":                "10\n",
	"sys/fs/cgroup/user/me/pids.max":          "40\n",
	"sys/fs/cgroup/user/me/pids.current":      "38\n",
	"sys/fs/cgroup/user/pids.max":             "max\n",
	"sys/fs/cgroup/user/pids.current":         "40\n",
	"sys/fs/cgroup/unrelated/memory.max":      "1\n",
	"sys/fs/cgroup/unrelated/memory.current":  "1\n",
	"sys/fs/cgroup/user/me/memory.max.absent": "1\n",
}

func TestRooms(t *testing.T) {
	cgroup1 := files{
		"proc/self/cgroup": "4:memory:/a/b\n3:cpu:/\n8:pids:/a\n0::/\n",
		"sys/fs/cgroup/memory/a/memory.limit_in_bytes":   "900000\n",
		"sys/fs/cgroup/memory/a/memory.usage_in_bytes":   "500000\n",
		"sys/fs/cgroup/memory/a/memory.stat":             "inactive_file 1\ntotal_inactive_file 100000\n",
		"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n",
		"sys/fs/cgroup/memory/a/b/memory.usage_in_bytes": "100\n",
		"sys/fs/cgroup/pids/a/pids.max":                  "50\n", "sys/fs/cgroup/pids/a/pids.current": "60\n",
	}
	root := files{"proc/self/status": "Uid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n", "sys/fs/cgroup/user/me/pids.max": "max\n"}
	type reader func(string) (Room, error)
	for name, c := range map[string]struct {
		read  reader
		with  files
		have  int64
		limit string
	}{
		"files":                       {Files, nil, 4096, "RLIMIT_NOFILE"},
		"locked":                      {Lockable, nil, 65536, "RLIMIT_MEMLOCK"},
		"locked by root":              {Lockable, root, Unlimited, "RLIMIT_MEMLOCK"},
		"memory":                      {Memory, nil, 1000 << 10, "MemAvailable"},
		"memory of a group":           {Memory, files{"sys/fs/cgroup/user/memory.max": "700\n"}, 695, "/sys/fs/cgroup/user/memory.max"},
		"memory used up":              {Memory, files{"sys/fs/cgroup/user/memory.max": "4\n"}, 0, "/sys/fs/cgroup/user/memory.max"},
		"memory of a group, of files": {Memory, files{"sys/fs/cgroup/user/memory.max": "700\n", "sys/fs/cgroup/user/memory.stat": "anon 9\ninactive_file 3\n"}, 698, "memory.max"},
		"memory of version 1":         {Memory, cgroup1, 500000, "/sys/fs/cgroup/memory/a/memory.limit_in_bytes"},
		"tasks of a group":            {Tasks, nil, 2, "/sys/fs/cgroup/user/me/pids.max"},
		"tasks of version 1":          {Tasks, cgroup1, 0, "/sys/fs/cgroup/pids/a/pids.max"},
		"tasks of a user":             {Tasks, files{"proc/self/cgroup": "0::/\n"}, 73, "RLIMIT_NPROC"},
		"tasks of root":               {Tasks, root, Unlimited, "RLIMIT_NPROC"},
		"ports":                       {Ports, nil, 28232, "ip_local_port_range"},
		"mappings":                    {Mappings, nil, 65530, "vm.max_map_count"},
	} {
		r, err := c.read(modest.with(c.with).root(t))
		if err != nil || r.Have != c.have || !strings.Contains(r.Limit, c.limit) || r.Group != strings.HasPrefix(r.Limit, "/sys") {
			t.Errorf("%s: %+v, %v; want %d of %s", name, r, err, c.have, c.limit)
		}
	}
	for name, read := range map[string]reader{"files": Files, "locked": Lockable, "memory": Memory, "tasks": Tasks, "ports": Ports, "mappings": Mappings} {
		if r, err := read(t.TempDir()); err == nil {
			t.Errorf("%s of nowhere: %+v", name, r)
		}
		if r, err := read("/"); err != nil || r.Have <= 0 {
			t.Errorf("%s of this machine: %+v, %v", name, r, err)
		}
	}
}
