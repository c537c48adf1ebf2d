package load

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// someTrial is a trial over a workload; its warm-up is as a plan has it.
func someTrial(w record.Workload, messages int, seed uint64) record.Trial {
	return record.Trial{
		Workload: w, Seed: seed, Warmup: WarmupMessages(w), Messages: messages,
		Clock: record.Clock{Source: "monotonic", TicksHz: 1e9},
	}
}

func workload(s record.Sizes, clients int, budget int64) record.Workload {
	return record.Workload{Clients: clients, Sizes: s, BudgetBytes: budget, Load: record.Load{Mode: "open", RateHz: 20_000}}
}

func TestScheduleIsSeeded(t *testing.T) {
	w := workload(distributions()["lognormal"], 5, 256<<10)
	a, b := NewSchedule(someTrial(w, 1000, 7)), NewSchedule(someTrial(w, 1000, 7))
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed gives two schedules")
	}
	c := NewSchedule(someTrial(w, 1000, 8))
	if slices.Equal(a.Size, c.Size) || slices.Equal(a.Client, c.Client) || slices.Equal(a.At, c.At) {
		t.Error("another seed gives the same sizes, clients or times")
	}
	if a.Fingerprint(7) == c.Fingerprint(8) {
		t.Error("another seed has the same fingerprint")
	}
	for part, bounds := range map[string][2]int{"warm-up": {0, a.Warmup}, "window": {a.Warmup, len(a.Size)}} {
		x, y := slices.Clone(a.Size[bounds[0]:bounds[1]]), slices.Clone(c.Size[bounds[0]:bounds[1]])
		slices.Sort(x)
		slices.Sort(y)
		if !slices.Equal(x, y) {
			t.Errorf("two seeds differ in the sizes of the %s", part)
		}
	}
	if want := (Schedule{Size: a.Size, Client: a.Client, Warmup: a.Warmup}); !reflect.DeepEqual(closedOf(w), want) {
		t.Error("the load changes sizes or clients")
	}
}

// closedOf is the schedule of seed 7 under another load.
func closedOf(w record.Workload) Schedule {
	w.Load = record.Load{Mode: "closed", Depth: 2}
	return NewSchedule(someTrial(w, 1000, 7))
}

func TestFingerprintAddsUp(t *testing.T) {
	tr := someTrial(workload(distributions()["uniform"], 3, 4096), 100, 9)
	s := NewSchedule(tr)
	got := s.Fingerprint(tr.Seed)
	var bytes int64
	sums := map[uint64]bool{}
	for i, n := range s.Size {
		bytes += int64(n)
		for _, other := range []Schedule{without(s, i), changed(s, i)} {
			sums[other.Fingerprint(tr.Seed).Sum] = true
		}
	}
	if got.Ops != int64(len(s.Size)) || got.Bytes != bytes {
		t.Errorf("%+v, want %d messages of %d bytes", got, len(s.Size), bytes)
	}
	if sums[got.Sum] || len(sums) < len(s.Size) {
		t.Errorf("a message left out or sent to another client leaves the sum: %d sums", len(sums))
	}
}

func without(s Schedule, i int) Schedule {
	return Schedule{Size: slices.Delete(slices.Clone(s.Size), i, i+1), Client: slices.Delete(slices.Clone(s.Client), i, i+1)}
}

func changed(s Schedule, i int) Schedule {
	c := slices.Clone(s.Client)
	c[i] = (c[i] + 1) % 3
	return Schedule{Size: s.Size, Client: c}
}

// Whatever the sizes, every client consumes at least twice its budget before
// the window, all of them the same to within one message.
func TestWarmupIsBalanced(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, s := range distributions() {
		for range 12 {
			clients := 1 + rng.IntN(70)
			budget := max(Largest(s), 1<<(10+rng.IntN(10)))
			w := workload(s, clients, budget)
			tr := someTrial(w, 1+rng.IntN(200), rng.Uint64())
			if tr.Warmup > 2_000_000 {
				continue
			}
			sched := NewSchedule(tr)
			got := make([]int64, clients)
			for i := range tr.Warmup {
				got[sched.Client[i]] += int64(sched.Size[i])
			}
			least, most := slices.Min(got), slices.Max(got)
			if most-least > Largest(s) {
				t.Errorf("%s, %d clients of %d bytes: from %d to %d, more than a message of %d apart", name, clients, budget, least, most, Largest(s))
			}
			if least < 2*budget {
				t.Errorf("%s, %d clients of %d bytes: one consumes only %d", name, clients, budget, least)
			}
			if need := 2*budget + 2*Largest(s); float64(least) > 1.2*float64(need) {
				t.Errorf("%s, %d clients of %d bytes: each consumes %d, far more than twice the budget", name, clients, budget, least)
			}
			windowIsEven(t, sched, clients)
		}
	}
}

// windowIsEven checks that the clients get the same number of messages.
func windowIsEven(t *testing.T, s Schedule, clients int) {
	t.Helper()
	got := make([]int, clients)
	for _, c := range s.Client[s.Warmup:] {
		got[c]++
	}
	if slices.Max(got)-slices.Min(got) > 1 {
		t.Errorf("messages of the window by client: %v", got)
	}
}

func TestArrivals(t *testing.T) {
	for _, n := range []int{1, 2, 100, 20_000} {
		for _, gap := range []float64{1.7, 50_000, 1e9} {
			at := arrivals(n, gap, rand.New(rand.NewPCG(3, uint64(n))))
			if !slices.IsSorted(at) || len(at) != n {
				t.Fatalf("%d arrivals do not rise", n)
			}
			if want := gap * float64(n); math.Abs(float64(at[n-1])-want) > 1+1e-9*want {
				t.Errorf("the last of %d arrivals is at %d, want %g: the rate is off", n, at[n-1], want)
			}
			if n < 20_000 || gap < 1000 {
				continue
			}
			// Gaps of a Poisson process are as wide as they vary.
			var sum, squares float64
			for i := 1; i < n; i++ {
				d := float64(at[i] - at[i-1])
				sum, squares = sum+d, squares+d*d
			}
			mean := sum / float64(n-1)
			if cv := math.Sqrt(squares/float64(n-1)-mean*mean) / mean; cv < .97 || cv > 1.03 {
				t.Errorf("gaps vary by %g of their mean, want 1", cv)
			}
		}
	}
}

func TestArrivalsOnlyOfOpenLoads(t *testing.T) {
	w := workload(distributions()["fixed"], 2, 8192)
	for mode, want := range map[string]bool{"open": true, "closed": false, Lockstep: false} {
		w.Load.Mode = mode
		if s := NewSchedule(someTrial(w, 10, 1)); (s.At != nil) != want || want && len(s.At) != len(s.Size) {
			t.Errorf("%s: %d times for %d messages", mode, len(s.At), len(s.Size))
		}
	}
	w.Load = record.Load{Mode: "open", Fraction: .5}
	if s := NewSchedule(someTrial(w, 10, 1)); s.At != nil {
		t.Error("an open load of unknown rate has times")
	}
}
