package uringimpl

import (
	"fmt"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// TestManyClients verifies thousands of clients, with a group of buffers each and
// with one for all: more receives are asked for than the submission ring takes at
// a time.
func TestManyClients(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second for each of its cases")
	}
	for _, s := range providedStrategies() {
		for _, p := range groupings(s) {
			for _, multishot := range []string{"true", "false"} {
				if multishot == "false" && s.Name != ringFixed.Name {
					continue // asking is the same for all
				}
				p["multishot"] = multishot
				t.Run(fmt.Sprintf("%s/%v", s.Name, p), func(t *testing.T) {
					w := wild()
					w.Clients, w.BudgetBytes, w.Load.Depth = manyClients, 16<<10, 1
					w.Sizes = record.Sizes{Kind: "fixed", Bytes: 500}
					tr := newTrial(s.Name, p, w, record.Verify, 2*manyClients)
					tr.Warmup = manyClients
					runChild(t, tr)
				})
			}
		}
	}
}

// manyClients are more than the submission ring has entries.
const manyClients = maxSQEntries + 500
