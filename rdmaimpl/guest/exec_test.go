package guest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/rdmaimpl/guest"
)

func TestExecTellsHowAProgramEnded(t *testing.T) {
	g := startGuest(t)
	r := run(t, g, shell("echo out; echo err >&2; echo answer >&3; exit 5"))
	if r.Code != 5 || string(r.Stdout) != "out\n" || r.Stderr != "err\n" || string(r.Answer) != "answer\n" {
		t.Errorf("got %+v", r)
	}
	if r := run(t, g, shell("kill -TERM $$")); r.Signal != "terminated" || r.Err() == nil {
		t.Errorf("after a signal: %+v", r)
	}
	if r := run(t, g, guest.Program{Argv: []string{"/no/such/program"}}); r.Err() == nil || !strings.Contains(r.Err().Error(), "/no/such/program") {
		t.Errorf("a program that does not exist: %+v", r)
	}
	p := shell("echo $GREETING; pwd; cat")
	p.Env, p.Dir, p.Stdin = g.Env("GREETING=hello"), "/etc", []byte("from stdin")
	if r := run(t, g, p); string(r.Stdout) != "hello\n/etc\nfrom stdin" {
		t.Errorf("got %+v", r)
	}
	if r := run(t, g, shell("seq 1 100000 >&2; seq 1 100000")); !strings.HasSuffix(r.Stderr, "100000\n") || len(r.Stderr) > 4096 || !strings.HasPrefix(string(r.Stdout), "1\n2\n") || len(r.Stdout) != 256<<10 {
		t.Errorf("much output: %d bytes of standard error, %d of standard output", len(r.Stderr), len(r.Stdout))
	}
}

func TestPeerSharesMemoryAndSocket(t *testing.T) {
	g := startGuest(t)
	peer := part(g, "part-fds", "peer")
	r, err := g.Exec(t.Context(), guest.Command{Program: part(g, "part-fds", "main"), Peer: &peer, ProgressBytes: 4096, Timeout: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if string(r.Answer) != "ready 42" || r.Err() != nil || r.Peer == nil || r.Peer.Err() != nil {
		t.Errorf("got %+v, peer %+v", r, r.Peer)
	}
	// A peer that stays is ended soon after the program.
	peer = part(g, "part-spin")
	r, err = g.Exec(t.Context(), guest.Command{Program: shell("exit 0"), Peer: &peer, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if r.Err() != nil || r.TimedOut || r.Peer == nil || r.Peer.Signal != "killed" {
		t.Errorf("got %+v, peer %+v", r, r.Peer)
	}
}

// A hang inside ends at its timeout; the guest lives on, and nothing the
// command started does.
func TestHangInsideIsBounded(t *testing.T) {
	g := startGuest(t)
	p := shell("(setsid sleep 1000 &) ; " + g.Program() + " part-spin & exec " + g.Program() + " part-spin")
	began := time.Now()
	r, err := g.Exec(t.Context(), guest.Command{Program: p, Timeout: 500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if !r.TimedOut || r.Signal != "killed" || time.Since(began) > 5*time.Second {
		t.Errorf("after %v: %+v", time.Since(began), r)
	}
	ps := run(t, g, shell(`for d in /proc/[0-9]*; do tr '\0' ' ' <$d/cmdline; echo; done`))
	if out := string(ps.Stdout); strings.Contains(out, "part-spin") || strings.Contains(out, "sleep") {
		t.Errorf("still running:\n%s", out)
	}
}

func TestCancelledCommandLeavesTheGuest(t *testing.T) {
	g := startGuest(t)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	r, err := g.Exec(ctx, guest.Command{Program: part(g, "part-spin")})
	if !errors.Is(err, context.DeadlineExceeded) || !r.Killed {
		t.Errorf("got %v, %+v", err, r)
	}
	if r := run(t, g, shell("echo alive")); string(r.Stdout) != "alive\n" {
		t.Errorf("the guest after a cancelled command: %+v", r)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	g := startGuest(t)
	r := run(t, g, part(g, "part-hog", "1024"))
	if r.Err() == nil {
		t.Errorf("a program touched 1 GiB in a guest of %d MiB", testMem>>20)
	}
	if r := run(t, g, part(g, "part-hog", "16")); r.Err() != nil {
		t.Errorf("the guest after a program had all its memory: %v: %s", r.Err(), r.Stderr)
	}
}

func TestKilledGuestFailsItsCommand(t *testing.T) {
	for name, victim := range map[string]func(*testing.T, *guest.Guest) int{
		"kernel":     func(_ *testing.T, g *guest.Guest) int { return g.PID() },
		"supervisor": func(t *testing.T, g *guest.Guest) int { return supervisorOf(t, g.PID()) },
	} {
		t.Run(name, func(t *testing.T) {
			g := startGuest(t)
			errc := inBackground(g, part(g, "part-spin"), 30*time.Second)
			time.Sleep(200 * time.Millisecond)
			if err := killHard(victim(t, g)); err != nil {
				t.Fatal(err)
			}
			err := within(t, 10*time.Second, errc)
			var dead *guest.DeadError
			if !errors.As(err, &dead) || !strings.Contains(err.Error(), "killed") {
				t.Errorf("got %v", err)
			}
			mustLeaveNothing(t, g.PID(), runDir(g))
			if _, err := g.Exec(t.Context(), guest.Command{Program: shell("true")}); !errors.As(err, &dead) {
				t.Errorf("a command in a dead guest: %v", err)
			}
			if g.Alive() {
				t.Error("a dead guest calls itself alive")
			}
		})
	}
}

func TestCloseDuringCommand(t *testing.T) {
	g := startGuest(t)
	errc := inBackground(g, part(g, "part-spin"), 30*time.Second)
	time.Sleep(100 * time.Millisecond)
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := within(t, 5*time.Second, errc); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("got %v", err)
	}
	mustLeaveNothing(t, g.PID(), runDir(g))
}

func TestCloseLeavesNothing(t *testing.T) {
	g := startGuest(t)
	if r := run(t, g, shell("mkdir -p $TMPDIR/a/b && echo x >$TMPDIR/a/b/c && ln -s /etc $TMPDIR/a/link")); r.Err() != nil {
		t.Fatalf("%v: %s", r.Err(), r.Stderr)
	}
	for range 2 {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	}
	mustLeaveNothing(t, g.PID(), runDir(g))
	if _, err := os.Stat("/etc/passwd"); err != nil {
		t.Errorf("removing a link's directory removed what it pointed to: %v", err)
	}
}

func TestImport(t *testing.T) {
	g := startGuest(t)
	script := filepath.Join(t.TempDir(), "hello")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho hello from $0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	to, err := g.Import(script)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := g.Import(script); err != nil || again != to {
		t.Errorf("imported again to %s, %v, first to %s", again, err, to)
	}
	if r := run(t, g, guest.Program{Argv: []string{to}}); string(r.Stdout) != "hello from "+to+"\n" {
		t.Errorf("got %+v", r)
	}
	if r := run(t, g, shell("echo x >"+to)); r.Err() == nil {
		t.Error("the guest could write to an imported file")
	}
	if _, err := g.Import(script + "-none"); err == nil {
		t.Error("a file that does not exist was imported")
	}
}
