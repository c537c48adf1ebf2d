package render

import (
	"io"

	"github.com/zcbench/zcbench/report/analyze"
)

// JSONVersion is the version of the document JSON writes.
const JSONVersion = 1

// document is the report as a program reads it.
type document struct {
	Format  string `json:"format"` // zcbench-report
	Version int    `json:"version"`
	*analyze.Report
}

// JSON writes the whole report as one indented JSON document: every figure in
// base units, with the samples it rests on. The options do not matter.
func JSON(w io.Writer, r *analyze.Report, _ Options) error {
	return encodeJSON(w, document{"zcbench-report", JSONVersion, r})
}
