package harness

import "github.com/zcbench/zcbench/harness/record"

// postTable are the metrics of the kinds that post work requests.
var postTable = []row{
	postTimed("build_per_wr", record.PerWR, "time to build the work requests, before the provider is called; median over the posts of a window", perWR(func(p *Posts) float64 { return p.BuildNS })),
	postTimed("post_per_wr", record.PerWR, "time in the provider's post; median over the posts of a window", perWR(func(p *Posts) float64 { return p.PostNS })),
	postTimed("drop_per_wr", record.PerWR, "time to let go of the arrays after the post", perWR(func(p *Posts) float64 { return p.DropNS })),
	postTimed("total_per_wr", record.PerWR, "time of building, posting and letting go, with no reading of the clock inside", wholeBy(func(p *Posts) float64 { return wrsPerCall(p) })),
	postTimed("total_per_call", record.PerCall, "the same, for a whole post", wholeBy(func(*Posts) float64 { return 1 })),
	postTimed("build_per_call", record.PerCall, "time to build the work requests of a post", perPart(func(p *Posts) float64 { return p.BuildNS })),
	postTimed("post_per_call", record.PerCall, "time in the provider's post, for a whole post", perPart(func(p *Posts) float64 { return p.PostNS })),
	postTimed("drop_per_call", record.PerCall, "time to let go of the arrays of a post", perPart(func(p *Posts) float64 { return p.DropNS })),
	postTimed("first_call", record.PerCall, "time of the first post of a process", func(p *Posts) (record.Value, string) {
		if p.FirstNS <= 0 {
			return record.Value{}, "the first post was not timed"
		}
		return record.Level(p.FirstNS / 1e9), ""
	}),
	postTimed("source_blocked", record.PerWR, "how long the payload's buffer may not be reused", func(p *Posts) (record.Value, string) {
		if p.BlockedNS < 0 {
			return record.Value{}, "the post ends before the device has read the buffer, and no completion was waited for"
		}
		return record.Level(p.BlockedNS / 1e9), ""
	}),
	postTimed("completion_p50", "", "start of a post to its last completion, median", completion(.5)),
	postTimed("completion_p99", "", "start of a post to its last completion, 99 percentile", completion(.99)),
	postRow(timed("wrs_per_s", record.UnitOne, record.PerSecond, "posts", higher, "work requests posted and completed, over the time of the full sends", nil), func(p *Posts) (record.Value, string) {
		if p.SentNS <= 0 {
			return record.Value{}, "no completion was waited for"
		}
		return record.Level(float64(p.Sent) / (p.SentNS / 1e9)), ""
	}),
	postCounted("lane_allocs", record.UnitOne, record.PerCall, "allocations of the way of posting itself", byCall(func(p *Posts) int64 { return p.Lane.Allocs })),
	postCounted("lane_reallocs", record.UnitOne, record.PerCall, "reallocations of the way of posting itself", byCall(func(p *Posts) int64 { return p.Lane.Reallocs })),
	postCounted("lane_frees", record.UnitOne, record.PerCall, "frees of the way of posting itself", byCall(func(p *Posts) int64 { return p.Lane.Frees })),
	postCounted("lane_alloc_bytes", record.UnitBytes, record.PerCall, "bytes the way of posting asks its allocator for", byCall(func(p *Posts) int64 { return p.Lane.Bytes })),
	postCounted("provider_allocs", record.UnitOne, record.PerCall, "allocations and reallocations inside the provider and the library", byCall(func(p *Posts) int64 { return p.Provider.Allocs + p.Provider.Reallocs })),
	postCounted("provider_alloc_bytes", record.UnitBytes, record.PerCall, "bytes the provider and the library ask their allocator for", byCall(func(p *Posts) int64 { return p.Provider.Bytes })),
	postCounted("lane_copied_bytes", record.UnitBytes, record.PerWR, "payload bytes copied before the provider is called", byWR(func(p *Posts) int64 { return p.LaneCopied })),
	postCounted("provider_copied_bytes", record.UnitBytes, record.PerWR, "payload bytes the provider's user-space code copies", providerCopies),
	postCounted("post_syscalls", record.UnitOne, record.PerCall, "system calls in a post", byCall(func(p *Posts) int64 { return p.Syscalls })),
	postCounted("go_post_allocs", record.UnitOne, record.PerCall, "Go heap objects allocated", always(func(p *Posts) (int64, int64) { return p.GoAllocs, p.Calls })),
	postCounted("go_post_alloc_bytes", record.UnitBytes, record.PerCall, "Go heap bytes allocated", always(func(p *Posts) (int64, int64) { return p.GoAllocBytes, p.Calls })),
	varying(postCounted("post_minor_faults", record.UnitOne, record.PerCall, "minor page faults in the posts", always(func(p *Posts) (int64, int64) { return p.MinorFaults, p.Calls }))),
	varying(postCounted("heap_held_bytes", record.UnitBytes, "", "pages of the allocator's mappings, at the end", byTrial(func(p *Posts) int64 { return p.HeapHeld }))),
	varying(postCounted("heap_used_bytes", record.UnitBytes, "", "usable bytes of live allocations, at the end", byTrial(func(p *Posts) int64 { return p.HeapUsed }))),
	postCounted("pinned_post_bytes", record.UnitBytes, "", "memory registered with the device", always(func(p *Posts) (int64, int64) { return p.Pinned, 1 })),
}

type postFigure func(p *Posts) (record.Value, string)

func postRow(r row, of postFigure) row {
	r.posts = true
	r.from = func(o *Outcome) (record.Value, string) { return of(o.Posts) }
	return r
}

func postTimed(name, per, help string, of postFigure) row {
	return postRow(timed(name, record.UnitSeconds, per, "posts", lower, help, nil), of)
}

func postCounted(name, unit, per, help string, of postFigure) row {
	return postRow(counted(name, unit, per, "allocations", help, nil), of)
}

func wrsPerCall(p *Posts) float64 { return float64(p.WRs) / float64(max(p.Calls, 1)) }

// perPart is a sum over the posts timed in parts, for one of them.
func perPart(ns func(p *Posts) float64) postFigure {
	return func(p *Posts) (record.Value, string) {
		if p.Parts == 0 {
			return record.Value{}, "no post was timed in parts"
		}
		return record.Level(ns(p) / float64(p.Parts) / 1e9), ""
	}
}

func perWR(ns func(p *Posts) float64) postFigure {
	whole := perPart(ns)
	return func(p *Posts) (record.Value, string) {
		v, reason := whole(p)
		if reason != "" {
			return v, reason
		}
		return record.Level(v.Float64() / wrsPerCall(p)), ""
	}
}

func wholeBy(units func(p *Posts) float64) postFigure {
	return func(p *Posts) (record.Value, string) {
		if p.Whole == 0 {
			return record.Value{}, "no post was timed as a whole"
		}
		return record.Level(p.TotalNS / float64(p.Whole) / units(p) / 1e9), ""
	}
}

func completion(q float64) postFigure {
	return func(p *Posts) (record.Value, string) {
		if len(p.CompletionNS) == 0 {
			return record.Value{}, "no completion was waited for"
		}
		ns, reason := quantile(p.CompletionNS, q)
		return record.Level(float64(ns) / 1e9), reason
	}
}

const noShim = "the counting shim was not preloaded"

func shimmed(v func(p *Posts) (int64, int64)) postFigure {
	return func(p *Posts) (record.Value, string) {
		if !p.Counted {
			return record.Value{}, noShim
		}
		num, den := v(p)
		return record.Count(num, den), ""
	}
}

func always(v func(p *Posts) (int64, int64)) postFigure {
	return func(p *Posts) (record.Value, string) {
		num, den := v(p)
		return record.Count(num, max(den, 1)), ""
	}
}

func byCall(n func(p *Posts) int64) postFigure {
	return shimmed(func(p *Posts) (int64, int64) { return n(p), p.Calls })
}

func byWR(n func(p *Posts) int64) postFigure {
	return shimmed(func(p *Posts) (int64, int64) { return n(p), p.WRs })
}

// providerCopies leaves out what cannot be told: a copy that the compiler made
// part of a foreign library's code is no call that could be counted.
func providerCopies(p *Posts) (record.Value, string) {
	if p.ProviderCopied < 0 {
		return record.Value{}, "copies compiled into the library itself cannot be seen from outside"
	}
	return byWR(func(p *Posts) int64 { return p.ProviderCopied })(p)
}

func byTrial(n func(p *Posts) int64) postFigure {
	return func(p *Posts) (record.Value, string) {
		if p.HeapUsed == 0 {
			return record.Value{}, noShim
		}
		return record.Count(n(p), 1), ""
	}
}
