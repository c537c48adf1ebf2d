package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/rdmaimpl/guest"
	"golang.org/x/term"
)

func newGuest() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "guest",
		Short: "Build, look at and use the throw-away guest with a soft-RoCE device",
		Long: `Without RDMA hardware or modules, posts are measured in a guest: a
user-mode-linux kernel with a soft-RoCE device, run as an ordinary process. Its
kernel is built once from the distribution's kernel source.`,
		Example: "  zcbench guest build\n  zcbench guest status\n  zcbench guest run -- ibv_devinfo",
	}
	cmd.AddCommand(newGuestBuild(), newGuestStatus(), newGuestRun())
	return cmd
}

func newGuestBuild() *cobra.Command {
	var o guest.BuildOptions
	cmd := &cobra.Command{
		Use: "build", Short: "Build the guest's kernel once, into the user cache directory",
		Example: "  zcbench guest build\n  zcbench guest build --install", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			img, err := guest.Build(cmd.Context(), o, buildProgress(cmd))
			if err != nil {
				return fail(exitFailed, "build the guest: %w", err)
			}
			if !quiet(cmd) {
				fmt.Fprintf(cmd.OutOrStdout(), "guest kernel %s in %s (built in %s)\n", img.Kernel, img.Path, time.Duration(img.BuildNS).Round(time.Second))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&o.Install, "install", false, "as root, let apt-get install what is missing")
	cmd.Flags().IntVar(&o.Jobs, "jobs", 0, "compilers at once (default: one for each CPU)")
	return cmd
}

// buildProgress shows a bar on a terminal, else a line for each phase.
func buildProgress(cmd *cobra.Command) func(guest.Progress) {
	w := cmd.ErrOrStderr()
	f, ok := w.(*os.File)
	if quiet(cmd) {
		return func(guest.Progress) {}
	}
	var bar *progressbar.ProgressBar
	if ok && term.IsTerminal(int(f.Fd())) {
		bar = progressbar.NewOptions(100, progressbar.OptionSetWriter(w), progressbar.OptionSetPredictTime(false),
			progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish())
	}
	phase := ""
	return func(p guest.Progress) {
		if bar != nil {
			bar.Describe(progressText(p))
			_ = bar.Set(int(p.Percent)) // only the display is at stake
			return
		}
		if p.Phase != phase {
			phase = p.Phase
			fmt.Fprintf(w, "guest: %s\n", progressText(p))
		}
	}
}

func progressText(p guest.Progress) string {
	text := p.Phase
	if p.Percent > 0 {
		text += fmt.Sprintf(" %.0f%%", p.Percent)
	}
	if p.Left > 0 {
		text += fmt.Sprintf(", about %s left", p.Left.Round(time.Second))
	}
	return text
}

func newGuestStatus() *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say whether a guest is built and what it lacks", Args: cobra.NoArgs,
		Example: "  zcbench guest status",
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := guest.CheckStatus("")
			if err != nil {
				return fail(exitFailed, "%w", err)
			}
			w := cmd.OutOrStdout()
			if st.Unsupported != "" {
				fmt.Fprintf(w, "no guest here: %s\n", st.Unsupported)
				return nil
			}
			if st.Image == nil {
				fmt.Fprintln(w, "no guest kernel; build one with: zcbench guest build")
			} else {
				fmt.Fprintf(w, "guest kernel %s in %s\n", st.Image.Kernel, st.Image.Path)
			}
			if len(st.Missing) > 0 {
				fmt.Fprintf(w, "building would need: %s\n", guest.InstallCommand(st.Missing))
			}
			return nil
		},
	}
}

func newGuestRun() *cobra.Command {
	return &cobra.Command{
		Use: "run -- COMMAND [ARGUMENT...]", Short: "Boot a guest and run one command in it",
		Example: "  zcbench guest run -- ibv_devinfo", Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			g, err := guest.Start(cmd.Context(), guest.Options{})
			if err != nil {
				return fail(exitFailed, "%w", err)
			}
			defer func() { err = errors.Join(err, g.Close()) }()
			r, err := g.Exec(cmd.Context(), guest.Command{Program: guest.Program{Argv: args}})
			if err != nil {
				return fail(exitFailed, "%w", err)
			}
			if _, err := cmd.OutOrStdout().Write(r.Stdout); err != nil {
				return err
			}
			fmt.Fprint(cmd.ErrOrStderr(), r.Stderr)
			if err := r.Err(); err != nil {
				return fail(exitFailed, "in the guest: %w", err)
			}
			return nil
		},
	}
}
