package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// held is what a process holds at one moment.
type held struct {
	files int
	rss   int64 // bytes
	lines int   // of the result
}

func holds(t *testing.T, pid int, dir string) (held, bool) {
	t.Helper()
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	fds, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return held{}, false // it has ended
	}
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return held{}, false
	}
	h := held{files: len(fds)}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			if h.rss, err = strconv.ParseInt(f[1], 10, 64); err != nil {
				t.Fatal(err)
			}
			h.rss <<= 10
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, record.FileName))
	if err == nil {
		h.lines = bytes.Count(b, []byte("\n"))
	}
	return h, h.rss > 0 && h.lines > 0
}

// A run with --for goes on with further blocks until its time is over, and what it
// holds meanwhile does not grow: not its files, nor, beyond a garbage collector's
// play, its memory; the result grows by lines of one size.
func TestRunForATime(t *testing.T) {
	p := newPlayground(t)
	file := tinyScenario(t)
	zcbench(t, p.env, "", "run", file, "--bare", "-o", filepath.Join(t.TempDir(), "warm")).want(t, exitOK)
	dir := filepath.Join(t.TempDir(), "r")
	cmd := command(t, p.env, "run", file, "--bare", "--for", "6s", "-o", dir)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	var seen []held
watch:
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatalf("%v\n%s", err, errOut.String())
			}
			break watch
		case <-time.After(20 * time.Millisecond):
			if h, ok := holds(t, cmd.Process.Pid, dir); ok {
				seen = append(seen, h)
			}
		}
	}
	checkFlat(t, seen)
	res := readResult(t, dir)
	own := res.Header.Scenario.Blocks
	if res.Footer == nil || res.Footer.Status != "complete" || res.Footer.ExtraBlocks == 0 || len(res.Trials) <= res.Header.Planned {
		t.Fatalf("footer %+v, %d trials of %d planned", res.Footer, len(res.Trials), res.Header.Planned)
	}
	last := res.Trials[len(res.Trials)-1]
	if last.Trial.Block != own+res.Footer.ExtraBlocks-1 || time.Duration(last.EndedNS) < 6*time.Second-time.Second {
		t.Errorf("the last trial is of block %d and ended after %v; %d further blocks", last.Trial.Block, time.Duration(last.EndedNS), res.Footer.ExtraBlocks)
	}
	rep, err := readAll([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range rep.Scenarios[0].Points[0].Cases {
		if n := c.Cells["cpu_per_msg"].N + c.Counts.Invalid; n < own+res.Footer.ExtraBlocks {
			t.Errorf("%s has %d timed trials of %d blocks", c.Name, n, own+res.Footer.ExtraBlocks)
		}
	}
	zcbench(t, p.env, "", "run", file, "--for", "6s", "--blocks", "3").want(t, exitUsage)
	zcbench(t, p.env, "", "run", "alloc-aging", "--for", "6s").want(t, exitUsage)
	p.clean(t, dir)
}

func checkFlat(t *testing.T, seen []held) {
	t.Helper()
	if len(seen) < 20 {
		t.Fatalf("only %d looks at the run", len(seen))
	}
	all := func(of []held, v func(held) int64) (out []int64) {
		for _, h := range of {
			out = append(out, v(h))
		}
		return out
	}
	most := func(of []held, v func(held) int64) int64 { return slices.Max(all(of, v)) }
	files := func(h held) int64 { return int64(h.files) }
	rss := func(h held) int64 { return h.rss }
	third := len(seen) / 3
	first, end := seen[third:2*third], seen[2*third:]
	t.Logf("%d looks: at most %d files and %d KiB in the second third, %d and %d in the last, %d lines",
		len(seen), most(first, files), most(first, rss)>>10, most(end, files), most(end, rss)>>10, seen[len(seen)-1].lines)
	// A trial opens pipes and closes them: one that it kept, of a hundred trials,
	// would leave the least of the end above the most before.
	if a, b := most(first, files), slices.Min(all(end, files)); b > a {
		t.Errorf("open files grow from %d to %d", a, b)
	}
	// 8 MiB: more than a collection leaves to the next, less than a leak of a line's
	// size in each trial would show in longer runs; those are measured apart.
	if a, b := most(first, rss), most(end, rss); b > a+8<<20 {
		t.Errorf("memory grows from %d to %d bytes", a, b)
	}
}
