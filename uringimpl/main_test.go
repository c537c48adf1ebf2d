package uringimpl

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
)

// TestMain lets this test binary be the processes of a trial, as zcbench is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		var err error
		switch os.Args[1] {
		case harness.TrialCommand:
			err = harness.TrialChild(os.Stdin, registry())
		case harness.GenerateCommand:
			err = harness.GeneratorChild(os.Stdin)
		default:
			os.Exit(run(m))
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // for children, which would linger for a second
	}
	return m.Run()
}

// runChild runs a trial as zcbench does: receiver and generator in processes of
// their own.
func runChild(t testing.TB, tr record.Trial) record.Record {
	t.Helper()
	runtime.LockOSThread() // the children die with this thread
	defer runtime.UnlockOSThread()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := harness.Processes{Binary: binary, Clock: tr.Clock, Registry: registry()}
	x := p.Run(context.Background(), tr)
	if x.Record.Status != record.OK {
		t.Fatalf("%s: %s: %s\n%s", tr.ID, x.Record.Status, x.Record.Error, x.Stderr)
	}
	return x.Record
}
