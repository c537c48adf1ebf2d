package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// months are six results of one machine, CPU rising with each, allocations in
// the last, and one of another kernel.
func months(t *testing.T) *analyze.Trends {
	t.Helper()
	var rs []*record.Result
	for i := range 7 {
		r := smallFixture()
		r.Header.Started = time.Date(2026, time.Month(1+i), 3, 12, 0, 0, 0, time.UTC)
		r.Header.Tool.Commit = fmt.Sprintf("c%06d", i)
		r.Path = fmt.Sprintf("results/%d/result.jsonl", i)
		altered(r, "heap", "cpu_per_msg", func(v record.Value) record.Value { return record.Level(v.Float64() * (1 + float64(i)/10)) })
		if i == 5 {
			altered(r, "slot", "go_allocs", func(v record.Value) record.Value { v.Num = 1000; return v })
		}
		if i == 6 {
			r.Header.Environment[2].Value = "6.12.0"
		}
		rs = append(rs, r)
	}
	tr, err := analyze.Trend(rs)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func trendText(t *testing.T, tr *analyze.Trends, o Options) string {
	t.Helper()
	var b strings.Builder
	if err := Trend(&b, tr, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTrendGolden(t *testing.T) {
	tr := months(t)
	golden(t, "trend-80.txt", trendText(t, tr, Options{Width: 80}))
	golden(t, "trend-40-ascii.txt", trendText(t, tr, Options{Width: 40, ASCII: true}))
	for _, width := range []int{20, 40, 60, 80, 120} {
		for line := range strings.SplitSeq(trendText(t, tr, Options{Width: width}), "\n") {
			if w := textWidth(line); w > width || strings.HasSuffix(line, " ") {
				t.Errorf("width %d: a line of %d: %q", width, w, line)
			}
		}
	}
}

func TestTrendCSVHoldsEveryValue(t *testing.T) {
	tr := months(t)
	var b strings.Builder
	if err := TrendCSV(&b, tr, Options{}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	for _, s := range tr.Scenarios {
		for _, e := range s.Series {
			for _, l := range e.Lines {
				values += len(l.Values)
			}
		}
	}
	if len(rows) != values+1 || values == 0 {
		t.Errorf("%d rows for %d values", len(rows), values)
	}
	slot := 0
	for _, r := range rows {
		if r[6] == "slot" && r[7] == "go_allocs" && r[10] == "1" && r[1] == "kernel 6.18.0" {
			slot++
		}
	}
	if slot != 1 {
		t.Errorf("the allocation of the last month is in %d rows", slot)
	}
}

func TestTrendPlotsAndPage(t *testing.T) {
	tr := months(t)
	dir := t.TempDir()
	paths, err := WriteTrendPNGs(dir, tr)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d plots, %v", len(paths), err)
	}
	for _, p := range paths {
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		img, err := png.Decode(f)
		f.Close()
		if err != nil || colours(img) < 4 {
			t.Errorf("%s: %v, or empty", filepath.Base(p), err)
		}
	}
	var b bytes.Buffer
	if err := TrendHTML(&b, tr, Options{}); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"CPU time per message over time", "kernel 6.12.0", "kernel 6.18.0", "c000005", `<svg`, "slot", "Content-Security-Policy"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if regexp.MustCompile(`(src|href)="(https?:)?//`).MatchString(page) || b.Len() > maxPageBytes {
		t.Errorf("the page of %d bytes asks the network, or is too large", b.Len())
	}
	// What never changed is told, not drawn.
	if strings.Contains(page, "Wasted bytes per message over time") {
		t.Error("a constant count has a plot")
	}
}

func colours(img image.Image) int {
	seen := map[[3]uint32]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 2 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 2 {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r, g, b}] = true
		}
	}
	return len(seen)
}

func TestTrendOfOneRunAndOfHostileNames(t *testing.T) {
	for name, res := range map[string]*record.Result{"one run": fixture.New(fixture.Spec{Blocks: 1, Repeats: 1, Messages: 50}), "hostile": evilResult()} {
		tr, err := analyze.Trend([]*record.Result{res})
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := TrendHTML(&b, tr, Options{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(b.String(), "<script>alert") || strings.Contains(b.String(), "\u202e") {
			t.Errorf("%s: text of a file is markup", name)
		}
		trendText(t, tr, Options{Width: 40})
	}
}
