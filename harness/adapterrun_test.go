package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// Started with the command of adapters this test binary is zcbench.
func init() {
	if len(os.Args) > 1 && os.Args[1] == AdapterCommand {
		fmt.Fprintln(os.Stderr, AdapterChild(os.Args[2:]))
		os.Exit(4)
	}
}

// script writes an adapter in shell.
func script(t testing.TB, lines ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "adapter")
	text := "#!/bin/sh\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// say is the shell command that answers with a text.
func say(text string) string { return "cat >&3 <<'END'\n" + strings.TrimSuffix(text, "\n") + "\nEND" }

func runAdapter(t testing.TB, tr record.Trial, args ...string) Execution {
	t.Helper()
	p := processes(t.(*testing.T))
	p.Registry = append(p.Registry, Exec)
	tr.Command = args
	return p.Run(context.Background(), tr)
}

func TestAdapterRuns(t *testing.T) {
	tr := postTrial(record.Timing)
	file := filepath.Join(t.TempDir(), "told")
	x := runAdapter(t, tr, script(t, `cat > "$1"; echo "$2" >> "$1"; ulimit -v >> "$1"; ulimit -c >> "$1"`, say(string(answerOf(t, tr, nil)))), file, "two words")
	if x.Record.Status != record.OK || x.Record.Metrics["total_per_wr"].Float64() != 2e-9 || x.Record.Placement != "not pinned" {
		t.Fatalf("%+v\n%s", x.Record, x.Stderr)
	}
	told, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(told), "\n")
	if !strings.HasPrefix(lines[0], `{"schema":1,"id":"exec{command=a}/timing"`) || !slices.Equal(lines[1:4], []string{"two words", strconv.Itoa(4 << 20), "0"}) {
		t.Errorf("the adapter was given %q", lines)
	}
}

// Whatever an adapter does, its trial fails and says which and why; nothing of it
// is left.
func TestAdapterMisbehaves(t *testing.T) {
	tr := postTrial(record.Timing)
	good := string(answerOf(t, tr, nil))
	runAdapter(t, tr, script(t, say(good))) // so that what Go opens once is open
	files := openFiles(t)
	for name, c := range map[string]struct {
		does               []string
		says, stderr, exit string
	}{
		"garbage":         {[]string{"echo dear me >&2", "cat", say("}not json{")}, "its record cannot be used: its answer on fd 3 is not the JSON expected", "dear me", ""},
		"unknown metric":  {[]string{say(strings.Replace(good, "total_per_wr", "total_per_work", 1))}, `metric "total_per_work" is not one of kind rdma-post-recv`, "", ""},
		"other work":      {[]string{say(strings.Replace(good, `"ops":50`, `"ops":5`, 1))}, "its fingerprint is {ops 5, bytes 3200, sum 0}, the trial's {ops 50", "", ""},
		"nothing":         {[]string{"cat"}, "no answer on fd 3", "", ""},
		"exit":            {[]string{"echo out of luck >&2", "exit 3"}, "ended with exit status 3", "out of luck", "exit status 3"},
		"answer and exit": {[]string{say(good), "exit 3"}, "ended with exit status 3", "", "exit status 3"},
		"two records":     {[]string{say(good), say(good)}, "goes on behind the record", "", ""},
		"oversized":       {[]string{`head -c 20000000 /dev/zero | tr '\0' 'x' >&3`, "true"}, "longer than", "", ""},
		"hang":            {[]string{"echo thinking >&2", "sleep 1000"}, "did not end within its 700 ms", "thinking", "signal: killed"},
		"answer and hang": {[]string{say(good), "sleep 1000"}, "did not end within its 700 ms", "", "signal: killed"},
		"own failure":     {[]string{"echo more of it >&2", say(string(answerOf(t, tr, m{"status": "failed", "error": "the queue is full"})))}, "the queue is full", "more of it", ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := tr
			if strings.Contains(name, "hang") {
				tr.DeadlineMS = 700
			}
			x := runAdapter(t, tr, script(t, c.does...))
			if x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, c.says) || x.Record.Trial != tr.ID {
				t.Errorf("%s: %s, want it failed and %q", x.Record.Status, x.Record.Error, c.says)
			}
			if name != "own failure" && !strings.Contains(x.Record.Error, tr.ID) {
				t.Errorf("%q does not name the trial", x.Record.Error)
			}
			if !strings.Contains(x.Stderr, c.stderr) || x.Exit != c.exit {
				t.Errorf("log %q, exit %q; want %q and %q", x.Stderr, x.Exit, c.stderr, c.exit)
			}
			if left := children(t); len(left) > 0 {
				t.Errorf("children are left: %v", left)
			}
		})
	}
	if now := openFiles(t); !slices.Equal(now, files) {
		t.Errorf("open files\n%q, before\n%q", now, files)
	}
}

// An adapter is given the counters it shares with its generator on fd 4. It cannot
// take them away.
func TestAdapterCannotCutTheCounters(t *testing.T) {
	tr := postTrial(record.Timing)
	tr.Workload.Clients = 2
	x := runAdapter(t, tr, script(t, `truncate -s 0 /proc/self/fd/4 2>&1 | sed 's/.*: //' >&2`, say(string(answerOf(t, tr, m{"status": "failed", "error": "end"})))))
	if x.Record.Error != "end" || !strings.Contains(x.Stderr, "not permitted") {
		t.Errorf("%s: %q", x.Record.Error, x.Stderr)
	}
}

// What an adapter starts ends with it, be it in its deadline or before.
func TestAdapterLeavesNothing(t *testing.T) {
	tr := postTrial(record.Timing)
	for _, end := range []string{say(string(answerOf(t, tr, nil))), "sleep 1000"} {
		tr.DeadlineMS = 700
		file := filepath.Join(t.TempDir(), "pid")
		began := time.Now()
		runAdapter(t, tr, script(t, `sleep 1000 & echo $! > `+file, end))
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("the trial took %v", took)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			if err = alive(pid); err != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err == nil {
			t.Errorf("process %d of the adapter is still there", pid)
		}
	}
}

// alive returns an error once a process is gone, or waits to be collected.
func alive(pid int) error {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return err
	}
	if _, state, ok := strings.Cut(string(stat), ") "); ok && strings.HasPrefix(state, "Z") {
		return errors.New("a zombie")
	}
	return syscall.Kill(pid, 0)
}

func TestAdapterMemoryIsBounded(t *testing.T) {
	tr := postTrial(record.Timing)
	tr.Params = map[string]string{execMemory: "512MiB"}
	greedy := script(t, "head -c 1500000000 /dev/zero | tail -c 1400000000 | wc -c >&2", say(string(answerOf(t, tr, m{"status": "failed", "error": "end"}))))
	if x := runAdapter(t, tr, greedy); !strings.Contains(x.Stderr, "memory exhausted") {
		t.Errorf("an adapter that takes 1.4 GB of 512 MiB says %q", x.Stderr)
	}
}

func TestAdapterThatCannotBeRun(t *testing.T) {
	tr := postTrial(record.Timing)
	none := filepath.Join(t.TempDir(), "none")
	plain := script(t)
	if err := os.WriteFile(plain, []byte("not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for program, says := range map[string]string{none: "run the adapter " + none + ": no such file", plain: "neither a program of this machine nor a script"} {
		x := runAdapter(t, tr, program)
		if x.Record.Status != record.Failed || !strings.Contains(x.Record.Error, "exit status 4") || !strings.Contains(x.Stderr, says) {
			t.Errorf("%s: %s, %q; want %q", x.Record.Status, x.Record.Error, x.Stderr, says)
		}
	}
	for _, args := range [][]string{nil, {"1"}, {"-1", "/bin/true"}, {"x", "/bin/true"}} {
		if err := AdapterChild(args); err == nil {
			t.Errorf("arguments %q are taken", args)
		}
	}
}

// The report of the shim is asked for in counting trials, and never outlives its
// trial.
func TestAdapterReport(t *testing.T) {
	for purpose, want := range map[record.Purpose]bool{record.Timing: false, record.Counting: true} {
		tr := postTrial(purpose)
		p := processes(t)
		var file string
		p.Extra = func(_ context.Context, _ record.Trial, report string) ([]string, error) {
			file = report
			return []string{"REPORT=" + report}, nil
		}
		p.Counts = func(report string) (*Posts, error) {
			text, err := os.ReadFile(report)
			return &Posts{Lane: AllocCounts{Allocs: int64(len(text))}}, err
		}
		tr.Command = []string{script(t, `test -z "$REPORT" || printf 12345678901234567890 > "$REPORT"`, say(string(answerOf(t, tr, nil))))}
		x := p.Run(context.Background(), tr)
		v, counted := x.Record.Metrics["lane_allocs"]
		if x.Record.Status != record.OK || counted != want || want && v != record.Count(20, 10) || (file != "") != want {
			t.Errorf("%s: %s, lane_allocs %+v, report %q", purpose, x.Record.Error, v, file)
		}
		if _, err := os.Stat(filepath.Dir(file)); file != "" && err == nil {
			t.Errorf("%s is still there", file)
		}
	}
}
