package harness

import (
	"fmt"
	"math/big"

	"github.com/zcbench/zcbench/harness/record"
)

// shimMetrics are the metrics that follow from what the counting shim saw of an
// adapter; the first ones hold without any help of the program, the copies only
// if it named the memory to watch.
func shimMetrics(kind string) (always, watched []string) {
	if kind == record.KindReceive {
		return []string{heapAllocs, heapAllocBytes}, nil
	}
	return []string{"lane_allocs", "lane_reallocs", "lane_frees", "lane_alloc_bytes", "provider_allocs", "provider_alloc_bytes", "post_syscalls"},
		[]string{"lane_copied_bytes", "provider_copied_bytes"}
}

// addCounts adds the shim's counts to the record of an adapter.
func addCounts(t record.Trial, rec *record.Record, seen *Posts) error {
	p := *seen
	p.Counted, p.Calls, p.WRs = true, int64(t.Messages), int64(t.Messages)*int64(max(t.Workload.Batch, 1))
	names, watched := shimMetrics(t.Workload.Kind)
	if p.LaneCopied+p.ProviderCopied > 0 {
		names = append(names, watched...)
	}
	for _, name := range names {
		v := shimValue(name, t, &p)
		if own, ok := rec.Metrics[name]; ok && !equal(own, v) {
			return fmt.Errorf("it reports %s as %g, the counting shim saw %g in its window", name, own.Float64(), v.Float64())
		}
		rec.Metrics[name] = v
		delete(rec.Unavailable, name)
	}
	return nil
}

// shimValue is a metric as the counts of a window have it.
func shimValue(name string, t record.Trial, p *Posts) record.Value {
	switch name {
	case heapAllocs:
		return record.Count(p.Lane.Allocs+p.Lane.Reallocs, int64(t.Messages))
	case heapAllocBytes:
		return record.Count(p.Lane.Bytes, int64(t.Messages))
	}
	for _, r := range postTable {
		if r.Name == name {
			v, _ := r.from(&Outcome{Trial: t, Posts: p})
			return v
		}
	}
	return record.Value{}
}

// equal compares two counts as ratios.
func equal(a, b record.Value) bool {
	if a.IsCount() && b.IsCount() {
		return big.NewRat(a.Num, a.Den).Cmp(big.NewRat(b.Num, b.Den)) == 0
	}
	return a.Float64() == b.Float64()
}
