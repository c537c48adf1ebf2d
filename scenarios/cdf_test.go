package scenarios

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const sizesText = "{lognormal: {median: 2KiB, sigma: 1.6, max: 64KiB}}"

func TestPointFaults(t *testing.T) {
	checkFaults(t, []faultCase{
		{sizesText, "{cdf: {}}", 9, 11, "exactly one of points, file", ""},
		{sizesText, "{cdf: {points: [[30, 1]], file: a}}", 9, 11, "exactly one of points, file", ""},
		{sizesText, "{cdf: {points: []}}", 9, 25, "the list is empty", ""},
		{sizesText, "{cdf: {points: [30, 1]}}", 9, 26, `expected [bytes, share], found "30"`, ""},
		{sizesText, "{cdf: {points: [[30, 1, 2]]}}", 9, 26, "expected [bytes, share]", ""},
		{sizesText, "{cdf: {points: [[30, .5]]}}", 9, 26, "the last share is 0.5 at size 30, not 1", ""},
		{sizesText, "{cdf: {points: [[30, .5], [30, 1]]}}", 9, 36, "the size 30 does not rise above 30", ""},
		{sizesText, "{cdf: {points: [[30, .5],\n    [31, .4], [32, 1]]}}", 10, 5, "the share falls from 0.5 at size 30 to 0.4 at size 31", ""},
		{sizesText, "{cdf: {points: [[30, 1.5]]}}", 9, 31, "1.5 is not from 0% to 100%", ""},
		{sizesText, "{cdf: {points: [[30, nan]]}}", 9, 31, "not a number", ""},
		{sizesText, "{cdf: {points: [[-30, 1]]}}", 9, 27, "negative", ""},
		{sizesText, "{cdf: {points: [[30, 1]], min: 64, max: 32}}", 9, 41, "64B is not below max, 32B", ""},
		{sizesText, "{cdf: {points: [[30, 1]], name: A b}}", 9, 42, "not a valid name", ""},
		{sizesText, "{cdf: {file: missing.csv}}", 9, 23, "missing.csv: no such file", ""},
		{sizesText, "{cdf: {file: testdata}}", 9, 23, "not a regular file", ""},
		{sizesText, "[{cdf: {points: [[30, 1]], name: a}}, {cdf: {points: [[31, 1]], name: a}}]", 9, 48, `"a" is in the list twice`, ""},
	})
}

func TestTraceFaults(t *testing.T) {
	for _, c := range []struct {
		text      string
		line, col int
		msg       string
	}{
		{"", 1, 1, "the file holds no sizes"},
		{"bytes,cum\n", 1, 1, "the file holds no sizes"},
		{"# note\nbytes,cum\n7,.175\n8,.164286\n16,1\n", 4, 1, "the share falls from 0.175 at size 7 to 0.164286 at size 8"},
		{"7,.5\n7,1\n", 2, 1, "does not rise"},
		{"7,.5\n8,.9\n\n# end\n", 2, 1, "the last share is 0.9 at size 8, not 1"},
		{"7,.5\n8\n", 2, 1, "1 columns"},
		{"7,.5,3\n", 1, 1, "3 columns"},
		{"7\n8,1\n", 2, 1, "2 columns"},
		{"7,1.1\n", 1, 1, "above 1"},
		{"100\nx\n", 2, 1, `"x" is not a number`},
		{"100\n-1\n", 2, 1, "negative"},
		{"100\n010\n", 2, 1, "leading zero"},
		{"100\r\n17MiB\r\n", 2, 1, "over the limit"},
		{"\xff\xfe1\x00", 1, 1, "not a number"},
	} {
		_, e := parseTrace("dir/t.csv", []byte(c.text))
		if e == nil {
			t.Errorf("%q parses", c.text)
			continue
		}
		if e.File != "dir/t.csv" || e.Line != c.line || e.Col != c.col || !strings.Contains(e.Msg, c.msg) {
			t.Errorf("%q: got %s:%d:%d %q, want %d:%d %q", c.text, e.File, e.Line, e.Col, e.Msg, c.line, c.col, c.msg)
		}
	}
}

func TestTraces(t *testing.T) {
	for text, want := range map[string]string{
		"92,.0074\n271,1\n":                        "[{92 0.0074} {271 1}]",
		"\ufeffbytes,cum\r\n92, 1%\r\n4KiB,1\r\n":  "[{92 0.01} {4096 1}]",
		"0\t0\n# all\n7;1e0\n":                     "[{0 0} {7 1}]",
		"100\n\n30\n100\n100\n":                    "[{30 0.25} {100 1}]",
		"\"size\"\n64KiB":                          "[{65536 1}]",
		strings.Repeat("7\n", 1000) + "9\n9\n9\n9": "[{7 0.9960159362549801} {9 1}]",
	} {
		got, e := parseTrace("t.csv", []byte(text))
		if e != nil {
			t.Errorf("%q: %v", text, e)
		} else if fmt.Sprint(got) != want {
			t.Errorf("%q gives %v, want %s", text, got, want)
		}
	}
}

// A trace of many sizes is thinned: shares stay exact at the sizes kept, and
// no size is rounded up by more than the width.
func TestThinning(t *testing.T) {
	var text strings.Builder
	var all []int64
	for i := range int64(20_000) {
		size := 30 + i*i%1_000_003
		all = append(all, size)
		fmt.Fprintln(&text, size)
	}
	got, e := parseTrace("t.csv", []byte(text.String()))
	if e != nil {
		t.Fatal(e)
	}
	if len(got) > maxPoints || len(got) < 100 {
		t.Fatalf("%d points", len(got))
	}
	slices.Sort(all)
	for i, p := range got {
		n, _ := slices.BinarySearch(all, p.Bytes+1)
		if want := float64(n) / float64(len(all)); p.Cum != want {
			t.Errorf("share at %d is %g, want %g", p.Bytes, p.Cum, want)
		}
		from := 0
		if i > 0 {
			from, _ = slices.BinarySearch(all, got[i-1].Bytes+1)
		}
		if least := all[from]; float64(p.Bytes) > float64(least)*(1+thinWidth) {
			t.Errorf("size %d is rounded up to %d", least, p.Bytes)
		}
	}
	if last := got[len(got)-1]; last.Bytes != all[len(all)-1] || last.Cum != 1 {
		t.Errorf("the last step is %v, want %d", last, all[len(all)-1])
	}
	// Sizes as dense as they can usefully be are still few points.
	var dense steps
	for size := int64(0); size <= MaxMessageBytes; size += 1 + size/2000 {
		dense = append(dense, SizePoint{size, float64(size) / MaxMessageBytes})
	}
	if n := len(thin(dense)); len(dense) < 10*maxPoints || n > maxPoints {
		t.Errorf("%d sizes thin to %d points, more than %d", len(dense), n, maxPoints)
	}
}

func TestCDFFileIsReadBesideTheScenario(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("sizes.csv", "100\n200\n")
	file := write("s.yaml", edited(t, sizesText, "{cdf: {file: sizes.csv}}"))
	first, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(first.Workload.Sizes[0].Points); got != "[{100 0.5} {200 1}]" {
		t.Error(got)
	}
	write("sizes.csv", "100\n300\n")
	second, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if first.Digest == second.Digest || first.Text != second.Text {
		t.Error("the digest does not cover the cdf file")
	}
	if first.Workload.Sizes[0].Label() == second.Workload.Sizes[0].Label() {
		t.Error("two traces have one label")
	}
}

func TestShares(t *testing.T) {
	rpc := []SizePoint{{2, .2767}, {7, .6456}, {24, .7}, {32, .7379}, {100, 1}}
	for _, c := range []struct {
		s           Sizes
		raised, cut float64
		largest     int64
	}{
		{Sizes{Kind: "fixed", Bytes: 64}, 0, 0, 64},
		{Sizes{Kind: "uniform", Min: 64, Max: 128}, 0, 0, 128},
		{Sizes{Kind: "bimodal", Small: 64, Large: 128, Share: .1}, 0, 0, 128},
		{Sizes{Kind: "cdf", Points: rpc}, .6456, 0, 100},
		{Sizes{Kind: "cdf", Points: rpc, Min: 25}, .7, 0, 100},
		{Sizes{Kind: "cdf", Points: rpc, Max: 32}, .6456, 1 - .7379, 32},
		{Sizes{Kind: "cdf", Points: rpc, Max: 31}, .6456, 1 - .7, 31},
		{Sizes{Kind: "cdf", Points: rpc[:1]}, .2767, 1 - .2767, 24},
		// 1.959964 standard deviations leave 2.5% on either side.
		{Sizes{Kind: "lognormal", Median: 1000, Sigma: 1, Min: 141, Max: 7099}, .025, .025, 7099},
		{Sizes{Kind: "lognormal", Median: 24, Sigma: 2}, .5, 0, MaxMessageBytes},
	} {
		if got := c.s.RaisedShare(); math.Abs(got-c.raised) > 1e-4 {
			t.Errorf("%s: raised %g, want %g", c.s.Label(), got, c.raised)
		}
		if got := c.s.CutShare(); math.Abs(got-c.cut) > 1e-4 {
			t.Errorf("%s: cut %g, want %g", c.s.Label(), got, c.cut)
		}
		if got := c.s.Largest(); got != c.largest {
			t.Errorf("%s: largest %d, want %d", c.s.Label(), got, c.largest)
		}
	}
}
