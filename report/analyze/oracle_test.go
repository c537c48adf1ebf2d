package analyze

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

const oracleTolerance = 1e-9

func near(a, b float64) bool { return math.Abs(a-b) <= oracleTolerance*math.Max(1, math.Abs(b)) }

// oracle reads a table of values computed by R.
func oracle(t *testing.T, name string, min int) []map[string]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) <= min {
		t.Fatalf("%s has %d rows, want more than %d", name, len(rows), min)
	}
	var out []map[string]string
	for _, r := range rows[1:] {
		m := map[string]string{}
		for i, k := range rows[0] {
			m[k] = r[i]
		}
		out = append(out, m)
	}
	return out
}

func floats(t *testing.T, s string) []float64 {
	t.Helper()
	var out []float64
	for f := range strings.FieldsSeq(s) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func check(t *testing.T, what, want string, got float64) {
	t.Helper()
	if w := floats(t, want); len(w) != 1 || !near(got, w[0]) {
		t.Errorf("%s: got %.15g, R says %s", what, got, want)
	}
}

func TestSignedRankMatchesR(t *testing.T) {
	intervals := 0
	for _, r := range oracle(t, "signedrank.csv", 40) {
		x := floats(t, r["x"])
		check(t, "p of "+r["x"], r["p_exact"], SignedRank(x).P)
		if r["hl_estimate"] == "" || len(x) < 6 {
			continue
		}
		e := HodgesLehmann(x, 0.05)
		if !e.HasInterval || e.Level < 0.95 {
			t.Fatalf("no 95%% interval of %d values: %+v", len(x), e)
		}
		check(t, "estimate", r["hl_estimate"], e.Value)
		check(t, "lo", r["ci95_lo"], e.Lo)
		check(t, "hi", r["ci95_hi"], e.Hi)
		intervals++
	}
	if intervals < 15 {
		t.Errorf("only %d intervals compared", intervals)
	}
}

// rounded is the sample of the one row where R's figure is off: it computes the
// mean rank sum as 11/18*342, which rounds to 209.00000000000003, so the
// outcomes as far above the mean as the observed 206 is below it do not count.
const rounded = "0.5 1.0 0.0 1.0 1.5 -1.0 0.0 1.5 0.5 0.5 -0.5"

// checkRounded shows that ours is the exact figure, and R's is ours without
// the mirrored outcomes.
func checkRounded(t *testing.T, x, y []float64, want string) {
	t.Helper()
	got := MannWhitney(x, y).P
	if p, _, _ := bruteMannWhitney(x, y); !near(got, p) {
		t.Errorf("got %.15g, brute force says %.15g", got, p)
	}
	ranks, _ := doubledMidranks(append(append([]float64(nil), x...), y...))
	check(t, "p without the mirrored outcomes", want, got-rankSumPMF(ranks, len(x))[2*209-206])
}

func TestMannWhitneyMatchesR(t *testing.T) {
	intervals := 0
	for _, r := range oracle(t, "mannwhitney.csv", 40) {
		x, y := floats(t, r["x"]), floats(t, r["y"])
		if r["x"] == rounded {
			checkRounded(t, x, y, r["p_exact"])
		} else {
			check(t, "p of "+r["x"]+" | "+r["y"], r["p_exact"], MannWhitney(x, y).P)
		}
		if r["hl_shift_x_minus_y"] == "" {
			continue
		}
		e := HodgesLehmannShift(x, y, 0.05)
		check(t, "shift", r["hl_shift_x_minus_y"], e.Value)
		if !e.HasInterval {
			t.Logf("%d against %d: too few for 95%%; R gives what it has", len(x), len(y))
			continue
		}
		check(t, "lo", r["ci95_lo"], e.Lo)
		check(t, "hi", r["ci95_hi"], e.Hi)
		intervals++
	}
	if intervals < 15 {
		t.Errorf("only %d intervals compared", intervals)
	}
}

func TestAdjustAndQuantileMatchR(t *testing.T) {
	seen := map[string]int{}
	for _, r := range oracle(t, "adjust_quantile.csv", 25) {
		in, want := floats(t, r["input"]), floats(t, r["expected"])
		kind, shares, _ := strings.Cut(r["kind"], ":")
		var got []float64
		switch kind {
		case "holm":
			got = Holm(in)
		case "bh":
			got = BenjaminiHochberg(in)
		case "quantile7":
			for _, q := range floats(t, shares) {
				got = append(got, Quantile7(in, q))
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d values, want %d", r["kind"], len(got), len(want))
		}
		for i := range want {
			if !near(got[i], want[i]) {
				t.Errorf("%s of %s: element %d is %.15g, R says %.15g", r["kind"], r["input"], i, got[i], want[i])
			}
		}
		seen[kind]++
	}
	if seen["holm"] == 0 || seen["bh"] == 0 || seen["quantile7"] == 0 {
		t.Errorf("kinds seen: %v", seen)
	}
}
