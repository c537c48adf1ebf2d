package render

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/report/internal/fixture"
)

const benchstatModule = "golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"

// benchstat installs the real tool, or skips where it cannot be fetched.
func benchstat(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "install", benchstatModule)
	cmd.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("benchstat cannot be fetched: %v: %s", err, bytes.TrimSpace(out))
	}
	return filepath.Join(dir, "benchstat")
}

// stat is what benchstat says of a benchmark in a unit.
type stat struct {
	median float64
	ci     string
}

// readBenchstat reads its CSV: for each unit a line that names it, then a line for
// each benchmark.
func readBenchstat(t *testing.T, text string) map[[2]string]stat {
	t.Helper()
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out, unit := map[[2]string]stat{}, ""
	for _, row := range rows {
		switch {
		case len(row) < 3 || row[0] == "geomean":
		case row[0] == "" && row[2] == "CI":
			unit = row[1]
		case row[0] != "" && row[1] != "":
			v, err := strconv.ParseFloat(row[1], 64)
			if err != nil {
				t.Fatalf("%v: %v", row, err)
			}
			out[[2]string{row[0], unit}] = stat{v, row[2]}
		}
	}
	return out
}

// TestBenchstatShowsTheSameMedians gives our export to the tool it is for.
func TestBenchstatShowsTheSameMedians(t *testing.T) {
	tool := benchstat(t)
	r := reportOf(t, fixture.New(fixture.Spec{Blocks: 7, Repeats: 3}))
	path := filepath.Join(t.TempDir(), "zcbench.txt")
	if err := os.WriteFile(path, []byte(textOf(t, "benchfmt", r, Options{})), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(tool, "-format", "csv", path)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errOut.String())
	}
	for line := range strings.Lines(errOut.String()) {
		if !strings.Contains(line, "geomean") && !strings.Contains(line, "confidence interval") {
			t.Errorf("benchstat complains: %s", line)
		}
	}
	got := readBenchstat(t, out.String())
	s := &r.Scenarios[0]
	compared, exact := 0, 0
	for i := range s.Points {
		for k := range s.Points[i].Cases {
			c := &s.Points[i].Cases[k]
			name := strings.TrimPrefix(benchName(s, &s.Points[i], c), "Benchmark")
			for _, m := range s.Metrics {
				cell := c.Cells[m.Name]
				if cell.N == 0 {
					continue
				}
				b, ok := got[[2]string{name, unitOf(m)}]
				if !ok || math.Abs(b.median-cell.Median) > 1e-12*math.Abs(cell.Median) {
					t.Errorf("%s, %s: benchstat shows %v, we %v", name, unitOf(m), b, cell.Median)
				}
				compared++
				if cell.Exact && b.ci == "0%" { // what assume=exact makes of it
					exact++
				}
			}
		}
	}
	if compared < 60 || exact < 20 {
		t.Errorf("%d medians compared, %d of them exact", compared, exact)
	}
}

// benchstat knows which direction is better, and compares cases as columns.
func TestBenchstatComparesCases(t *testing.T) {
	tool := benchstat(t)
	path := filepath.Join(t.TempDir(), "zcbench.txt")
	text := textOf(t, "benchfmt", reportOf(t, fixture.New(fixture.Spec{Blocks: 7, Repeats: 3})), Options{})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "-col", "/case@(slot heap)", "-filter", ".unit:(cpu_per_msg-sec/msg)", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "slot") || !strings.Contains(string(out), "vs base") {
		t.Errorf("%v\n%s", err, out)
	}
}
