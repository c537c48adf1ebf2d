package uringimpl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// valuesOf lists the values of a param that tests go through.
func valuesOf(p harness.Param) []string {
	var v []string
	switch p.Kind {
	case harness.ParamText:
		v = append(v, p.Values...)
	case harness.ParamBool:
		v = append(v, "true", "false")
	case harness.ParamInt:
		v = append(v, "1", "2", "3", "8")
	case harness.ParamBytes:
		v = append(v, "1KiB", "4KiB", "10000B", "64KiB")
	}
	if p.Default == harness.Auto {
		v = append(v, harness.Auto)
	}
	return v
}

// kinds are distributions of message sizes by name, up to 16 KiB.
func kinds() map[string]record.Sizes {
	return map[string]record.Sizes{
		"fixed":     {Kind: "fixed", Bytes: 3000},
		"uniform":   {Kind: "uniform", Min: 24, Max: 9000},
		"lognormal": {Kind: "lognormal", Median: 1024, Sigma: 1.6, Max: 16 << 10},
		"bimodal":   {Kind: "bimodal", Small: 24, Large: 16 << 10, Share: 0.1},
	}
}

// holds are the ways a workload keeps messages: not, by count, by time.
func holds(w record.Workload) [3]record.Workload {
	counted, timed := w, w
	counted.HoldMessages = 8
	timed.HoldNS = 300_000
	return [...]record.Workload{w, counted, timed}
}

// verify runs a verify trial, which must pass with the work the seed says. It
// reports false for a case that does not fit its workload.
func verify(t *testing.T, s harness.Strategy, params map[string]string, w record.Workload, messages int) bool {
	t.Helper()
	values, err := s.Complete(params)
	if err != nil {
		t.Fatal(err)
	}
	if s.Fits != nil && s.Fits(w, values) != nil {
		return false
	}
	tr := newTrial(s.Name, values, w, record.Verify, messages)
	tr.Warmup = min(tr.Warmup, 200) // nothing is measured: using memory again is enough
	rec, _ := runTrial(t, tr, nil)
	if rec.Status != record.OK && params["group"] == "shared" && w.Assembly == "vectored" && strings.Contains(rec.Error, "open messages fill") {
		t.Log(rec.Error) // which cannot be excluded, and is said
		return true
	}
	if rec.Status != record.OK {
		t.Errorf("%v %+v: %s", params, w, rec.Error)
		return true
	}
	if want := load.NewSchedule(tr).Fingerprint(tr.Seed); rec.Fingerprint != want {
		t.Errorf("%v %+v: work %+v, want %+v", params, w, rec.Fingerprint, want)
	}
	return true
}

// neverFits are the values that no workload here can be run with.
var neverFits = map[string]bool{
	"ring-fixed entries=1": true, "ring-inc entries=1": true, "heap entries=1": true, "read-fixed entries=1": true, "slot range=1KiB": true,
	"ring-bundle entries=1": true, "ring-inc-bundle entries=1": true, "provide-legacy entries=1": true,
}

// TestEveryParamValue goes through every value of every param of every strategy
// under all kinds of hold and assembly, with sizes that take turns.
func TestEveryParamValue(t *testing.T) {
	turn := 0
	order := []string{"bimodal", "uniform", "lognormal", "fixed"}
	for _, s := range Strategies() {
		for _, p := range s.Params {
			for _, value := range valuesOf(p) {
				t.Run(fmt.Sprintf("%s/%s=%s", s.Name, p.Name, value), func(t *testing.T) {
					ran := 0
					for _, assembly := range []string{"contiguous", "vectored"} {
						w := wild()
						w.BudgetBytes, w.Assembly = 128<<10, assembly
						for _, held := range holds(w) {
							turn++ // six to a value: kinds meet other holds at the next
							held.Sizes = kinds()[order[turn%len(order)]]
							if verify(t, s, map[string]string{p.Name: value}, held, 50) {
								ran++
							}
						}
					}
					if never := neverFits[s.Name+" "+p.Name+"="+value]; never != (ran == 0) {
						t.Errorf("ran %d times; refused always: %v", ran, never)
					}
				})
			}
		}
	}
}

// TestSizesAndClients goes through kinds of sizes and numbers of clients.
func TestSizesAndClients(t *testing.T) {
	for _, s := range Strategies() {
		for name, sizes := range kinds() {
			for _, clients := range []int{1, 64} {
				t.Run(fmt.Sprintf("%s/%s/clients=%d", s.Name, name, clients), func(t *testing.T) {
					w := wild()
					w.Clients, w.Sizes, w.BudgetBytes = clients, sizes, 64<<10
					if !verify(t, s, nil, w, 500) {
						t.Fatal("does not fit")
					}
				})
			}
		}
	}
}

// TestFitsSaysWhy: a case that cannot be run is refused with words.
func TestFitsSaysWhy(t *testing.T) {
	for _, s := range Strategies() {
		w := wild()
		w.BudgetBytes = 32 << 10 // less than the largest message
		v, err := s.Complete(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Fits(w, v); err == nil || !strings.Contains(err.Error(), "budget") {
			t.Errorf("%s: messages larger than the budget: %v", s.Name, err)
		}
	}
	for _, c := range []struct{ strategy, param, value string }{
		{"ring-fixed", "chunk", "1MiB"},
		{"ring-fixed", "entries", "65"},
		{"ring-inc", "entries", "1"},
		{"ring-inc", "entries", "128"},
		{"ring-bundle", "chunk", "1MiB"},
		{"ring-inc-bundle", "entries", "1"},
		{"provide-legacy", "entries", "65"},
		{"heap", "chunk", "1MiB"},
		{"slot", "range", "4KiB"},
	} {
		s, _ := registry().Find(c.strategy)
		v, err := s.Complete(map[string]string{c.param: c.value})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Fits(wild(), v); err == nil {
			t.Errorf("%s with %s=%s fits", c.strategy, c.param, c.value)
		}
	}
}
