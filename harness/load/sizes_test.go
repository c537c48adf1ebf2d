package load

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// distributions is one of each kind, with and without bounds. The two tables
// are published message size distributions.
func distributions() map[string]record.Sizes {
	return map[string]record.Sizes{
		"fixed":            {Kind: "fixed", Bytes: 4096},
		"fixed-header":     {Kind: "fixed", Bytes: HeaderBytes},
		"uniform":          {Kind: "uniform", Min: 100, Max: 1123},
		"uniform-two":      {Kind: "uniform", Min: 24, Max: 25},
		"lognormal":        {Kind: "lognormal", Median: 2048, Sigma: 1.6, Max: 64 << 10},
		"lognormal-min":    {Kind: "lognormal", Median: 300, Sigma: 2, Min: 200, Max: 1 << 20},
		"bimodal":          {Kind: "bimodal", Small: 64, Large: 65536, Share: .1},
		"bimodal-rare":     {Kind: "bimodal", Small: 64, Large: 65536, Share: .01},
		"bimodal-frequent": {Kind: "bimodal", Small: 64, Large: 65536, Share: .8},
		"hadoop": {Kind: "cdf", Max: 1 << 20, Points: []record.SizePoint{
			{Bytes: 92, Cum: .0074}, {Bytes: 271, Cum: .0409}, {Bytes: 326, Cum: .1375}, {Bytes: 425, Cum: .223}, {Bytes: 600, Cum: .4591},
			{Bytes: 737, Cum: .552}, {Bytes: 1277, Cum: .6282}, {Bytes: 5210, Cum: .6933}, {Bytes: 31946, Cum: .7212}, {Bytes: 51046, Cum: .816},
			{Bytes: 102058, Cum: .8885}, {Bytes: 240177, Cum: .9442}, {Bytes: 470507, Cum: .9628}, {Bytes: 1769244, Cum: .9814}, {Bytes: 10000000, Cum: 1}}},
		"rpc": {Kind: "cdf", Max: 64 << 10, Points: []record.SizePoint{
			{Bytes: 2, Cum: .2767}, {Bytes: 3, Cum: .4612}, {Bytes: 7, Cum: .6456}, {Bytes: 32, Cum: .7379}, {Bytes: 64, Cum: .7974},
			{Bytes: 128, Cum: .8271}, {Bytes: 256, Cum: .8569}, {Bytes: 512, Cum: .9387}, {Bytes: 1024, Cum: .961}, {Bytes: 4096, Cum: .9814},
			{Bytes: 16384, Cum: .9956}, {Bytes: 65536, Cum: .9981}, {Bytes: 262144, Cum: .99955}, {Bytes: 1005228, Cum: .99992}, {Bytes: 12158197, Cum: 1}}},
		"cdf-one": {Kind: "cdf", Points: []record.SizePoint{{Bytes: 500, Cum: 1}}},
	}
}

// population is the sizes of n messages in exactly the shares a discrete
// distribution states, sorted; n must make whole numbers of them.
func population(s record.Sizes, n int) []int64 {
	var out []int64
	switch s.Kind {
	case "fixed":
		for range n {
			out = append(out, s.Bytes)
		}
	case "uniform":
		each := n / int(s.Max-s.Min+1)
		for v := s.Min; v <= s.Max; v++ {
			for range each {
				out = append(out, v)
			}
		}
	case "bimodal":
		large := int(math.Round(s.Share * float64(n)))
		for i := range n {
			v := s.Small
			if i >= n-large {
				v = s.Large
			}
			out = append(out, v)
		}
	case "cdf":
		for _, p := range s.Points {
			for len(out) < int(math.Round(p.Cum*float64(n))) {
				out = append(out, p.Bytes)
			}
		}
	}
	for i, v := range out {
		if s.Max > 0 {
			v = min(v, s.Max)
		}
		out[i] = max(v, s.Min, HeaderBytes)
	}
	return out
}

func TestQuantileAgainstPopulation(t *testing.T) {
	for name, s := range distributions() {
		if s.Kind == "lognormal" {
			continue
		}
		n := 100_000
		if s.Kind == "uniform" {
			n = int(s.Max-s.Min+1) * 100
		}
		all := population(s, n)
		if len(all) != n {
			t.Fatalf("%s: a population of %d, want %d", name, len(all), n)
		}
		for i, want := range all {
			// The middle of a message's share is beyond any doubt of rounding.
			if got := Quantile(s, (float64(i)+.5)/float64(n)); got != want {
				t.Fatalf("%s: quantile of message %d of %d is %d, want %d", name, i, n, got, want)
			}
		}
		if got := Largest(s); got != all[n-1] {
			t.Errorf("%s: largest %d, want %d", name, got, all[n-1])
		}
	}
}

// The quantile of a lognormal is checked by its distribution function, which is
// another function of the library.
func TestQuantileOfLognormal(t *testing.T) {
	for name, s := range distributions() {
		if s.Kind != "lognormal" {
			continue
		}
		below := func(v float64) float64 {
			return math.Erfc(-(math.Log(v)-math.Log(float64(s.Median)))/(s.Sigma*math.Sqrt2)) / 2
		}
		for i := range 9999 {
			u := float64(i+1) / 10000
			got := Quantile(s, u)
			low, high := max(s.Min, HeaderBytes), s.Max
			if got < low || got > high {
				t.Fatalf("%s: quantile %g is %d, out of %d to %d", name, u, got, low, high)
			}
			if got > low && below(float64(got)-.51) > u || got < high && below(float64(got)+.51) < u {
				t.Errorf("%s: quantile %g is %d, below which lie %g", name, u, got, below(float64(got)))
			}
		}
		if got := Quantile(s, .5); got != s.Median {
			t.Errorf("%s: the median is %d, want %d", name, got, s.Median)
		}
	}
}

func TestQuantileRises(t *testing.T) {
	for name, s := range distributions() {
		last := Quantile(s, math.SmallestNonzeroFloat64)
		for i := range 2000 {
			v := Quantile(s, (float64(i)+.5)/2000)
			if v < last {
				t.Fatalf("%s: %d after %d", name, v, last)
			}
			last = v
		}
		if Largest(s) < last {
			t.Errorf("%s: largest %d is below %d", name, Largest(s), last)
		}
	}
}

func TestStratifiedIsTheSameForAnySeed(t *testing.T) {
	for name, s := range distributions() {
		for _, n := range []int{1, 2, 7, 100, 4001} {
			var want []uint32
			var sum float64
			for i := range n {
				want = append(want, uint32(Quantile(s, (float64(i)+.5)/float64(n))))
				sum += float64(want[i])
			}
			orders := map[uint32]bool{}
			for seed := range uint64(5) {
				got := Stratified(s, n, rand.New(rand.NewPCG(seed, 1)))
				var mark uint32
				for i, v := range got {
					mark = mark*31 + v*uint32(i+1)
				}
				orders[mark] = true
				slices.Sort(got)
				if !slices.Equal(got, want) {
					t.Fatalf("%s: %d messages of seed %d are not one of each stratum", name, n, seed)
				}
			}
			if n > 100 && Largest(s) != Quantile(s, .001) && len(orders) < 5 {
				t.Errorf("%s: five seeds give %d orders", name, len(orders))
			}
			if got := Mean(s, n); math.Abs(got-sum/float64(n)) > 1e-9*got {
				t.Errorf("%s: mean of %d is %g, want %g", name, n, got, sum/float64(n))
			}
		}
	}
}

func TestBands(t *testing.T) {
	for name, want := range map[string][2]int64{
		"fixed":            {4096, 4096},
		"uniform":          {100 + 1024/3, 100 + 921},
		"uniform-two":      {24, 24},
		"bimodal":          {64, 65535},
		"bimodal-rare":     {64, 64},
		"bimodal-frequent": {65535, 65535},
		"hadoop":           {600, 240177},
		"cdf-one":          {500, 500},
	} {
		s := distributions()[name]
		small, medium := Bands(s)
		if [2]int64{small, medium} != want {
			t.Errorf("%s: bands end at %d and %d, want %v", name, small, medium, want)
		}
		if alike := Largest(s) == Quantile(s, 1e-9); alike != (small == Largest(s)) {
			t.Errorf("%s: small ends at %d, the largest is %d", name, small, Largest(s))
		}
		if medium >= Largest(s) && small < Largest(s) {
			t.Errorf("%s: no message is large", name)
		}
	}
}
