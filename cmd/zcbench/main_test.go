package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"golang.org/x/sys/unix"
)

// Environment variables that make this test binary act as zcbench.
const (
	actAsZcbench = "ZCBENCH_TEST_ACT"
	refuseUring  = "ZCBENCH_TEST_REFUSE_URING"
	plantAlloc   = "ZCBENCH_TEST_PLANT_ALLOC" // names the strategy that gets an allocation more a message
)

// TestMain lets the test binary be the zcbench that the tests start, and the
// children which that starts.
func TestMain(m *testing.M) {
	guest.Hook()
	if os.Getenv(refuseUring) != "" {
		must(refuseSyscall(unix.SYS_IO_URING_SETUP))
	}
	if os.Getenv(plantAlloc) != "" && len(os.Args) > 1 && os.Args[1] == harness.TrialCommand {
		must(harness.TrialChild(os.Stdin, planted(registry(), os.Getenv(plantAlloc))))
		return
	}
	if os.Getenv(actAsZcbench) != "" {
		main()
		return
	}
	must(os.Setenv(actAsZcbench, "1"))
	code := m.Run()
	must(os.RemoveAll(sharedCache()))
	os.Exit(code)
}

// result is what a zcbench process left behind.
type result struct {
	code        int
	out, errOut string
}

func zcbench(t *testing.T, env []string, stdin string, args ...string) result {
	t.Helper()
	cmd := command(t, env, args...)
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errOut
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatalf("zcbench %s: %v", strings.Join(args, " "), err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

func command(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), os.Args[0], args...)
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

func (r result) want(t *testing.T, code int) {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit %d, want %d\nstdout:\n%s\nstderr:\n%s", r.code, code, r.out, r.errOut)
	}
}
