// Command zcbench measures copies and allocations on the real interfaces of
// io_uring and RDMA verbs, and says what they cost.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/rdmaimpl"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"github.com/zcbench/zcbench/scenarios"
	"github.com/zcbench/zcbench/uringimpl"
)

// Exit codes.
const (
	exitOK          = 0
	exitGate        = 1
	exitUsage       = 2
	exitResult      = 3
	exitFailed      = 4
	exitInterrupted = 130
)

// coded is an error with the exit code it stands for.
type coded struct {
	code int
	err  error
}

func (c coded) Error() string { return c.err.Error() }
func (c coded) Unwrap() error { return c.err }

func fail(code int, format string, args ...any) error {
	return coded{code, fmt.Errorf(format, args...)}
}

// registry is the list of all strategies of this build.
func registry() harness.Registry {
	r := append(harness.Registry{harness.Null, harness.Exec}, uringimpl.Strategies()...)
	return append(r, rdmaimpl.Strategies()...)
}

func main() {
	guest.Hook()
	// A file that may not grow further is an error of the write (setrlimit(2)).
	signal.Ignore(syscall.SIGXFSZ)
	ctx, stop := interruptible(context.Background())
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errOut)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(errOut, "zcbench: %s\n", text)
	}
	return code
}

func exitCode(err error) int {
	var c coded
	var bad *scenarios.Error
	var unreadable *record.SyntaxError
	switch {
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &c):
		return c.code
	case errors.As(err, &bad):
		return exitUsage
	case errors.As(err, &unreadable):
		return exitResult
	}
	return exitUsage
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "zcbench",
		Short: "Measure copies and allocations on io_uring and RDMA verbs",
		Long: `zcbench runs matched workloads over the real interfaces, one fresh process a
trial, and tells what each way of handling buffers costs: latency, CPU,
system calls, copies, allocations, and the memory that is really resident.

A scenario file holds one question. Start with:

  zcbench list
  zcbench run uring-fixed-vs-inc`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.PersistentFlags().BoolP("quiet", "q", false, "print results and errors only")
	root.AddCommand(newRun(), newList(), newValidate(), newReport(), newCompare(), newAA(), newProbe(), newEnv(), newGuest(),
		newTrial(), newGenerate(), newAdapter(), newProbeChild())
	return root
}

func quiet(cmd *cobra.Command) bool {
	q, err := cmd.Flags().GetBool("quiet")
	return err == nil && q
}
