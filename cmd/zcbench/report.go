package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/render"
)

// outputs are the files a report can be written to, by flag.
var outputs = []struct {
	flag, help string
	write      func(w io.Writer, r *analyze.Report) error
}{
	{"html", "write one self-contained HTML page", func(w io.Writer, r *analyze.Report) error { return render.HTML(w, r, render.Options{}) }},
	{"markdown", "write markdown, fit for a CI job summary", func(w io.Writer, r *analyze.Report) error { return render.Markdown(w, r, render.Options{}) }},
	{"csv", "write CSV: a row for each case and metric, base units", func(w io.Writer, r *analyze.Report) error { return render.CSV(w, r, render.Options{}) }},
	{"json", "write JSON: all that was computed", func(w io.Writer, r *analyze.Report) error { return render.JSON(w, r, render.Options{}) }},
	{"benchfmt", "write the Go benchmark format, for benchstat", func(w io.Writer, r *analyze.Report) error { return render.Benchfmt(w, r, render.Options{}) }},
}

// directories are the folders plots can be written to, by flag.
var directories = []struct {
	flag, help string
	write      func(dir string, r *analyze.Report) ([]string, error)
}{
	{"png", "write the plots as PNG files into this directory", render.WritePNGs},
	{"svg", "write the plots as SVG files into this directory", render.WriteSVGs},
}

func newReport() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "report RESULT... | report --trend DIR",
		Short: "Render results again: table, HTML, plots, markdown, CSV",
		Long: `Report reads result directories or files and prints their table, or writes what
the flags ask for. A file name of - is standard output. An unreadable result
exits 3 and is never changed.

With --trend it lines up all results below DIR over time instead: of the same
scenario and machine, kernel and all else that makes results comparable; what
differs there is a series of its own.`,
		Example: `  zcbench report results/uring-fixed-vs-inc-20260101T000000Z
  zcbench report results/* --html all.html --png plots
  zcbench report results/uring-fixed-vs-inc-* --csv - | column -ts,
  zcbench report --trend results --html trend.html`,
	}
	over := cmd.Flags().String("trend", "", "report on all results below this directory over time")
	files := map[string]*string{}
	for _, o := range outputs {
		files[o.flag] = cmd.Flags().String(o.flag, "", o.help)
	}
	dirs := map[string]*string{}
	for _, d := range directories {
		dirs[d.flag] = cmd.Flags().String(d.flag, "", d.help)
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *over != "" {
			return cobra.NoArgs(cmd, args)
		}
		return cobra.MinimumNArgs(1)(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *over != "" {
			return trend(cmd, *over, files, dirs)
		}
		rep, err := readAll(args)
		if err != nil {
			return err
		}
		return writeReport(cmd, rep, files, dirs)
	}
	return cmd
}

func readAll(paths []string) (*analyze.Report, error) {
	var results []*record.Result
	for _, p := range paths {
		r, err := record.Read(p)
		if err != nil {
			return nil, coded{exitResult, err}
		}
		results = append(results, r)
	}
	rep, err := analyze.Analyze(results...)
	if err != nil {
		return nil, coded{exitResult, err}
	}
	return rep, nil
}

func writeReport(cmd *cobra.Command, rep *analyze.Report, files, dirs map[string]*string) error {
	asked := false
	for _, o := range outputs {
		path := *files[o.flag]
		if path == "" {
			continue
		}
		asked = true
		if err := writeTo(path, cmd.OutOrStdout(), func(w io.Writer) error { return o.write(w, rep) }); err != nil {
			return err
		}
	}
	for _, d := range directories {
		dir := *dirs[d.flag]
		if dir == "" {
			continue
		}
		asked = true
		paths, err := d.write(dir, rep)
		if err != nil {
			return fail(exitFailed, "write plots: %w", err)
		}
		if !quiet(cmd) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%d plots in %s\n", len(paths), dir)
		}
	}
	if !asked {
		if err := render.Table(cmd.OutOrStdout(), rep, terminal(cmd.OutOrStdout())); err != nil {
			return err
		}
	}
	return nil
}
