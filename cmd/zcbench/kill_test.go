package main

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// kills is how often the run is killed. Every kill falls on a moment of its own:
// before the header, within a line, between lines, before the footer, after it.
const kills = 100

const killScenario = `schema: zcbench/v1
name: killed
title: Killed again and again
question: Does anything get lost?
kind: receive
workload:
  clients: 2
  sizes: {fixed: 64}
  budget: 4KiB
  load: {closed: 1}
strategies: [{name: "null"}, {name: epoll-read}]
baseline: {name: "null"}
measure: {blocks: 3, messages: 300, counting_messages: 200, verify_messages: 200, counting_trials: 2}
metrics: [cpu_per_msg, syscalls]
`

// A run killed with SIGKILL at any instant loses no finished trial, and resumed
// to its end gives what an uninterrupted run gives, but for the times.
func TestKilledAtAnyInstant(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "killed.yaml")
	if err := os.WriteFile(file, []byte(killScenario), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(dir, "whole")
	began := time.Now()
	zcbench(t, nil, "", "run", file, "-o", whole).want(t, exitOK)
	span := time.Since(began)
	want := essence(readResult(t, whole))
	rng := rand.New(rand.NewPCG(1, 100))
	done, finished := 0, 0
	for round := 0; done < kills; round++ {
		k := killed{t: t, file: file, dir: filepath.Join(dir, "round", string(rune('a'+round%26))), rng: rng, span: span}
		if err := os.RemoveAll(k.dir); err != nil {
			t.Fatal(err)
		}
		for done < kills && k.once() {
			done++
		}
		k.finish()
		finished++
		if got := essence(readResult(t, k.dir)); !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: the finished result differs from an uninterrupted one:\n got %+v\nwant %+v", round, got, want)
		}
	}
	t.Logf("%d kills, %d runs brought to their end, an uninterrupted one takes %v", done, finished, span)
}

// killed is one run that is killed until it has come to its end.
type killed struct {
	t    *testing.T
	file string
	dir  string
	rng  *rand.Rand
	span time.Duration
}

func (k *killed) path() string { return filepath.Join(k.dir, record.FileName) }

// args starts the run, or goes on with it once it has written anything whole.
func (k *killed) args() []string {
	b, err := os.ReadFile(k.path())
	if err != nil || !bytes.Contains(b, []byte("\n")) {
		if err := os.RemoveAll(k.dir); err != nil {
			k.t.Fatal(err)
		}
		return []string{"run", k.file, "-o", k.dir}
	}
	return []string{"run", k.file, "--resume", k.dir}
}

// once runs and kills; it reports false when the run ended before the kill.
func (k *killed) once() bool {
	k.t.Helper()
	args := k.args()
	before := k.trials()
	cmd := command(k.t, nil, args...)
	if err := cmd.Start(); err != nil {
		k.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			k.t.Fatalf("zcbench %v: %v", args, err)
		}
		return false
	case <-time.After(time.Duration(k.rng.Int64N(int64(k.span)))):
	}
	// It may have ended just now: then there is nothing to kill.
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		k.t.Fatal(err)
	}
	<-ended
	after := k.trials()
	if len(after) < len(before) || !slices.Equal(after[:len(before)], before) {
		k.t.Fatalf("killed: %d finished trials before, %d after, or others", len(before), len(after))
	}
	return cmd.ProcessState.Sys().(interface{ Signaled() bool }).Signaled()
}

// trials are the whole lines of trials in the file, byte for byte.
func (k *killed) trials() []string {
	k.t.Helper()
	b, err := os.ReadFile(k.path())
	if err != nil {
		return nil
	}
	var out []string
	for _, line := range bytes.SplitAfter(b, []byte("\n")) {
		if bytes.HasPrefix(line, []byte(`{"trial"`)) && bytes.HasSuffix(line, []byte("\n")) {
			out = append(out, string(line))
		}
	}
	return out
}

// finish brings the run to its end and looks for children left behind.
func (k *killed) finish() {
	k.t.Helper()
	if args := k.args(); !complete(k.path()) {
		zcbench(k.t, nil, "", args...).want(k.t, exitOK)
	}
	for deadline := time.Now().Add(10 * time.Second); len(offspring()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			k.t.Fatalf("processes outlive the killed run: %v", offspring())
		}
	}
}

func complete(path string) bool {
	res, err := record.Read(path)
	return err == nil && res.Footer != nil && res.Footer.Status == "complete"
}

// offspring are the processes of this test binary that act as trials or
// generators and have lost their parent.
func offspring() []int {
	var out []int
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if line := cmdline(pid); len(line) > 1 && line[0] == os.Args[0] && (line[1] == "__trial" || line[1] == "__generate") {
			out = append(out, pid)
		}
	}
	return out
}

// line is a trial without its times and what depends on them.
type line struct {
	ID          string
	Seed        uint64
	Order       int
	Messages    int
	Params      string
	Status      record.Status
	Fingerprint record.Fingerprint
	Syscalls    record.Value
}

// essence is what two runs of one plan have in common. Trials that were rerun
// since the generator was too slow are not counted twice.
func essence(r *record.Result) (out []line) {
	for _, l := range r.Trials {
		if l.Invalid != "" {
			continue
		}
		t := l.Trial
		out = append(out, line{t.ID, t.Seed, t.Order, t.Messages, t.Strategy, l.Record.Status, l.Record.Fingerprint, l.Record.Metrics["syscalls"]})
	}
	return out
}
