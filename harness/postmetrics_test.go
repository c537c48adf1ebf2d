package harness

import (
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness/record"
)

// somePosts is a window of 10 posts of 5 work requests in which every figure is
// another: 4 posts timed in parts, 6 as a whole.
func somePosts() *Posts {
	p := &Posts{
		Calls: 10, WRs: 50, BuildNS: 400, PostNS: 800, DropNS: 1200, Parts: 4, TotalNS: 9000, Whole: 6, FirstNS: 7000, BlockedNS: 11,
		ElapsedNS: 1e6, Sent: 100, SentNS: 2e6, Counted: true,
		Lane: AllocCounts{Allocs: 20, Reallocs: 30, Frees: 40, Bytes: 500}, Provider: AllocCounts{Allocs: 1, Reallocs: 2, Frees: 3, Bytes: 60},
		LaneCopied: 250, ProviderCopied: 350, Syscalls: 70, HeapHeld: 4096, HeapUsed: 1000, Pinned: 8192, GoAllocs: 80, GoAllocBytes: 90, MinorFaults: 5,
	}
	for i := range int64(2000) {
		p.CompletionNS = append(p.CompletionNS, i+1)
	}
	return p
}

var expectedPosts = map[string]record.Value{
	"build_per_call": record.Level(100e-9), "post_per_call": record.Level(200e-9), "drop_per_call": record.Level(300e-9),
	"build_per_wr": record.Level(20e-9), "post_per_wr": record.Level(40e-9), "drop_per_wr": record.Level(60e-9),
	"total_per_call": record.Level(1500e-9), "total_per_wr": record.Level(300e-9), "first_call": record.Level(7e-6),
	"source_blocked": record.Level(11e-9), "wrs_per_s": record.Level(50000), "completion_p50": record.Level(1000e-9), "completion_p99": record.Level(1980e-9),
	"lane_allocs": record.Count(20, 10), "lane_reallocs": record.Count(30, 10), "lane_frees": record.Count(40, 10), "lane_alloc_bytes": record.Count(500, 10),
	"provider_allocs": record.Count(3, 10), "provider_alloc_bytes": record.Count(60, 10),
	"lane_copied_bytes": record.Count(250, 50), "provider_copied_bytes": record.Count(350, 50), "post_syscalls": record.Count(70, 10),
	"go_post_allocs": record.Count(80, 10), "go_post_alloc_bytes": record.Count(90, 10), "post_minor_faults": record.Count(5, 10),
	"heap_held_bytes": record.Count(4096, 1), "heap_used_bytes": record.Count(1000, 1), "pinned_post_bytes": record.Count(8192, 1),
}

func TestPostMetricValues(t *testing.T) {
	for _, purpose := range []record.Purpose{record.Timing, record.Counting, record.Verify} {
		var rec record.Record
		fill(&rec, &Outcome{Trial: record.Trial{Purpose: purpose}, Posts: somePosts()})
		for _, r := range postTable {
			got, there := rec.Metrics[r.Name]
			if want := r.Purpose == purpose; there != want {
				t.Errorf("%s trials: %s has a value: %t, want %t", purpose, r.Name, there, want)
			}
			want, known := expectedPosts[r.Name]
			if !known {
				t.Errorf("metric %s: say here what it should be", r.Name)
			} else if there && !same(got, want) {
				t.Errorf("%s is %s, want %s", r.Name, show(got), show(want))
			}
		}
		for name := range rec.Metrics {
			if _, ok := expectedPosts[name]; !ok {
				t.Errorf("%s trials of posts give %s", purpose, name)
			}
		}
	}
}

func TestPostsThatCannotTellSayWhy(t *testing.T) {
	for _, purpose := range []record.Purpose{record.Timing, record.Counting} {
		var rec record.Record
		fill(&rec, &Outcome{Trial: record.Trial{Purpose: purpose}, Posts: &Posts{Calls: 1, WRs: 1, BlockedNS: -1}})
		for name, reason := range rec.Unavailable {
			if reason == "" {
				t.Errorf("%s is unavailable without a reason", name)
			}
		}
		want := map[record.Purpose]string{record.Timing: "source_blocked", record.Counting: "lane_allocs"}[purpose]
		if reason := rec.Unavailable[want]; !strings.Contains(reason, map[string]string{"source_blocked": "completion", "lane_allocs": "shim"}[want]) {
			t.Errorf("%s is unavailable: %q", want, reason)
		}
	}
}
