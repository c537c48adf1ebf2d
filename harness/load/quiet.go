package load

import (
	"math"
	"math/rand/v2"

	"github.com/zcbench/zcbench/harness/record"
)

// Quiet tells which clients of a workload are quiet, nil where traffic is even.
// They are spread evenly over the client numbers, so that order favours neither
// kind, and are the same for every seed. Client 0 never is quiet.
func Quiet(w record.Workload) []bool {
	n := QuietClients(w)
	if n == 0 {
		return nil
	}
	quiet := make([]bool, w.Clients)
	for c := range quiet {
		quiet[c] = (c+1)*n/w.Clients > c*n/w.Clients
	}
	return quiet
}

// QuietClients is how many clients are quiet: at least one, and not all. 0 where
// traffic is even.
func QuietClients(w record.Workload) int {
	if w.QuietShare == 0 || w.Clients < 2 {
		return 0
	}
	return min(max(int(math.Round(w.QuietShare*float64(w.Clients))), 1), w.Clients-1)
}

// quietMessages is how many of n messages go to quiet clients.
func quietMessages(w record.Workload, n int) int {
	if w.QuietTraffic == 0 || n == 0 {
		return 0
	}
	return min(max(int(math.Round(w.QuietTraffic*float64(n))), 1), n)
}

// quietWarmup is how many of n messages of a warm-up go to quiet clients: their
// share, but to each at least one if there are enough.
func quietWarmup(w record.Workload, n int) int {
	if w.QuietTraffic == 0 {
		return 0
	}
	quiet := QuietClients(w)
	if busy := w.Clients - quiet; quiet+busy > n {
		return quietMessages(w, n)
	}
	return max(quietMessages(w, n), quiet)
}

// withQuiet is how many messages a warm-up has whose busy clients get busy.
func withQuiet(w record.Workload, busy int) int {
	if w.QuietTraffic == 0 {
		return busy
	}
	n := max(int(float64(busy)/(1-w.QuietTraffic)), busy+QuietClients(w))
	for n-quietWarmup(w, n) < busy {
		n++
	}
	return n
}

// unevenSchedule draws the messages of both kinds of clients apart, so that a
// window holds the same sizes for each whatever the seed, and mixes them.
func unevenSchedule(t record.Trial, rng *rand.Rand) Schedule {
	w := t.Workload
	var busy, quiet []uint32
	for c, q := range Quiet(w) {
		if q {
			quiet = append(quiet, uint32(c))
		} else {
			busy = append(busy, uint32(c))
		}
	}
	s := Schedule{Warmup: t.Warmup}
	warm, window := quietWarmup(w, t.Warmup), quietMessages(w, t.Messages)
	s.mix(rng, w.Sizes, drawn{busy, t.Warmup - warm, balance}, drawn{quiet, warm, even})
	s.mix(rng, w.Sizes, drawn{busy, t.Messages - window, even}, drawn{quiet, window, even})
	return s
}

// drawn is n messages, shared out among clients.
type drawn struct {
	clients []uint32
	n       int
	share   func(sizes []uint32, clients int, rng *rand.Rand) []uint32
}

// mix appends the messages of several kinds of clients in random order.
func (s *Schedule) mix(rng *rand.Rand, sizes record.Sizes, parts ...drawn) {
	from := len(s.Size)
	for _, p := range parts {
		all := Stratified(sizes, p.n, rng)
		for i, c := range p.share(all, len(p.clients), rng) {
			s.Size = append(s.Size, all[i])
			s.Client = append(s.Client, p.clients[c])
		}
	}
	size, client := s.Size[from:], s.Client[from:]
	rng.Shuffle(len(size), func(i, j int) {
		size[i], size[j] = size[j], size[i]
		client[i], client[j] = client[j], client[i]
	})
}

// even shares messages out by number.
func even(sizes []uint32, clients int, rng *rand.Rand) []uint32 {
	out := make([]uint32, len(sizes))
	for i := range out {
		out[i] = uint32(i % clients)
	}
	rng.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}
