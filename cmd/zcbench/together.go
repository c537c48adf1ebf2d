package main

import (
	"io"
	"path/filepath"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/render"
)

// writeTogether renders the results of one run of several scenarios into one
// page, which opens with all claims and verdicts. It stands in the directory
// the run was given; without one (-o) the results lie among those of other runs,
// and there is no page. It returns the page's path, empty if there is none.
func writeTogether(results []*record.Result, rep *analyze.Report) (string, error) {
	if len(results) < 2 {
		return "", nil
	}
	parent := ""
	for _, r := range results {
		dir := filepath.Dir(r.Path)
		if filepath.Base(dir) != r.Header.Scenario.Name || parent != "" && filepath.Dir(dir) != parent {
			return "", nil
		}
		parent = filepath.Dir(dir)
	}
	path := filepath.Join(parent, "report.html")
	return path, writeTo(path, nil, func(w io.Writer) error { return render.HTML(w, rep, render.Options{}) })
}
