package sysinfo

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/zcbench/zcbench/harness/record"
)

// busyShare is the share of one CPU from which a process is told of, busyMost how
// many are.
const (
	busyShare = 0.2
	busyMost  = 5
)

// userHz is how the kernel counts CPU time for user space on all machines Go runs
// on (proc_pid_stat(5), sysconf(_SC_CLK_TCK)).
const userHz = 100

// process is one process at one moment; its number and start tell it apart.
type process struct {
	pid, start int64
}

// Processes is what all processes have used at one moment.
type Processes struct {
	at   time.Time
	used map[process]usage
}

type usage struct {
	name  string
	ticks int64
}

// Snapshot reads what the processes below a root have used so far; of those that
// this one may not see there is nothing.
func Snapshot(root string) Processes {
	p := Processes{at: time.Now(), used: map[process]usage{}}
	paths, _ := filepath.Glob(filepath.Join(root, "proc/[0-9]*/stat")) // the pattern is good
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		if id, u, ok := parseStat(string(b)); ok {
			p.used[id] = u
		}
	}
	return p
}

// parseStat reads a line of /proc/PID/stat: the name is in brackets and may hold
// anything, utime and stime are fields 14 and 15, the start is 22.
func parseStat(line string) (process, usage, bool) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return process{}, usage{}, false
	}
	f := strings.Fields(line[end+1:])
	const utime, stime, start = 14 - 3, 15 - 3, 22 - 3
	if len(f) <= start {
		return process{}, usage{}, false
	}
	var n [4]int64
	for i, text := range []string{strings.TrimSpace(line[:open]), f[utime], f[stime], f[start]} {
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return process{}, usage{}, false
		}
		n[i] = v
	}
	return process{n[0], n[3]}, usage{printable(line[open+1 : end]), n[1] + n[2]}, true
}

// printable keeps a process from writing to the terminal by its name.
func printable(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, name)
}

// Busy tells which processes took much CPU time between two moments, this one
// aside, the busiest first.
func Busy(from, to Processes) record.EnvItem {
	type share struct {
		of    float64
		named string
	}
	var all []share
	took := to.at.Sub(from.at).Seconds()
	for id, u := range to.used {
		old, there := from.used[id]
		if !there || id.pid == int64(os.Getpid()) || took <= 0 {
			continue
		}
		if of := float64(u.ticks-old.ticks) / userHz / took; of >= busyShare {
			all = append(all, share{of, fmt.Sprintf("%s (%d) %.0f%%", u.name, id.pid, 100*of)})
		}
	}
	slices.SortFunc(all, func(a, b share) int {
		if a.of != b.of {
			return int(1e6 * (b.of - a.of))
		}
		return strings.Compare(a.named, b.named)
	})
	it := record.EnvItem{Key: KeyBusy, Value: none}
	if len(to.used) == 0 {
		return record.EnvItem{Key: KeyBusy, Unavailable: "no processes in /proc"}
	}
	var names []string
	for _, s := range all[:min(len(all), busyMost)] {
		names = append(names, s.named)
	}
	if more := len(all) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(names) > 0 {
		it.Value = strings.Join(names, ", ")
	}
	return it
}
