package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/record"
	"golang.org/x/term"
)

// bar shows progress with the time left, on a terminal only.
type bar struct {
	b *progressbar.ProgressBar
	w io.Writer
}

func newBar(cmd *cobra.Command, plan *harness.Plan) *bar {
	return newStepBar(cmd, plan.Scenario.Name, len(plan.Trials))
}

func newStepBar(cmd *cobra.Command, name string, steps int, more ...progressbar.Option) *bar {
	w := cmd.ErrOrStderr()
	f, ok := w.(*os.File)
	if quiet(cmd) || !ok || !term.IsTerminal(int(f.Fd())) {
		return &bar{w: w}
	}
	_, plain := os.LookupEnv("NO_COLOR")
	options := []progressbar.Option{
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription(name),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionShowCount(),
		progressbar.OptionEnableColorCodes(!plain),
		progressbar.OptionFullWidth(),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
	}
	return &bar{w: w, b: progressbar.NewOptions(steps, append(options, more...)...)}
}

// event shows a finished trial; failures are told at once, terminal or not.
func (b *bar) event(e harness.Event) {
	if b.b != nil {
		b.b.ChangeMax(e.Planned)
		_ = b.b.Set(e.Done) // only the display is at stake
	}
	if msg := e.Line.Record.Error; msg != "" && e.Line.Record.Status == record.Failed {
		if b.b != nil {
			_ = b.b.Clear()
		}
		fmt.Fprintf(b.w, "zcbench: %s failed: %s\n", e.Line.Trial.ID, msg)
	}
}

// step shows that one more is done.
func (b *bar) step() {
	if b.b != nil {
		_ = b.b.Add(1) // only the display is at stake
	}
}

func (b *bar) close() {
	if b.b != nil {
		_ = b.b.Finish()
	}
}
