package render

import (
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

func analyzed(t *testing.T, rs ...*record.Result) *analyze.Report {
	t.Helper()
	r, err := analyze.Analyze(rs...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
