package uringimpl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// ownMemory are the strategies that name the memory of each receive themselves.
func ownMemory() []harness.Strategy {
	return []harness.Strategy{slot, readFixed, heap, epollRead, goNet}
}

// roomy is for each the params with room for the largest datagram of grams.
func roomy(s harness.Strategy) map[string]string {
	for _, name := range []string{"chunk", "read"} {
		if _, ok := s.Param(name); ok {
			return map[string]string{name: "16KiB"}
		}
	}
	return nil
}

// grams is traffic over a transport whose messages, at most 9000 bytes, may leave
// less than a datagram's room at the end of a range.
func grams(transport, assembly string) record.Workload {
	w := wild()
	w.Transport, w.Assembly = transport, assembly
	w.Sizes, w.BudgetBytes = record.Sizes{Kind: "uniform", Min: 24, Max: 9000}, 64<<10
	return w
}

// TestOwnMemoryOverEveryTransport: nothing is cut, lost or mixed up over any
// transport, with messages held and not, in one piece and in several.
func TestOwnMemoryOverEveryTransport(t *testing.T) {
	for _, s := range ownMemory() {
		for _, transport := range []string{load.TCP, load.Unix, load.UDP} {
			for _, assembly := range []string{"contiguous", "vectored"} {
				for i, w := range holds(grams(transport, assembly)) {
					t.Run(fmt.Sprintf("%s/%s/%s/hold%d", s.Name, transport, assembly, i), func(t *testing.T) {
						if !verify(t, s, roomy(s), w, 400) {
							t.Fatal("does not fit")
						}
						rec, _ := runTrial(t, newTrial(s.Name, complete(t, s, roomy(s)), w, record.Counting, 100), nil)
						if rec.Status != record.OK {
							t.Fatal(rec.Error)
						}
						// Each is a receive of its own; one more is a marker of a generator
						// that has waited long.
						if v := rec.Metrics["receives"]; transport == load.UDP && v.Num < v.Den {
							t.Errorf("%v receives: want one a datagram", v)
						}
					})
				}
			}
		}
	}
}

func complete(t *testing.T, s harness.Strategy, params map[string]string) harness.Values {
	t.Helper()
	v, err := s.Complete(params)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDatagramsNeedRoom: what would cut a datagram is refused, naming the param.
func TestDatagramsNeedRoom(t *testing.T) {
	w := grams(load.UDP, "contiguous")
	for _, s := range ownMemory() {
		name := ""
		for k := range roomy(s) {
			name = k
		}
		if name == "" {
			continue // a range holds the largest message over any transport
		}
		err := s.Check(w, complete(t, s, map[string]string{name: "8KiB"}))
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "9000") {
			t.Errorf("%s with %s=8KiB: %v", s.Name, name, err)
		}
		w.Transport = load.TCP
		if err := s.Check(w, complete(t, s, map[string]string{name: "8KiB"})); err != nil {
			t.Errorf("%s: a stream may be cut anywhere, yet: %v", s.Name, err)
		}
		w.Transport = load.UDP
	}
}
