package uringimpl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// tight is a budget so small that held messages use it up.
func tight(assembly string) record.Workload {
	w := wild()
	w.Clients, w.BudgetBytes, w.Assembly = 2, 40<<10, assembly
	w.Sizes = record.Sizes{Kind: "bimodal", Small: 500, Large: 16 << 10, Share: 0.3}
	return w
}

// TestTightBudget has strategies run out of memory while messages are held: by
// count they let messages go early, by time they wait, and nothing is lost.
func TestTightBudget(t *testing.T) {
	for _, s := range Strategies() {
		var reprovide []map[string]string
		for _, v := range valuesOf(paramReprovide) {
			reprovide = append(reprovide, map[string]string{"reprovide": v}, map[string]string{"reprovide": v, "multishot": "false"})
		}
		reprovide = append(reprovide, map[string]string{"reprovide": "batched", "group": "shared"})
		if _, ok := s.Param("reprovide"); !ok {
			reprovide = []map[string]string{nil}
		}
		for _, params := range reprovide {
			if s.Name == heap.Name {
				params = map[string]string{"chunk": "4KiB"}
			}
			for _, assembly := range []string{"contiguous", "vectored"} {
				for i, w := range holds(tight(assembly)) {
					w.HoldMessages *= 3
					t.Run(fmt.Sprintf("%s/%v/%s/hold%d", s.Name, params, assembly, i), func(t *testing.T) {
						if !verify(t, s, params, w, 150) {
							t.Fatal("does not fit")
						}
						rec, _ := runTrial(t, newTrial(s.Name, params, w, record.Counting, 150), nil)
						if rec.Status != record.OK {
							t.Fatal(rec.Error)
						}
						forced, starved := rec.Metrics["forced_releases"].Num, rec.Metrics["enobufs"].Num
						if (forced > 0) != (w.HoldMessages > 0) {
							t.Errorf("%d messages let go early", forced)
						}
						// A bundle that takes the last buffer ends its request without a word.
						refuses := params["multishot"] != "false" && params["reprovide"] != "" && !strings.Contains(s.Name, "bundle")
						if refuses && w.HoldMessages > 0 && starved == 0 {
							t.Error("no receive was ever refused for want of a buffer")
						}
					})
				}
			}
		}
	}
}
