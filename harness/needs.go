package harness

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/harness/sysinfo"
	"golang.org/x/sys/unix"
)

// What the processes of a run take by themselves, as measured on amd64, rounded
// up. A trial's processes share the program's own pages.
const (
	memoryOfRun   = 48 << 20 // zcbench itself, which renders the reports at the end
	memoryOfChild = 24 << 20
	leastTasks    = 24 // threads of all of them, on one CPU
	tasksPerCPU   = 6
	leastLine     = 3 << 10 // bytes of one line of a result
	ampleLine     = 12 << 10
	ampleReports  = 8 << 20
	socketMemory  = 128 << 10 // of one client, both ends: what TCP begins with
	ampleMappings = 512
)

// Need is how much of something a plan takes, and how much there is.
type Need struct {
	Name  string // open files
	Bytes bool   // the unit, else a number
	// Least is what the run is sure to fail without, Ample what it takes at worst.
	Least, Ample int64
	// Of is the case that takes the most; empty: the whole run.
	Of   string
	Room sysinfo.Room
	// Unknown says why Room is not known.
	Unknown string
	Remedy  string // a command, or what to do
}

// Lacking tells whether there is less than the run is sure to need.
func (n Need) Lacking() bool { return n.Unknown == "" && n.Room.Have < n.Least }

// Tight tells whether there may be less than the run needs.
func (n Need) Tight() bool { return n.Unknown == "" && n.Room.Have < n.Ample }

// String says in one line what is needed, what there is, and what to do.
func (n Need) String() string {
	of := ""
	if n.Of != "" {
		of = " (" + n.Of + ")"
	}
	needed := n.amount(n.Ample) + " may be needed" + of
	if n.Lacking() {
		needed = n.amount(n.Least) + " is needed at least"
	}
	return fmt.Sprintf("%s: %s, %s is there by %s; %s", n.Name, needed, n.amount(n.Room.Have), n.Room.Limit, n.Remedy)
}

func (n Need) amount(v int64) string {
	switch {
	case v == sysinfo.Unlimited:
		return "no limit"
	case n.Bytes:
		return sysinfo.Bytes(v)
	}
	return fmt.Sprint(v)
}

// Amounts are the least, the ample and the present amount as text.
func (n Need) Amounts() (least, ample, have string) {
	have = n.amount(n.Room.Have)
	if n.Unknown != "" {
		have = "unknown: " + n.Unknown
	}
	return n.amount(n.Least), n.amount(n.Ample), have
}

// Place is where a plan is to run.
type Place struct {
	Root   string // of the files that tell of the machine, normally /
	Output string // directory of the result, which may not exist yet
	// Free returns the bytes free for this user on the file system of a directory;
	// nil: asks the kernel.
	Free func(dir string) (int64, error)
}

// Needs holds what the plan takes against what there is at a place. Trials run one
// at a time, so that the one that takes the most is what counts.
func (p *Plan) Needs(reg Registry, at Place) []Need {
	all := []Need{
		p.most("open files", false, sysinfo.Files, at, needFiles),
		p.most("locked memory", true, sysinfo.Lockable, at, func(t record.Trial) (int64, int64) { return needLocked(reg, t) }),
		p.most("memory", true, sysinfo.Memory, at, needMemory),
		p.most("processes and threads", false, sysinfo.Tasks, at, needTasks),
		p.most("ports", false, sysinfo.Ports, at, needPorts),
		p.most("memory mappings", false, sysinfo.Mappings, at, needMappings),
		p.disk(at),
	}
	for i := range all {
		all[i].Remedy = remedy(all[i])
	}
	return all
}

// most is a need that each trial has by itself.
func (p *Plan) most(name string, bytes bool, read func(string) (sysinfo.Room, error), at Place, of func(record.Trial) (least, ample int64)) Need {
	n := Need{Name: name, Bytes: bytes}
	for _, t := range p.Trials {
		least, ample := of(t)
		n.Least = max(n.Least, least)
		if ample > n.Ample {
			n.Ample, n.Of = ample, t.Case
		}
	}
	var err error
	if n.Room, err = read(at.Root); err != nil {
		n.Unknown = err.Error()
	}
	return n
}

func needFiles(t record.Trial) (least, ample int64) {
	n := int64(t.Workload.Clients)
	return n + load.SpareFiles/2, n + load.SpareFiles
}

// needLocked is what a strategy pins. Rings do not count from Linux 5.12 on, where
// they are charged to the memory control group (io_uring_setup(2)).
func needLocked(reg Registry, t record.Trial) (least, ample int64) {
	s, ok := reg.Find(t.Strategy)
	if !ok || s.Pins == nil {
		return 0, 0
	}
	return 0, s.Pins(t.Workload, t.Params) // the other strategies run without
}

// needMemory is what becomes resident: at worst every buffer, every message held or
// put together, what the sockets hold, and the samples of latency.
func needMemory(t record.Trial) (least, ample int64) {
	w := t.Workload
	least = memoryOfRun + memoryOfChild
	ample = least
	if w.Kind == record.KindReceive {
		least += memoryOfChild // the generator
		clients := int64(w.Clients)
		messages := int64(t.Warmup + t.Messages)
		ample = least + clients*(w.BudgetBytes+socketMemory) + int64(max(1, w.Held())+w.Clients)*load.Largest(w.Sizes) + 24*messages
	}
	if w.Live > 0 && w.LiveBytes != nil {
		ample += 2 * int64(w.Live) * load.Largest(*w.LiveBytes)
	}
	return least, ample
}

func needTasks(record.Trial) (least, ample int64) {
	return leastTasks, leastTasks + int64(tasksPerCPU*runtime.NumCPU())
}

func needPorts(t record.Trial) (least, ample int64) {
	switch n := int64(t.Workload.Clients); t.Workload.Transport {
	case load.TCP:
		return n, n
	case load.UDP:
		return n, 2 * n // both ends have a port of their own
	}
	return 0, 0
}

func needMappings(t record.Trial) (least, ample int64) {
	return ampleMappings / 2, ampleMappings + 2*int64(t.Workload.Clients)
}

// disk is what the result and its reports take.
func (p *Plan) disk(at Place) Need {
	lines := int64(len(p.Trials))
	n := Need{Name: "disk", Bytes: true, Least: (lines + 8) * leastLine, Ample: (lines+8)*ampleLine + ampleReports}
	free := at.Free
	if free == nil {
		free = freeOn
	}
	dir := existing(at.Output)
	have, err := free(dir)
	if n.Room = (sysinfo.Room{Have: have, Limit: "the file system of " + dir}); err != nil {
		n.Unknown = err.Error()
	}
	return n
}

// existing is a directory, or the nearest above it that is there.
func existing(dir string) string {
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
	}
}

func freeOn(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", dir, err)
	}
	return int64(st.Bavail) * st.Bsize, nil
}

// remedy says how to get what a need lacks.
func remedy(n Need) string {
	switch {
	case n.Room.Group:
		return fmt.Sprintf("as root: echo %d > %s, or run it outside that control group", n.Ample+n.Ample/4, n.Room.Limit)
	case n.Name == "open files":
		return fmt.Sprintf("as root: prlimit --pid $$ --nofile=%d, or take fewer clients", n.Ample)
	case n.Name == "locked memory":
		return fmt.Sprintf("as root: prlimit --pid $$ --memlock=%d", n.Ample)
	case n.Name == "processes and threads":
		return fmt.Sprintf("as root: prlimit --pid $$ --nproc=%d", n.Ample+n.Ample/4+(1<<10))
	case n.Name == "ports":
		return `as root: sysctl -w net.ipv4.ip_local_port_range="1024 65535", or take transport unix`
	case n.Name == "memory mappings":
		return fmt.Sprintf("as root: sysctl -w vm.max_map_count=%d", n.Ample)
	case n.Name == "disk":
		return "make room, or name a folder elsewhere with -o"
	}
	return "end other programs, or take fewer clients or a smaller budget"
}
