package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/render"
	"golang.org/x/term"
)

// show writes the reports of finished runs beside their results and prints the
// table. worst is the first error of the runs; what was measured is shown all
// the same.
func show(cmd *cobra.Command, results []*record.Result, worst error) error {
	if len(results) == 0 {
		return worst
	}
	for _, r := range results {
		if err := writeBeside(cmd.Context(), r); err != nil {
			return firstOf(worst, err)
		}
	}
	rep, err := analyze.Analyze(results...)
	if err != nil {
		return firstOf(worst, err)
	}
	if err := render.Table(cmd.OutOrStdout(), rep, terminal(cmd.OutOrStdout())); err != nil {
		return firstOf(worst, err)
	}
	together, err := writeTogether(results, rep)
	if err != nil {
		return firstOf(worst, err)
	}
	if !quiet(cmd) {
		for _, r := range results {
			fmt.Fprintf(cmd.ErrOrStderr(), "report: %s\n", filepath.Join(filepath.Dir(r.Path), "report.html"))
		}
		if together != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "report of all: %s\n", together)
		}
	}
	return firstOf(worst, verdictError(rep))
}

func firstOf(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// verdictError fails a report whose results contradict themselves, or refute a
// claim that gates.
func verdictError(rep *analyze.Report) error {
	if bad := rep.Errors(); len(bad) > 0 {
		return fail(exitFailed, "%s", bad[0].Text)
	}
	if gates := rep.Gates(); len(gates) > 0 {
		var ids []string
		for _, g := range gates {
			ids = append(ids, g.Claim.ID)
		}
		return fail(exitGate, "refuted: %s", strings.Join(ids, ", "))
	}
	return nil
}

// writeBeside renders one result into its own directory, until it is interrupted.
func writeBeside(ctx context.Context, r *record.Result) error {
	rep, err := analyze.Analyze(r)
	if err != nil {
		return err
	}
	dir := filepath.Dir(r.Path)
	for _, write := range []func() error{
		func() error { _, err := render.WritePNGs(dir, rep); return err },
		func() error { _, err := render.WriteSVGs(dir, rep); return err },
		func() error {
			return writeTo(filepath.Join(dir, "report.html"), nil, func(w io.Writer) error { return render.HTML(w, rep, render.Options{}) })
		},
		func() error {
			return writeTo(filepath.Join(dir, "summary.md"), nil, func(w io.Writer) error { return render.Markdown(w, rep, render.Options{}) })
		},
	} {
		if ctx.Err() != nil {
			return coded{exitInterrupted, fmt.Errorf("interrupted; %s is whole, its reports are not: zcbench report %s --html FILE", r.Path, dir)}
		}
		if err := write(); err != nil {
			return coded{exitFailed, err}
		}
	}
	return nil
}

// writeTo writes to a file, or to stdout for -. The file appears whole or not
// at all; a device or a pipe is written to and never replaced.
func writeTo(path string, stdout io.Writer, write func(io.Writer) error) error {
	if path == "-" {
		return write(stdout)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return writeInto(path, write)
	}
	f, err := beside(path)
	if err != nil {
		return fail(exitFailed, "write %s: %w", path, err)
	}
	defer os.Remove(f.Name())
	err = write(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fail(exitFailed, "write %s: %w", path, err)
	}
	return nil
}

// beside makes a new file in the directory of path, as readable as the user's
// umask lets files be.
func beside(path string) (*os.File, error) {
	name := filepath.Join(filepath.Dir(path), ".zcbench-"+rand.Text())
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

func writeInto(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		err = errors.Join(write(f), f.Close())
	}
	if err != nil {
		return fail(exitFailed, "write %s: %w", path, err)
	}
	return nil
}

// terminal says how to lay a table out on w.
func terminal(w io.Writer) render.Options {
	o := render.Options{Width: 120, ASCII: !utf8Locale()}
	f, ok := w.(*os.File)
	tty := ok && term.IsTerminal(int(f.Fd()))
	if tty {
		if cols, _, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 {
			o.Width = cols
		}
		_, plain := os.LookupEnv("NO_COLOR")
		o.Color = !plain && os.Getenv("TERM") != "dumb"
	}
	if cols, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && cols > 0 && !tty {
		o.Width = cols
	}
	return o
}

// utf8Locale reports whether the locale asks for UTF-8; it never changes numbers.
func utf8Locale() bool {
	for _, k := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(k); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}
