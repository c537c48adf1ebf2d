package scenarios

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

func TestLabels(t *testing.T) {
	points := []SizePoint{{92, .5}, {271, 1}}
	for want, got := range map[string]fmt.Stringer{
		"fixed(1500B)":                       labelled{Sizes{Kind: "fixed", Bytes: 1500}},
		"uniform(64B,4KiB)":                  labelled{Sizes{Kind: "uniform", Min: 64, Max: 4096}},
		"lognormal(2KiB,1.6)":                labelled{Sizes{Kind: "lognormal", Median: 2048, Sigma: 1.6}},
		"lognormal(2KiB,2,min=64B,max=8KiB)": labelled{Sizes{Kind: "lognormal", Median: 2048, Sigma: 2, Min: 64, Max: 8192}},
		"bimodal(128B,64KiB,5%)":             labelled{Sizes{Kind: "bimodal", Small: 128, Large: 65536, Share: .05}},
		"cdf(2,729f08217ba9)":                labelled{Sizes{Kind: "cdf", Points: points}},
		"hadoop":                             labelled{Sizes{Kind: "cdf", Points: points, Name: "hadoop"}},
		"open(50%)":                          labelled{Load{Mode: "open", Fraction: .5}},
		"open(20000/s)":                      labelled{Load{Mode: "open", RateHz: 20000}},
		"closed(4)":                          labelled{Load{Mode: "closed", Depth: 4}},
		"0":                                  labelled{Hold{}},
		"8":                                  labelled{Hold{Messages: 8}},
		"2ms":                                labelled{Hold{NS: 2e6}},
		"slot":                               labelled{CaseRef{Strategy: "slot"}},
		"ring-fixed{chunk=4KiB}":             labelled{CaseRef{"ring-fixed", map[string]string{"chunk": "4KiB"}}},
		`exec{a="1,b=2",b=nan,c="x\x40y"}`:   labelled{CaseRef{"exec", map[string]string{"b": "nan", "a": "1,b=2", "c": "x@y"}}},
	} {
		if got.String() != want {
			t.Errorf("label %s, want %s", got, want)
		}
	}
}

type labelled struct{ v interface{ Label() string } }

func (l labelled) String() string { return l.v.Label() }

// pick returns one of its arguments at random.
func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomSizes(r *rand.Rand) Sizes {
	size := func() int64 { return pick[int64](r, 24, 64, 1500, 2048, 4096, 65536) }
	clip := func() int64 { return pick[int64](r, 0, 24, 64, 1<<20) }
	switch r.IntN(5) {
	case 0:
		return Sizes{Kind: "fixed", Bytes: size()}
	case 1:
		return Sizes{Kind: "uniform", Min: size(), Max: size()}
	case 2:
		return Sizes{Kind: "lognormal", Median: size(), Sigma: pick(r, 1, 1.6, 1.60000001), Min: clip(), Max: clip()}
	case 3:
		return Sizes{Kind: "bimodal", Small: size(), Large: size(), Share: pick(r, .05, .0500001, .5)}
	}
	return Sizes{Kind: "cdf", Points: []SizePoint{{size(), pick(r, .5, .25)}, {1 << 20, 1}}, Min: clip(), Max: clip()}
}

// Two values have one label only if they are equal.
func TestLabelsAreDistinct(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	seen := map[string]any{}
	check := func(label string, v any) {
		if old, ok := seen[label]; ok && !reflect.DeepEqual(old, v) {
			t.Fatalf("%+v and %+v are both %s", old, v, label)
		}
		seen[label] = v
	}
	for range 20_000 {
		s := randomSizes(r)
		check(s.Label(), s)
		l := Load{Mode: "closed", Depth: 1 + r.IntN(50)}
		if r.IntN(2) == 0 {
			l = pick(r, Load{Mode: "open", Fraction: float64(1+r.IntN(500)) / 250}, Load{Mode: "open", RateHz: float64(1+r.IntN(500)) / 4})
		}
		check(l.Label(), l)
		h := pick(r, Hold{Messages: r.IntN(50)}, Hold{NS: int64(1 + r.IntN(5000))})
		check("hold "+h.Label(), h)
		c := CaseRef{Strategy: pick(r, "a", "b"), Params: map[string]string{}}
		for range 1 + r.IntN(2) {
			c.Params[pick(r, "k", "l")] = pick(r, "1", "1,l=2", "1}", `"1"`, "x y", "@", `\x40`, "4KiB", "a=b")
		}
		check(c.Label(), c)
	}
	if len(seen) < 1000 {
		t.Errorf("only %d labels: the test tests little", len(seen))
	}
}

func TestCases(t *testing.T) {
	use := StrategyUse{Name: "s", Params: map[string][]string{"b": {"1", "2"}, "a": {"x", "y"}, "c": {"z"}}}
	var got []string
	for _, c := range use.Cases() {
		got = append(got, c.Label())
	}
	want := []string{"s{a=x,b=1,c=z}", "s{a=x,b=2,c=z}", "s{a=y,b=1,c=z}", "s{a=y,b=2,c=z}"}
	if !reflect.DeepEqual(got, want) || use.count() != len(want) {
		t.Errorf("%v, count %d", got, use.count())
	}
	if got := (StrategyUse{Name: "s"}).Cases(); len(got) != 1 || got[0].Label() != "s" {
		t.Errorf("without params: %v", got)
	}
}
