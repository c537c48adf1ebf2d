package render

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/fixture"
)

// unwritable are what arithmetic can make of measurements, and no format has.
var unwritable = []float64{math.NaN(), math.Inf(1), math.Inf(-1), -math.NaN()}

// extremes are numbers that a file may hold, however odd.
var extremes = []float64{math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0, 1e300, -1e-300}

// spoil puts some of the values in the place of a share of the numbers of v, and
// returns how many.
func spoil(rng *rand.Rand, v reflect.Value, share float64, values []float64) (n int) {
	switch v.Kind() {
	case reflect.Float64:
		if v.CanSet() && rng.Float64() < share {
			v.SetFloat(values[rng.IntN(len(values))])
			return 1
		}
	case reflect.Pointer:
		if !v.IsNil() {
			n += spoil(rng, v.Elem(), share, values)
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += spoil(rng, v.Index(i), share, values)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			c := reflect.New(it.Value().Type()).Elem()
			c.Set(it.Value())
			n += spoil(rng, c, share, values)
			v.SetMapIndex(it.Key(), c)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Field(i).Type().PkgPath() != "time" {
				n += spoil(rng, v.Field(i), share, values)
			}
		}
	}
	return n
}

// TestNothingNotFiniteIsWritten: whatever numbers an analysis might hold, no export
// writes one that is none. JSON, which holds all of them, may refuse.
func TestNothingNotFiniteIsWritten(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 5))
		share := []float64{.02, .3, 1}[seed%3]
		res := fixture.New(fixture.Spec{Blocks: 2, Repeats: 1, Messages: 50})
		older := fixture.New(fixture.Spec{Blocks: 1, Repeats: 1, Messages: 30})
		report := reportOf(t, res)
		comparison, err := analyze.Compare([]*record.Result{older}, []*record.Result{res}, analyze.CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		trends, err := analyze.Trend([]*record.Result{older, res})
		if err != nil {
			t.Fatal(err)
		}
		self := selfCheck()
		spoilt := 0
		for _, v := range []any{report, comparison, trends, self} {
			spoilt += spoil(rng, reflect.ValueOf(v), share, append(unwritable, extremes...))
		}
		if spoilt < 20 {
			t.Fatalf("only %d numbers are spoilt", spoilt)
		}
		for name, write := range map[string]func(io.Writer) error{
			"csv":              func(w io.Writer) error { return CSV(w, report, Options{}) },
			"benchfmt":         func(w io.Writer) error { return Benchfmt(w, report, Options{}) },
			"markdown":         func(w io.Writer) error { return Markdown(w, report, Options{}) },
			"table":            func(w io.Writer) error { return Table(w, report, Options{Width: 80}) },
			"json":             func(w io.Writer) error { return JSON(w, report, Options{}) },
			"compare csv":      func(w io.Writer) error { return CompareCSV(w, comparison, strict, Options{}) },
			"compare markdown": func(w io.Writer) error { return CompareMarkdown(w, comparison, strict, Options{}) },
			"compare table":    func(w io.Writer) error { return CompareTable(w, comparison, strict, Options{Width: 80}) },
			"compare json":     func(w io.Writer) error { return CompareJSON(w, comparison, strict, Options{}) },
			"junit":            func(w io.Writer) error { return CompareJUnit(w, comparison, strict, Options{}) },
			"trend":            func(w io.Writer) error { return Trend(w, trends, Options{Width: 80}) },
			"trend csv":        func(w io.Writer) error { return TrendCSV(w, trends, Options{}) },
			"trend json":       func(w io.Writer) error { return TrendJSON(w, trends, Options{}) },
			"self check":       func(w io.Writer) error { return SelfCheckTable(w, self, Options{Width: 80}) },
			"self check json":  func(w io.Writer) error { return SelfCheckJSON(w, self) },
		} {
			var b strings.Builder
			if err := write(&b); err != nil && !strings.Contains(name, "json") {
				t.Errorf("seed %d: %s: %v", seed, name, err)
			}
			noNonFinite(t, name, b.String())
		}
	}
}

// TestExtremeNumbersDraw: a result of the largest and smallest numbers a file may
// hold is analysed and drawn, with no coordinate that is none.
func TestExtremeNumbersDraw(t *testing.T) {
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 6))
		res, older := tiny(), tiny()
		if spoil(rng, reflect.ValueOf(res), .5, extremes)+spoil(rng, reflect.ValueOf(older), .5, extremes) < 20 {
			t.Fatal("too little is spoilt")
		}
		report := reportOf(t, res)
		trends, err := analyze.Trend([]*record.Result{older, res})
		if err != nil {
			t.Fatal(err)
		}
		var page, trend strings.Builder
		if err := errors.Join(HTML(&page, report, Options{}), TrendHTML(&trend, trends, Options{})); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		for name, text := range map[string]string{"page": page.String(), "trend": trend.String()} {
			for _, e := range elements(t, text) {
				for k, v := range e.attrs {
					if strings.Contains(v, "NaN") || strings.Contains(v, "Inf") {
						t.Errorf("seed %d: %s: <%s %s=%.80q>", seed, name, e.name, k, v)
					}
				}
			}
		}
	}
}
