package load

import (
	"math"
	"math/rand/v2"

	"github.com/zcbench/zcbench/harness/record"
)

// Schedule is the traffic of one trial: message i has Size[i] bytes, goes to
// client Client[i], and is due At[i] clock ticks after the start (open loop
// only). The first Warmup messages come before the window.
type Schedule struct {
	Size   []uint32
	Client []uint32
	At     []uint64
	Warmup int
}

// WarmupMessages returns how many messages make every client consume at least
// twice its budget, so that a pool which is cycled through has been touched
// whole before anything is measured. Of quiet clients that cannot be asked: they
// get their share of the messages, at least one each if they get any.
func WarmupMessages(w record.Workload) int {
	need := float64(w.Clients-QuietClients(w)) * (2*float64(w.BudgetBytes) + float64(Largest(w.Sizes)))
	const probe = 4096 // strata enough to see a tail of one in some thousands
	n := int(math.Ceil(need / Mean(w.Sizes, probe)))
	for float64(n)*Mean(w.Sizes, min(n, 1<<20)) < need {
		n += n/50 + 1
	}
	return withQuiet(w, n)
}

// NewSchedule builds the traffic of a trial from its seed alone, so the same
// for every strategy.
func NewSchedule(t record.Trial) Schedule {
	rng := rand.New(rand.NewPCG(t.Seed, 0x5c4ed01e))
	w := t.Workload
	var s Schedule
	if QuietClients(w) > 0 {
		s = unevenSchedule(t, rng)
	} else {
		s = evenSchedule(t, rng)
	}
	if w.Load.Mode == "open" && w.Load.RateHz > 0 { // a receiver need not know the rate
		s.At = arrivals(len(s.Size), t.Clock.TicksHz/w.Load.RateHz, rng)
	}
	return s
}

func evenSchedule(t record.Trial, rng *rand.Rand) Schedule {
	w := t.Workload
	s := Schedule{Warmup: t.Warmup}
	warm := Stratified(w.Sizes, t.Warmup, rng)
	s.Client = append(s.Client, balance(warm, w.Clients, rng)...)
	s.Size = append(warm, Stratified(w.Sizes, t.Messages, rng)...)
	s.Client = append(s.Client, even(s.Size[t.Warmup:], w.Clients, rng)...)
	return s
}

// balance gives each message to the client with the fewest bytes so far,
// starting from a random one, so that the clients end within one message of
// each other.
func balance(sizes []uint32, clients int, rng *rand.Rand) []uint32 {
	out := make([]uint32, len(sizes))
	heap := make([]clientLoad, clients)
	for i, c := range rng.Perm(clients) {
		heap[i].client = uint32(c)
	}
	for i, size := range sizes {
		out[i] = heap[0].client
		heap[0].bytes += uint64(size)
		sink(heap)
	}
	return out
}

type clientLoad struct {
	bytes  uint64
	client uint32
}

// sink restores the heap order after the root grew.
func sink(h []clientLoad) {
	for i := 0; ; {
		least := i
		for _, c := range [2]int{2*i + 1, 2*i + 2} {
			if c < len(h) && h[c].bytes < h[least].bytes {
				least = c
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// arrivals returns n Poisson arrival times with a mean gap in ticks, scaled so
// that the last falls where the offered rate says.
func arrivals(n int, gap float64, rng *rand.Rand) []uint64 {
	at := make([]float64, n)
	var sum float64
	for i := range at {
		sum += rng.ExpFloat64()
		at[i] = sum
	}
	out := make([]uint64, n)
	for i := range at {
		out[i] = uint64(at[i] / sum * gap * float64(n))
	}
	return out
}

// Fingerprint returns the work a receiver of this schedule must report.
func (s Schedule) Fingerprint(seed uint64) record.Fingerprint {
	var f record.Fingerprint
	for i, size := range s.Size {
		f.Ops++
		f.Bytes += int64(size)
		f.Sum += Work(Check(seed, s.Client[i], uint32(i), size), size)
	}
	return f
}

// Work is what one message adds to the fingerprint's sum.
func Work(check, length uint32) uint64 { return uint64(check)*golden + uint64(length) }
