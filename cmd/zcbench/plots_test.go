package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/report/render"
	"github.com/zcbench/zcbench/scenarios"
)

// A plot a scenario may ask for must be one the report draws, and the reverse.
func TestScenariosAskForPlotsThatAreDrawn(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "uring-fixed-vs-inc.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	const asked = "plot: residency"
	if strings.Count(string(text), asked) != 1 {
		t.Fatalf("the scenario does not ask for a plot as %q", asked)
	}
	for _, kind := range append(render.HeadlinePlots(), render.PlotDistribution) {
		sc, err := scenarios.Parse("x.yaml", []byte(strings.Replace(string(text), asked, "plot: "+kind, 1)))
		switch {
		case kind == render.PlotDistribution:
			if err == nil {
				t.Errorf("a scenario may ask for %s, which is no answer", kind)
			}
		case err != nil || sc.Headline.Plot != kind:
			t.Errorf("plot %s: %v", kind, err)
		}
	}
}

func TestReportOfSeveralEndsWithTheirVerdicts(t *testing.T) {
	reference := filepath.Join("..", "..", "results", "reference", "uring-fixed-vs-inc")
	one := zcbench(t, nil, "", "report", reference)
	one.want(t, exitOK)
	two := zcbench(t, nil, "", "report", reference, reference)
	two.want(t, exitOK)
	const table = "Claims and verdicts of 2 results: "
	if _, after, ok := strings.Cut(two.out, table); !ok || strings.Count(after, "supported") < 4 || strings.Contains(one.out, "Claims and verdicts of") {
		t.Errorf("two results end with\n%s", two.out[max(0, len(two.out)-2000):])
	}
}

func TestRunOfSeveralWritesOnePageOfAll(t *testing.T) {
	needUring(t)
	dir := t.TempDir()
	r := zcbench(t, nil, "", "run", "null", question, "--smoke", "-o", dir)
	r.want(t, exitOK)
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Claims and verdicts", "A private range for each client keeps fewer buffer pages", "no strategy receives, which every other result contains"} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page of all lacks %q", want)
		}
	}
	if !strings.Contains(r.out, "Claims and verdicts of 2 results: ") || !strings.Contains(r.errOut, filepath.Join(dir, "report.html")) {
		t.Errorf("the run ends with\n%s\n%s", r.out[max(0, len(r.out)-500):], r.errOut)
	}
}
