package probes

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/probe"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"github.com/zcbench/zcbench/rdmaimpl/guest/guesttest"
	"github.com/zcbench/zcbench/rdmaimpl/internal/verbs"
)

// TestMain makes this binary the guest's first process, and the process of a
// check there, too.
func TestMain(m *testing.M) {
	guest.Hook()
	if len(os.Args) == 3 && os.Args[1] == probe.ChildCommand {
		if err := probe.Child(os.Args[2], All()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// inGuest runs checks on the soft-RoCE device of one guest, each in a process of
// its own, and returns their findings.
func inGuest(t *testing.T, checks []probe.Check) []record.Finding {
	t.Helper()
	if err := verbs.LoadCM(); err != nil {
		t.Skip(err)
	}
	g := guesttest.Start(t, guest.Options{})
	binary, err := g.Import(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	var found []record.Finding
	for _, c := range checks {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		began := time.Now()
		r, err := g.Exec(ctx, guest.Command{Program: guest.Program{Argv: []string{binary, probe.ChildCommand, c.Name}}})
		cancel()
		if err == nil {
			err = r.Err()
		}
		if err != nil || r.TimedOut {
			t.Fatalf("check %s in the guest: %v (timed out: %v) %s", c.Name, err, r.TimedOut, r.Stderr)
		}
		var f record.Finding
		if err := json.Unmarshal(r.Answer, &f); err != nil {
			t.Fatalf("check %s: %v", c.Name, err)
		}
		if err := f.Check(); err != nil {
			t.Error(err)
		}
		t.Logf("%-26s %v: %s %s %s", f.Name, time.Since(began).Round(time.Millisecond), f.Verdict, f.Reason, f.Evidence)
		found = append(found, f)
	}
	return found
}
