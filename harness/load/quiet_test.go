package load

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

func unevenLoad(clients int, quiet, share float64) record.Workload {
	w := workload(distributions()["lognormal"], clients, 128<<10)
	w.QuietShare, w.QuietTraffic = quiet, share
	return w
}

func TestQuietClientsAreSpreadAndFixed(t *testing.T) {
	for _, c := range []struct {
		clients int
		share   float64
		want    int
	}{
		{4, .75, 3}, {16, .75, 12}, {10_000, .99, 9900}, {2, .5, 1}, {2, .99, 1}, {3, .01, 1}, {2048, .5, 1024}, {7, .5, 4}, {1, .5, 0}, {8, 0, 0},
	} {
		w := record.Workload{Clients: c.clients, QuietShare: c.share}
		quiet := Quiet(w)
		n := 0
		for i, q := range quiet {
			if q {
				n++
			}
			// As many as there should be among the first i+1, to within one.
			if want := float64(i+1) * float64(c.want) / float64(c.clients); float64(n) > want+1 || float64(n) < want-1 {
				t.Fatalf("%d of %d: %d of the first %d are quiet", c.want, c.clients, n, i+1)
			}
		}
		if n != c.want || QuietClients(w) != c.want || (quiet == nil) != (c.want == 0) || quiet != nil && quiet[0] {
			t.Errorf("%g of %d clients: %d quiet, want %d, the first not: %v", c.share, c.clients, n, c.want, quiet)
		}
	}
}

// parts counts messages and bytes by client in a part of a schedule.
func parts(s Schedule, clients, lo, hi int) (messages []int, bytes []int64) {
	messages, bytes = make([]int, clients), make([]int64, clients)
	for i := lo; i < hi; i++ {
		messages[s.Client[i]]++
		bytes[s.Client[i]] += int64(s.Size[i])
	}
	return messages, bytes
}

// The quiet clients get their share of the messages and no more, each alike; the
// busy ones the rest, and twice their budget before the window.
func TestUnevenTraffic(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, c := range []struct {
		clients      int
		quiet, share float64
	}{{4, .75, .02}, {16, .75, 0}, {100, .99, 0}, {100, .99, .1}, {2, .5, .49}, {64, .5, .001}, {1000, .9, .02}} {
		w := unevenLoad(c.clients, c.quiet, c.share)
		tr := someTrial(w, 4000, rng.Uint64())
		s := NewSchedule(tr)
		name := fmt.Sprintf("%d clients, %g of them get %g", c.clients, c.quiet, c.share)
		if len(s.Size) != tr.Warmup+tr.Messages || len(s.Client) != len(s.Size) {
			t.Fatalf("%s: %d messages to %d clients, want %d", name, len(s.Size), len(s.Client), tr.Warmup+tr.Messages)
		}
		_, warm := parts(s, c.clients, 0, tr.Warmup)
		window, _ := parts(s, c.clients, tr.Warmup, len(s.Size))
		var toQuiet int
		counts := map[bool][]int{}
		for i, q := range Quiet(w) {
			counts[q] = append(counts[q], window[i])
			if q {
				toQuiet += window[i]
			}
			switch {
			case !q && warm[i] < 2*w.BudgetBytes:
				t.Errorf("%s: busy client %d consumes %d bytes before the window", name, i, warm[i])
			case q && (warm[i] > 0) != (c.share > 0):
				t.Errorf("%s: quiet client %d consumes %d bytes before the window", name, i, warm[i])
			}
		}
		if want := int(c.share*4000 + .5); toQuiet != want {
			t.Errorf("%s: the quiet get %d messages of the window, want %d", name, toQuiet, want)
		}
		for _, n := range counts {
			if slices.Max(n)-slices.Min(n) > 1 {
				t.Errorf("%s: clients of a kind get from %d to %d messages", name, slices.Min(n), slices.Max(n))
			}
		}
	}
}

// Seeds decide the order, not how much goes to whom.
func TestUnevenTrafficIsSeeded(t *testing.T) {
	w := unevenLoad(16, .75, .05)
	a, b, c := NewSchedule(someTrial(w, 2000, 7)), NewSchedule(someTrial(w, 2000, 7)), NewSchedule(someTrial(w, 2000, 8))
	if !reflect.DeepEqual(a, b) || slices.Equal(a.Client, c.Client) || a.Fingerprint(7) == c.Fingerprint(8) {
		t.Error("one seed gives two schedules, or two seeds one")
	}
	quiet := Quiet(w)
	for _, kind := range []bool{false, true} {
		of := func(s Schedule) (sizes []uint32) {
			for i := s.Warmup; i < len(s.Size); i++ {
				if quiet[s.Client[i]] == kind {
					sizes = append(sizes, s.Size[i])
				}
			}
			slices.Sort(sizes)
			return sizes
		}
		if x, y := of(a), of(c); !slices.Equal(x, y) || len(x) == 0 {
			t.Errorf("two seeds send other sizes to clients of one kind (quiet: %t)", kind)
		}
	}
	// The quiet ones' messages are all over the window.
	var at []int
	for i := a.Warmup; i < len(a.Size); i++ {
		if quiet[a.Client[i]] {
			at = append(at, i-a.Warmup)
		}
	}
	if at[0] > 400 || at[len(at)-1] < 1600 || len(at) != 100 {
		t.Errorf("%d messages of quiet clients, from %d to %d of 2000", len(at), at[0], at[len(at)-1])
	}
}

// In a closed loop a quiet client's message comes at its place in the schedule,
// not as soon as there is room for it.
func TestClosedLoopPacesQuietClients(t *testing.T) {
	w := record.Workload{Clients: 4, Sizes: record.Sizes{Kind: "fixed", Bytes: 100}, BudgetBytes: 200, Load: record.Load{Mode: "closed", Depth: 1}, QuietShare: .5, QuietTraffic: .1}
	tr := someTrial(w, 200, 3)
	wr := generate(t, tr).connect()
	quiet := Quiet(w)
	acked := make([]uint64, 4)
	sent := 0
	wr.prog.Phase().Store(1)
	total := len(wr.sched.Size)
	for got := 0; got < total; {
		progress := false
		for c := range 4 {
			h, ok := wr.poll(c)
			if !ok {
				continue
			}
			progress = true
			got++
			// Depth 1: at most one message of each of the others is behind its turn.
			if place := int(h.Seq); quiet[c] && place > got+4 {
				t.Fatalf("message %d of quiet client %d is number %d to come", place, c, got)
			}
			acked[c]++
			wr.prog.Client(c).Store(acked[c])
		}
		if sent++; !progress && sent > 1<<20 {
			t.Fatal("nothing comes")
		}
	}
	wr.hangUp()
	if _, err := wr.finish(); err != nil {
		t.Fatal(err)
	}
}
