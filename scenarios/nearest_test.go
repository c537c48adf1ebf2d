package scenarios

import (
	"math/rand/v2"
	"testing"
)

func TestNearest(t *testing.T) {
	keys := []string{"transport", "clients", "sizes", "budget", "load", "hold", "assembly", "touch"}
	for word, want := range map[string]string{
		"client": "clients", "cleints": "clients", "CLIENTS": "clients", "size": "sizes", "lod": "load", "hodl": "hold",
		"asembly": "assembly", "x": "", "": "", "budgets": "budget", "completely": "", "toch": "touch",
	} {
		if got := Nearest(word, keys); got != want {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
	if got := Nearest("ab", nil); got != "" {
		t.Errorf("nearest of nothing is %q", got)
	}
	if got := Nearest("lad", []string{"load", "lead"}); got != "load" {
		t.Errorf("of two equally near the first should win, got %q", got)
	}
	if got := Nearest("lat_p99", []string{"latency_p50", "latency_p99"}); got != "latency_p99" {
		t.Error(got)
	}
}

// slowDistance is the definition: the least number of edits, tried one by one.
func slowDistance(a, b string) int {
	switch {
	case a == "":
		return len(b)
	case b == "":
		return len(a)
	}
	cost := 1
	if a[0] == b[0] {
		cost = 0
	}
	best := min(slowDistance(a[1:], b)+1, slowDistance(a, b[1:])+1, slowDistance(a[1:], b[1:])+cost)
	if len(a) > 1 && len(b) > 1 && a[0] == b[1] && a[1] == b[0] {
		best = min(best, slowDistance(a[2:], b[2:])+1)
	}
	return best
}

func TestNearestAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		b := make([]byte, r.IntN(7))
		for i := range b {
			b[i] = "abc"[r.IntN(3)]
		}
		return string(b)
	}
	found := 0
	for range 3000 {
		w, candidates := word(), []string{word(), word(), word(), word()}
		want, least := "", -1
		for _, c := range candidates {
			d := slowDistance(w, c)
			if got := distance([]rune(w), []rune(c)); got != d {
				t.Fatalf("distance of %q and %q is %d, want %d", w, c, got, d)
			}
			if 5*d <= 2*max(len(w), len(c)) && (least < 0 || d < least) {
				want, least = c, d
			}
		}
		if got := Nearest(w, candidates); got != want {
			t.Fatalf("nearest to %q of %q is %q, want %q", w, candidates, got, want)
		}
		if want != "" {
			found++
		}
	}
	if found < 500 {
		t.Errorf("only %d words had a neighbour: the test tests little", found)
	}
}
