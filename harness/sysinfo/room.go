package sysinfo

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Unlimited is the room where nothing limits it.
const Unlimited = math.MaxInt64

// Room is how much of something this process may still take.
type Room struct {
	Have  int64  // Unlimited: no limit
	Limit string // what sets it: the name of a limit, or the file of one
	// Group is set where the limit is that of a control group.
	Group bool
}

// Files is how many files this process may have open, once it has raised its soft
// limit as far as it can (RLIMIT_NOFILE, getrlimit(2)).
func Files(root string) (Room, error) {
	_, hard, err := tree{root}.bounds("Max open files")
	return Room{Have: hard, Limit: "RLIMIT_NOFILE, the hard limit"}, err
}

// Lockable is how many bytes this process may lock or pin (RLIMIT_MEMLOCK). Those
// with CAP_IPC_LOCK are not limited (capabilities(7)).
func Lockable(root string) (Room, error) {
	t := tree{root}
	r := Room{Have: Unlimited, Limit: "RLIMIT_MEMLOCK"}
	if t.capable(capIPCLock) {
		return r, nil
	}
	var err error
	r.Have, _, err = t.bounds("Max locked memory")
	return r, err
}

// Memory is how many bytes can still become resident: what the kernel thinks is
// available (proc_meminfo(5)), and what the control groups leave.
func Memory(root string) (Room, error) {
	t := tree{root}
	const name = "proc/meminfo"
	v, err := t.keyed(name, "MemAvailable")
	if err != nil {
		return Room{}, err
	}
	kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(v, "kB")), 10, 64)
	if err != nil {
		return Room{}, fmt.Errorf("/%s: MemAvailable is %q", name, v)
	}
	r := Room{Have: kib << 10, Limit: "MemAvailable of /proc/meminfo"}
	return t.tightest(r, "memory", []groupLimit{
		{"memory.max", "memory.current"}, {"memory.limit_in_bytes", "memory.usage_in_bytes"},
	}), nil
}

// Tasks is how many processes and threads can still be started: by the user
// (RLIMIT_NPROC, which does not hold for root), and in the control groups.
func Tasks(root string) (Room, error) {
	t := tree{root}
	r := Room{Have: Unlimited, Limit: "RLIMIT_NPROC"}
	if !t.capable(capSysResource) && !t.capable(capSysAdmin) {
		soft, _, err := t.bounds("Max processes")
		if err != nil {
			return r, err
		}
		if r.Have = soft; soft != Unlimited {
			r.Have = max(0, soft-t.threads())
		}
	}
	return t.tightest(r, "pids", []groupLimit{{"pids.max", "pids.current"}}), nil
}

// Ports is how many ports the kernel chooses from for connections (ip(7)).
func Ports(root string) (Room, error) {
	const name = "proc/sys/net/ipv4/ip_local_port_range"
	text, err := tree{root}.fields(name)
	if err != nil {
		return Room{}, err
	}
	var lo, hi int64
	if n, _ := fmt.Sscan(text, &lo, &hi); n != 2 || hi < lo {
		return Room{}, fmt.Errorf("/%s is %q", name, text)
	}
	return Room{Have: hi - lo + 1, Limit: "net.ipv4.ip_local_port_range"}, nil
}

// Mappings is how many memory mappings a process may have (proc_sys_vm(5)).
func Mappings(root string) (Room, error) {
	const name = "proc/sys/vm/max_map_count"
	text, err := tree{root}.text(name)
	if err != nil {
		return Room{}, err
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return Room{}, fmt.Errorf("/%s is %q", name, text)
	}
	return Room{Have: n, Limit: "vm.max_map_count"}, nil
}

// Bits of capabilities(7), linux/capability.h.
const (
	capIPCLock     = 14
	capSysAdmin    = 21
	capSysResource = 24
)

// capable tells whether this process has a capability in effect.
func (t tree) capable(bit int) bool {
	v, err := t.keyed("proc/self/status", "CapEff")
	if err != nil {
		return false
	}
	set, err := strconv.ParseUint(v, 16, 64)
	return err == nil && set&(1<<bit) != 0
}

// bounds are the soft and the hard limit of a row of /proc/self/limits.
func (t tree) bounds(row string) (soft, hard int64, err error) {
	const name = "proc/self/limits"
	s, err := t.raw(name)
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(s) {
		rest, ok := strings.CutPrefix(line, row)
		f := strings.Fields(rest)
		if !ok || len(f) < 2 {
			continue
		}
		soft, err1 := boundOf(f[0])
		hard, err2 := boundOf(f[1])
		return soft, hard, errors.Join(err1, err2)
	}
	return 0, 0, fmt.Errorf("/%s has no row %q", name, row)
}

func boundOf(text string) (int64, error) {
	if text == unlimited {
		return Unlimited, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("limit %q is not a number", text)
	}
	return n, nil
}

// threads counts those of this process' user.
func (t tree) threads() int64 {
	own, _ := t.keyed("proc/self/status", "Uid")
	paths, _ := filepath.Glob(filepath.Join(t.root, "proc/[0-9]*/status")) // the pattern is good
	var n int64
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			continue // it has ended
		}
		uid, _ := lookup(string(b), "Uid")
		if real, _, _ := strings.Cut(uid, "\t"); uid == "" || !strings.HasPrefix(own, real+"\t") {
			continue
		}
		threads, _ := lookup(string(b), "Threads")
		if k, err := strconv.ParseInt(threads, 10, 64); err == nil {
			n += k
		}
	}
	return n
}

// groupLimit names the files of a control group that hold a limit and what is
// used of it.
type groupLimit struct{ limit, used string }

// tightest returns r, or what a control group of a controller leaves if that is
// less. A group's limit holds for all below it (cgroups(7)).
func (t tree) tightest(r Room, controller string, files []groupLimit) Room {
	for _, dir := range t.groups(controller) {
		for _, f := range files {
			limit, err1 := t.count(path.Join(dir, f.limit))
			used, err2 := t.count(path.Join(dir, f.used))
			if err1 != nil || err2 != nil {
				continue // "max", the group at the root, or the other version's
			}
			if have := max(0, limit-used+t.reclaimable(dir)); have < r.Have {
				r = Room{Have: have, Limit: "/" + path.Join(dir, f.limit), Group: true}
			}
		}
	}
	return r
}

func (t tree) count(name string) (int64, error) {
	s, err := t.text(name)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(s, 10, 64)
}

// reclaimable is what a memory group holds of files that nobody uses: the kernel
// drops them before it refuses memory.
func (t tree) reclaimable(dir string) int64 {
	s, err := t.raw(path.Join(dir, "memory.stat"))
	if err != nil {
		return 0
	}
	var own int64
	for line := range strings.Lines(s) {
		f := strings.Fields(line)
		if len(f) != 2 {
			continue
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		switch {
		case err != nil:
		case f[0] == "total_inactive_file": // version 1, groups below included
			return n
		case f[0] == "inactive_file":
			own = n
		}
	}
	return own
}

// groups lists the control groups of a controller this process is in, and those
// above, as directories below the root.
func (t tree) groups(controller string) []string {
	s, err := t.raw("proc/self/cgroup")
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(s) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		base := "sys/fs/cgroup"
		if f[1] != "" {
			if !slices.Contains(strings.Split(f[1], ","), controller) {
				continue
			}
			base = path.Join(base, controller)
		}
		for dir := path.Clean("/" + f[2]); ; dir = path.Dir(dir) {
			out = append(out, path.Join(base, dir))
			if dir == "/" {
				break
			}
		}
	}
	return out
}
