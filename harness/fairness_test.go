package harness

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// perClient repeats each client's latencies, round robin.
func perClient(n int, ns ...int64) (clients []uint32, all []int64) {
	for range n {
		for c, v := range ns {
			if v >= 0 {
				clients, all = append(clients, uint32(c)), append(all, v)
			}
		}
	}
	return clients, all
}

func TestLatencySpread(t *testing.T) {
	for _, c := range []struct {
		name    string
		n       int
		ns      []int64
		want    float64
		reasons string
	}{
		{"alike", 20, []int64{7, 7, 7, 7}, 1, ""},
		{"one starved", 20, []int64{10, 10, 10, 10, 10, 10, 10, 200}, 20, ""},
		{"one of forty starved", 20, append(slices.Repeat([]int64{10}, 39), 900), 1, ""},
		{"three of forty starved", 20, append(slices.Repeat([]int64{10}, 37), 900, 900, 900), 90, ""},
		{"idle clients do not count", 20, []int64{10, -1, 30, -1, -1}, 3, ""},
		{"too few", 19, []int64{10, 10}, 0, "client 0 has 19 messages in a window"},
		{"one speaks", 20, []int64{10, -1}, 0, "no two clients"},
		{"nobody", 20, []int64{-1, -1}, 0, "no two clients"},
		{"no time at all", 20, []int64{0, 0}, 0, ""},
	} {
		clients, ns := perClient(c.n, c.ns...)
		got, reason := latencySpread(len(c.ns), clients, ns)
		if math.Abs(got-c.want) > 1e-12 || c.reasons == "" != (reason == "") || !strings.Contains(reason, c.reasons) {
			t.Errorf("%s: %g, %q; want %g, %q", c.name, got, reason, c.want, c.reasons)
		}
	}
}

func uneven(clients int, quiet, share float64) record.Workload {
	w := workload()
	w.Clients, w.QuietShare, w.QuietTraffic = clients, quiet, share
	return w
}

func TestFairnessSplitsByClient(t *testing.T) {
	w := uneven(4, .5, .1)
	quiet := load.Quiet(w)
	clients, ns := perClient(25, 5, 1, 4, 2)
	f := newFairness(w, clients, ns)
	want := map[bool][]int64{}
	for i, c := range clients {
		want[quiet[c]] = append(want[quiet[c]], ns[i])
	}
	for _, l := range want {
		slices.Sort(l)
	}
	if !slices.Equal(f.quiet, want[true]) || !slices.Equal(f.busy, want[false]) || len(f.quiet) != 50 {
		t.Errorf("quiet %v, busy %v", f.quiet, f.busy)
	}
	w.QuietShare = 0
	if f := newFairness(w, clients, ns); f.quiet != nil || f.busy != nil {
		t.Errorf("even traffic has quiet clients: %+v", f)
	}
}

var fairnessMetrics = []string{"quiet_latency_p50", "quiet_latency_p99", "busy_latency_p50", "busy_latency_p99"}

// Trials of uneven traffic report both kinds of clients, those of even traffic say
// why not.
func TestFairnessMetrics(t *testing.T) {
	for _, c := range []struct {
		w    record.Workload
		told []string
		not  string
	}{
		{uneven(8, .5, .2), fairnessMetrics, ""},
		{uneven(8, .5, 0), fairnessMetrics[2:], "no message of the window goes to such a client"},
		{uneven(8, 0, 0), nil, "traffic is even"},
	} {
		tr := trialOf("reader", c.w, record.Timing, 8000)
		x := behave(t, context.Background(), "well", tr)
		rec := x.Record
		if rec.Status != record.OK {
			t.Fatal(rec.Error)
		}
		if want := load.NewSchedule(tr).Fingerprint(tr.Seed); rec.Fingerprint != want {
			t.Errorf("did %+v, want %+v", rec.Fingerprint, want)
		}
		for _, m := range fairnessMetrics {
			v, told := rec.Metrics[m]
			if want := slices.Contains(c.told, m); told != want || want && v.Float64() <= 0 {
				t.Errorf("%g of %g: %s is %g, told %t, want %t", c.w.QuietTraffic, c.w.QuietShare, m, v.Float64(), told, want)
			}
			if !told && !strings.Contains(rec.Unavailable[m], c.not) {
				t.Errorf("%s: %q, want %q", m, rec.Unavailable[m], c.not)
			}
		}
		if v, ok := rec.Metrics["client_latency_spread"]; !ok || v.Float64() < 1 {
			t.Errorf("spread %g, %q", v.Float64(), rec.Unavailable["client_latency_spread"])
		}
	}
}

// What a strategy says it was refused is told over the messages of the window.
func TestStarvedReceives(t *testing.T) {
	for _, c := range []struct {
		w         record.Workload
		all, most int64 // refusals of the window, and of its quiet clients
		reason    string
	}{
		{uneven(4, .5, .1), 40, 20, ""},
		{uneven(4, .5, 0), 40, 20, "no message of the window"},
		{uneven(4, 0, 0), 40, 0, "traffic is even"},
	} {
		tr := trialOf("refused", c.w, record.Verify, 200)
		tr.Warmup = 20
		rec := inProcess(t, tr, nil, refusedReader())
		if rec.Status != record.OK {
			t.Fatal(rec.Error)
		}
		if v := rec.Metrics["starved_receives"]; v.Num != c.all || v.Den != 200 {
			t.Errorf("starved %d of %d, want %d of 200", v.Num, v.Den, c.all)
		}
		v, told := rec.Metrics["quiet_starved_receives"]
		if told != (c.reason == "") || told && (v.Num != c.most || v.Den != 20) || !strings.Contains(rec.Unavailable["quiet_starved_receives"], c.reason) {
			t.Errorf("quiet starved %d of %d, %q; want %d, %q", v.Num, v.Den, rec.Unavailable["quiet_starved_receives"], c.most, c.reason)
		}
	}
}

// refusedReader claims ten refusals of each client in the warm-up and ten in the
// window.
func refusedReader() Strategy {
	s := reader
	s.Name = "refused"
	s.Open = func(b *Bench, p Values) (Receiver, error) {
		r, err := reader.Open(b, p)
		return claimant{r, b.Sink}, err
	}
	return s
}

type claimant struct {
	Receiver
	sink *Sink
}

func (c claimant) Receive(target uint64) error {
	if target > 1 { // the first call is for one message only
		for client := range c.sink.conns {
			for range 10 {
				c.sink.Refused(client)
			}
		}
	}
	return c.Receiver.Receive(target)
}
