package record

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRecordCheck(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name   string
		change func(r *Record)
		says   string // empty: it is good
	}{
		{"good", func(*Record) {}, ""},
		{"failed", func(r *Record) { r.Status = Failed }, ""},
		{"skipped", func(r *Record) { r.Status = Skipped }, ""},
		{"no figures", func(r *Record) { r.Metrics, r.Series = nil, nil }, ""},
		{"zero", func(r *Record) { *r = Record{} }, "schema 0"},
		{"schema", func(r *Record) { r.Schema = 2 }, "schema 2"},
		{"another trial", func(r *Record) { r.Trial = "other" }, `"other", asked for "id"`},
		{"no status", func(r *Record) { r.Status = "" }, "status"},
		{"status", func(r *Record) { r.Status = "fine" }, "fine"},
		{"infinite", func(r *Record) { r.Metrics["m"] = Value{Float: &inf} }, "metric m: not a finite"},
		{"no value", func(r *Record) { r.Metrics["m"] = Value{} }, "metric m: neither"},
		{"series", func(r *Record) { r.Series[0].Y = nil }, "series s: 2 x against 0 y"},
	} {
		r := Record{
			Schema: Schema, Trial: "id", Status: OK, Metrics: map[string]Value{"m": Count(1, 2), "n": Level(0)},
			Series: []Series{{Name: "s", X: []int64{1, 2}, Y: []int64{1, 2}}},
		}
		c.change(&r)
		err := r.Check("id")
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		v     Value
		f     float64
		count bool
	}{
		{Count(3, 4), 0.75, true},
		{Count(0, 4), 0, true},
		{Count(-1, 2), -0.5, true},
		{Level(0.1), 0.1, false},
		{Level(0), 0, false},
		{Value{}, 0, false},
	} {
		if c.v.Float64() != c.f || c.v.IsCount() != c.count {
			t.Errorf("%+v: %g, count %t; want %g, %t", c.v, c.v.Float64(), c.v.IsCount(), c.f, c.count)
		}
	}
}

func TestEnvironmentMismatch(t *testing.T) {
	base := Environment{
		{Key: "arch", Value: "amd64", Compare: Exact},
		{Key: "library", Unavailable: "not there", Compare: Exact},
		{Key: "kernel", Value: "6.18", Compare: Sampled},
		{Key: "load", Value: "0.1"},
	}
	with := func(key string, it EnvItem) Environment {
		e := slices.Clone(base)
		for i := range e {
			if e[i].Key == key {
				it.Key, it.Compare = key, e[i].Compare
				e[i] = it
			}
		}
		return e
	}
	for _, c := range []struct {
		name           string
		other          Environment
		exact, sampled string
	}{
		{"same", slices.Clone(base), "", ""},
		{"told only", with("load", EnvItem{Value: "9"}), "", ""},
		{"sampled key", with("kernel", EnvItem{Value: "6.12"}), "", "kernel"},
		{"exact key", with("arch", EnvItem{Value: "arm64"}), "arch", "arch"},
		{"unavailable now", with("arch", EnvItem{Unavailable: "?"}), "arch", "arch"},
		{"available now", with("library", EnvItem{Value: "1.2"}), "library", "library"},
		{"another reason", with("library", EnvItem{Unavailable: "elsewhere"}), "", ""},
		{"key missing", base[1:], "arch", "arch"},
		{"key more", append(slices.Clone(base), EnvItem{Key: "more", Value: "1", Compare: Exact}), "more", "more"},
		{"none", nil, "arch", "arch,kernel"},
	} {
		for k, want := range map[Kind]string{Exact: c.exact, Sampled: c.sampled, Histogram: c.sampled} {
			for dir, got := range [][]string{base.Mismatch(c.other, k), c.other.Mismatch(base, k)} {
				if strings.Join(got, ",") != want {
					t.Errorf("%s, %s metrics, direction %d: %v, want %q", c.name, k, dir, got, want)
				}
			}
		}
	}
}

func TestEnvironmentGet(t *testing.T) {
	e := Environment{{Key: "a", Value: "1"}, {Key: "b", Unavailable: "why"}}
	for key, want := range map[string]bool{"a": true, "b": false, "c": false} {
		if v, ok := e.Get(key); ok != want || (v == "1") != want {
			t.Errorf("%s: %q, %t", key, v, ok)
		}
	}
}
