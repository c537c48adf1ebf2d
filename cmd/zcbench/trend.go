package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/render"
)

// trendOutputs are the files results over time can be written to, by flag.
var trendOutputs = map[string]func(w io.Writer, t *analyze.Trends, o render.Options) error{
	"html": render.TrendHTML, "csv": render.TrendCSV, "json": render.TrendJSON,
}

var trendDirectories = map[string]func(dir string, t *analyze.Trends) ([]string, error){
	"png": render.WriteTrendPNGs, "svg": render.WriteTrendSVGs,
}

// trend reports on the results below dir over time, to what the flags of
// report ask for.
func trend(cmd *cobra.Command, dir string, files, dirs map[string]*string) error {
	for _, o := range outputs {
		if trendOutputs[o.flag] == nil && *files[o.flag] != "" {
			return fail(exitUsage, "--trend has no --%s: it is written as a table, or with --html, --csv, --json, --png, --svg", o.flag)
		}
	}
	results, err := readBelow(dir)
	if err != nil {
		return coded{exitResult, err}
	}
	t, err := analyze.Trend(results)
	if err != nil {
		return coded{exitResult, err}
	}
	asked := false
	for _, o := range outputs {
		path, write := *files[o.flag], trendOutputs[o.flag]
		if path == "" {
			continue
		}
		asked = true
		if err := writeTo(path, cmd.OutOrStdout(), func(w io.Writer) error { return write(w, t, render.Options{}) }); err != nil {
			return err
		}
	}
	for _, d := range directories {
		if *dirs[d.flag] == "" {
			continue
		}
		asked = true
		paths, err := trendDirectories[d.flag](*dirs[d.flag], t)
		if err != nil {
			return fail(exitFailed, "write plots: %w", err)
		}
		if !quiet(cmd) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%d plots in %s\n", len(paths), *dirs[d.flag])
		}
	}
	if asked {
		return nil
	}
	return render.Trend(cmd.OutOrStdout(), t, terminal(cmd.OutOrStdout()))
}
