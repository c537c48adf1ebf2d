package guest_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"github.com/zcbench/zcbench/rdmaimpl/guest/guesttest"
)

// testMem is enough for what these tests run.
const testMem = 128 << 20

func itoa(n int) string { return strconv.Itoa(n) }

func ptr(p *byte) uintptr { return uintptr(unsafe.Pointer(p)) }

func startGuest(t *testing.T) *guest.Guest {
	t.Helper()
	return guesttest.Start(t, guest.Options{MemBytes: testMem})
}

// run runs a program in the guest and fails the test if it cannot be run.
func run(t *testing.T, g *guest.Guest, p guest.Program) guest.Reply {
	t.Helper()
	r, err := g.Exec(t.Context(), guest.Command{Program: p, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatalf("run %v: %v", p.Argv, err)
	}
	return r
}

func part(g *guest.Guest, name string, args ...string) guest.Program {
	return guest.Program{Argv: append([]string{g.Program(), name}, args...)}
}

func shell(script string) guest.Program {
	return guest.Program{Argv: []string{"/bin/sh", "-c", script}}
}

func runDir(g *guest.Guest) string { return filepath.Dir(g.Program()) }

// processesOf lists the host's processes that belong to a guest: by its
// directory on their command line, or by the process group of its kernel.
func processesOf(t *testing.T, pid int, dir string) []string {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		// pid (name) state ppid pgrp
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if fields[0] != "Z" && (fields[2] == strconv.Itoa(pid) || strings.Contains(string(line), dir)) {
			found = append(found, path+": "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// sharedTempDir makes a directory that users other than this one can reach.
func sharedTempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "guest-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mustBeEmpty fails the test if anything lies in a directory that was given to
// guests as their only one, or a process of theirs is left.
func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	left := processesOf(t, -1, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, "\n"))
	}
}

// mustLeaveNothing waits, shortly, until a guest's processes and files are gone.
func mustLeaveNothing(t *testing.T, pid int, dir string) {
	t.Helper()
	var left []string
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		left = processesOf(t, pid, dir)
		if _, err := os.Lstat(dir); err == nil {
			left = append(left, dir)
		}
		if len(left) == 0 {
			return
		}
	}
	t.Errorf("left behind: %s", strings.Join(left, "\n"))
}

// supervisorOf finds the supervisor of a guest's kernel: its parent.
func supervisorOf(t *testing.T, pid int) int {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	n, err := strconv.Atoi(fields[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// inBackground runs a command that is not expected to end by itself.
func inBackground(g *guest.Guest, p guest.Program, timeout time.Duration) <-chan error {
	errc := make(chan error, 1)
	go func() {
		_, err := g.Exec(context.Background(), guest.Command{Program: p, Timeout: timeout})
		errc <- err
	}()
	return errc
}
