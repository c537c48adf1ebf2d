package harness

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// postTrial is a trial of an adapter that posts.
func postTrial(purpose record.Purpose) record.Trial {
	return record.Trial{
		Schema: record.Schema, ID: "exec{command=a}/" + string(purpose), Strategy: Exec.Name, Purpose: purpose, Command: []string{"/a"},
		Messages: 10, Workload: record.Workload{Kind: KindPostRecv, Batch: 5, Bytes: 64}, DeadlineMS: 20_000, CPU: -1,
	}
}

// answerOf is a good answer to postTrial, with members replaced by others; nil
// leaves one out.
func answerOf(t testing.TB, tr record.Trial, members map[string]any) []byte {
	t.Helper()
	all := map[string]any{
		"schema": 1, "trial": tr.ID, "status": "ok",
		"fingerprint": map[string]any{"ops": 50, "bytes": 3200, "sum": "0"},
		"window":      map[string]any{"ns": 1000},
		"metrics":     map[string]any{"total_per_wr": map[string]any{"v": 2e-9}, "lane_copied_bytes": map[string]any{"num": 3, "den": 50}},
	}
	for k, v := range members {
		if all[k] = v; v == nil {
			delete(all, k)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return append(b, '\n')
}

type m = map[string]any

func value(v float64) m      { return m{"v": v} }
func counts(num, den int) m  { return m{"num": num, "den": den} }
func metric(n string, v m) m { return m{"metrics": m{n: v}} }

func TestAdapterRecordIsTaken(t *testing.T) {
	tr := postTrial(record.Timing)
	rec, err := AdapterRecord(tr, answerOf(t, tr, m{"notes": []string{"red \x1b[31m"}}), time.Second, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := rec.Metrics["total_per_wr"]; v.Float64() != 2e-9 {
		t.Errorf("metrics %v", rec.Metrics)
	}
	if _, there := rec.Metrics["lane_copied_bytes"]; there {
		t.Error("a figure of counting trials is kept in a timing trial")
	}
	if why := rec.Unavailable["build_per_wr"]; why != "the adapter does not report it" {
		t.Errorf("what is not reported is unavailable because %q", why)
	}
	if _, there := rec.Unavailable["lane_allocs"]; there {
		t.Error("a timing trial tells of what counting trials yield")
	}
	if rec.Notes[0] != "red  [31m" {
		t.Errorf("a note %q goes to the terminal", rec.Notes[0])
	}
	verify := postTrial(record.Verify)
	if _, err := AdapterRecord(verify, answerOf(t, verify, m{"fingerprint": m{"ops": 0, "bytes": 0, "sum": "0"}, "window": nil, "metrics": nil}), time.Second, nil); err != nil {
		t.Errorf("a verify trial: %v", err)
	}
	skip := answerOf(t, tr, m{"status": "skipped", "error": "no device", "remedy": "plug one in"})
	if rec, err := AdapterRecord(tr, skip, time.Second, nil); err != nil || rec.Status != record.Skipped || rec.Metrics != nil || rec.Remedy != "plug one in" {
		t.Errorf("a skip: %+v, %v", rec, err)
	}
}

// What an adapter says is not believed where it cannot be true, and the reason
// names what.
func TestAdapterRecordIsRefused(t *testing.T) {
	tr := postTrial(record.Timing)
	series := func(name, unit string, x, y []int64) m {
		return m{"series": []m{{"name": name, "unit": unit, "x": x, "y": y}}}
	}
	for says, members := range map[string]m{
		"record schema 7":                          {"schema": 7},
		`record of trial "another"`:                {"trial": "another"},
		`record status "fine"`:                     {"status": "fine"},
		"its error does not say why":               {"status": "failed", "error": " "},
		`unknown field "metric"`:                   {"metric": m{}},
		`metric "total_per_work" is not one of`:    metric("total_per_work", value(1)),
		`did it mean "total_per_wr"?`:              metric("total_per_rw", value(1)),
		`metric "latency_p50" is not one of kind`:  metric("latency_p50", value(1)),
		"metric total_per_wr is -1, below zero":    metric("total_per_wr", value(-1)),
		"metric lane_allocs is a count":            metric("lane_allocs", value(2)),
		"neither a count (den is 0) nor a float":   metric("lane_allocs", counts(2, 0)),
		"both a count and a float":                 metric("total_per_wr", m{"num": 1, "den": 1, "v": 1}),
		"its fingerprint is {ops 49, bytes 3200":   {"fingerprint": m{"ops": 49, "bytes": 3200, "sum": "0"}},
		"it has no window":                         {"window": nil},
		"window.syscalls is -1":                    {"window": m{"ns": 5, "syscalls": -1}},
		"its window.ns is 2h0m0s, but the program": {"window": m{"ns": int64(2 * time.Hour)}},
		"its setup_ns is 2h0m0s":                   {"setup_ns": int64(2 * time.Hour)},
		`metric "none" is not one of`:              {"unavailable": m{"none": "x"}},
		`series "pages" is not one of`:             series("pages", "page", nil, nil),
		`series heap_used_bytes is in "page"`:      series("heap_used_bytes", "page", nil, nil),
		"series heap_used_bytes goes back":         series("heap_used_bytes", "B", []int64{2, 1}, []int64{1, 1}),
		"20000 points, more than 16384":            series("heap_used_bytes", "B", make([]int64, 20_000), make([]int64, 20_000)),
		"2 x against 1 y":                          series("heap_used_bytes", "B", []int64{1, 2}, []int64{1}),
		`histogram "lag" is none`:                  {"histograms": m{"lag": "x"}},
		"histogram latency: not an HdrHistogram":   {"histograms": m{"latency": "HISTFAAAAA=="}},
		"histogram latency: 70000 bytes":           {"histograms": m{"latency": strings.Repeat("x", 70_000)}},
	} {
		if _, err := AdapterRecord(tr, answerOf(t, tr, members), time.Second, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v, want %q", members, err, says)
		}
	}
	good := string(answerOf(t, tr, nil))
	for says, answer := range map[string]string{
		"not the JSON expected":     "hello\n",
		"unexpected EOF":            good[:len(good)-9],
		"goes on behind the record": good + "{}\n",
		"1e999":                     strings.Replace(good, "2e-9", "1e999", 1),
		"invalid character 'N'":     strings.Replace(good, "2e-9", "NaN", 1),
		"longer than 1048576 bytes": `{"notes":["` + strings.Repeat("x", 1<<20) + `"]}`,
		"exceeded max depth":        `{"metrics":` + strings.Repeat("[", 20_000),
	} {
		if _, err := AdapterRecord(tr, []byte(answer), time.Second, nil); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%.60q: %v, want %q", answer, err, says)
		}
	}
}

func seenByShim() (*Posts, error) {
	return &Posts{
		Lane: AllocCounts{Allocs: 20, Reallocs: 40, Frees: 20, Bytes: 4800}, Provider: AllocCounts{Allocs: 10, Bytes: 100}, Syscalls: 30,
	}, nil
}

// The shim's counts need no word of the adapter, and overrule its own.
func TestAdapterCounts(t *testing.T) {
	tr := postTrial(record.Counting)
	rec, err := AdapterRecord(tr, answerOf(t, tr, nil), time.Second, seenByShim)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]record.Value{
		"lane_allocs": record.Count(20, 10), "lane_reallocs": record.Count(40, 10), "lane_frees": record.Count(20, 10), "lane_alloc_bytes": record.Count(4800, 10),
		"provider_allocs": record.Count(10, 10), "provider_alloc_bytes": record.Count(100, 10), "post_syscalls": record.Count(30, 10),
		"lane_copied_bytes": record.Count(3, 50), // its own: it named no memory to watch
	} {
		if rec.Metrics[name] != want {
			t.Errorf("%s is %+v, want %+v", name, rec.Metrics[name], want)
		}
	}
	same := answerOf(t, tr, metric("lane_allocs", counts(2, 1)))
	if rec, err := AdapterRecord(tr, same, time.Second, seenByShim); err != nil || rec.Metrics["lane_allocs"] != record.Count(20, 10) {
		t.Errorf("an adapter that counts the same: %v", err)
	}
	lie := answerOf(t, tr, metric("lane_allocs", counts(0, 10)))
	if _, err := AdapterRecord(tr, lie, time.Second, seenByShim); err == nil || !strings.Contains(err.Error(), "it reports lane_allocs as 0, the counting shim saw 2") {
		t.Errorf("a lie: %v", err)
	}
	none := func() (*Posts, error) { return nil, errors.New("no window was ended") }
	rec, err = AdapterRecord(tr, answerOf(t, tr, nil), time.Second, none)
	if err != nil || !strings.Contains(rec.Unavailable["lane_allocs"], "no window was ended") || rec.Metrics["lane_copied_bytes"].Num != 3 {
		t.Errorf("without a window: %+v, %v", rec, err)
	}
}

func TestAdapterCountsOfReceives(t *testing.T) {
	tr := trialOf(Exec.Name, workload(), record.Counting, 10)
	rec := record.Record{Metrics: map[string]record.Value{}, Unavailable: map[string]string{}}
	seen, _ := seenByShim()
	if err := addCounts(tr, &rec, seen); err != nil {
		t.Fatal(err)
	}
	if rec.Metrics["heap_allocs"] != record.Count(60, 10) || rec.Metrics["heap_alloc_bytes"] != record.Count(4800, 10) || len(rec.Metrics) != 2 {
		t.Errorf("metrics %v", rec.Metrics)
	}
}

// The work of every kind is laid down, but for what cannot be told beforehand.
func TestWorkOfTrials(t *testing.T) {
	for _, c := range []struct {
		kind    string
		purpose record.Purpose
		want    record.Fingerprint
		known   bool
	}{
		{record.KindReceive, record.Timing, record.Fingerprint{Ops: 12, Bytes: 12 * 100, Sum: 0}, true},
		{KindPostSend, record.Counting, record.Fingerprint{Ops: 50, Bytes: 3200}, true},
		{KindPayload, record.Verify, record.Fingerprint{}, true},
		{KindConnect, record.Timing, record.Fingerprint{Ops: 10, Bytes: 10 * 30}, true},
		{KindAging, record.Counting, record.Fingerprint{}, false},
	} {
		tr := postTrial(c.purpose)
		tr.Workload.Kind = c.kind
		if c.kind == KindConnect {
			tr.Workload.ConnectData, tr.Workload.AcceptData, tr.Workload.Batch = 10, 20, 0
		}
		if c.kind == record.KindReceive {
			tr.Workload.Clients, tr.Workload.Sizes, tr.Warmup = 1, record.Sizes{Kind: "fixed", Bytes: 100}, 2
			c.want.Sum = load.NewSchedule(tr).Fingerprint(tr.Seed).Sum
		}
		if got, known := workOf(tr); got != c.want || known != c.known {
			t.Errorf("%s, %s: %s, known %t", c.kind, c.purpose, workText(got), known)
		}
	}
}

func TestPlainText(t *testing.T) {
	long := strings.Repeat("ä", maxAdapterText+1)
	if got := plainText(long); len([]rune(got)) != maxAdapterText+1 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d runes are left", len([]rune(got)))
	}
	if got := plainText(" a\nb\x07c "); got != "a b c" {
		t.Errorf("%q", got)
	}
	if got := short(fmt.Sprint(long)); len([]rune(got)) != 61 {
		t.Errorf("%d runes are left", len([]rune(got)))
	}
}
