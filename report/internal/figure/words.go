package figure

import (
	"strings"

	"github.com/zcbench/zcbench/harness/record"
)

// names are the plain words of metrics whose identifier does not read well.
var names = map[string]string{
	"latency_max":       "maximum latency",
	"messages_per_s":    "messages per second",
	"bytes_per_s":       "throughput",
	"cpu_per_msg":       "CPU time",
	"syscalls":          "system calls",
	"enters":            "io_uring_enter calls",
	"sqes":              "SQEs",
	"cqes":              "CQEs",
	"enobufs":           "ENOBUFS",
	"reprovides":        "buffers handed back",
	"go_allocs":         "Go allocations",
	"go_alloc_bytes":    "Go bytes allocated",
	"heap_allocs":       "C allocations",
	"heap_alloc_bytes":  "C bytes allocated",
	"buffer_pages_mean": "resident buffer pages",
	"buffer_pages_peak": "peak resident buffer pages",
	"buffer_pages_end":  "resident buffer pages at the end",
	"page_table_bytes":  "page tables",
	"ring_bytes":        "ring memory",
	"socket_bytes_mean": "socket memory",
	"socket_bytes_peak": "peak socket memory",
	"rss_peak_bytes":    "peak RSS",
	"pinned_bytes":      "pinned memory",
	"dtlb_misses":       "data-TLB misses",

	"generator_cpu_per_msg":   "generator's CPU time",
	"send_late_p99":           "p99 lateness of the generator",
	"assembly_pages_peak":     "peak resident assembly pages",
	"send_pages_mean":         "resident reply pages",
	"send_pages_peak":         "peak resident reply pages",
	"send_pages_end":          "resident reply pages at the end",
	"huge_pages_end":          "resident pages in huge pages at the end",
	"lazyfree_bytes":          "memory marked free, still resident",
	"cgroup_socket_bytes":     "socket memory of the control group",
	"kernel_bytes_per_client": "kernel objects for each client",
	"vmpin_bytes":             "memory pinned by VmPin",
	"sampling_time":           "CPU time of one look at residency",

	"loaded_pages_mean": "buffer pages under load",
	"loaded_pages_peak": "peak buffer pages under load",

	"quiet_latency_p50":      "median latency of quiet clients",
	"quiet_latency_p99":      "p99 latency of quiet clients",
	"busy_latency_p50":       "median latency of busy clients",
	"busy_latency_p99":       "p99 latency of busy clients",
	"client_latency_spread":  "latency spread between clients",
	"starved_receives":       "starved receives",
	"quiet_starved_receives": "starved receives of quiet clients",

	"build_per_wr":          "build time",
	"post_per_wr":           "provider's post time",
	"drop_per_wr":           "drop time",
	"total_per_wr":          "whole post time",
	"build_per_call":        "build time",
	"post_per_call":         "provider's post time",
	"drop_per_call":         "drop time",
	"total_per_call":        "whole post time",
	"first_call":            "first post time",
	"source_blocked":        "time the source is blocked",
	"completion_p50":        "median completion latency",
	"completion_p99":        "p99 completion latency",
	"wrs_per_s":             "work requests per second",
	"lane_allocs":           "own allocations",
	"lane_reallocs":         "own reallocations",
	"lane_frees":            "own frees",
	"lane_alloc_bytes":      "own bytes allocated",
	"provider_allocs":       "provider's allocations",
	"provider_alloc_bytes":  "provider's bytes allocated",
	"lane_copied_bytes":     "payload bytes copied before the post",
	"provider_copied_bytes": "payload bytes the provider copies",
	"post_syscalls":         "system calls",
	"go_post_allocs":        "Go allocations",
	"go_post_alloc_bytes":   "Go bytes allocated",
	"post_minor_faults":     "minor faults",
	"heap_held_bytes":       "heap held",
	"heap_used_bytes":       "heap in use",
	"pinned_post_bytes":     "memory registered",
}

var percentiles = map[string]string{"p50": "median", "p90": "p90", "p99": "p99", "p999": "p99.9"}

// Name is a metric in plain words: "p99 latency", "wasted bytes".
func Name(metric string) string {
	if n, ok := names[metric]; ok {
		return n
	}
	if rest, ok := strings.CutPrefix(metric, "latency_"); ok {
		band, p := "", rest
		if i := strings.LastIndexByte(rest, '_'); i >= 0 {
			band, p = " of "+rest[:i]+" messages", rest[i+1:]
		}
		if w, ok := percentiles[p]; ok {
			return w + " latency" + band
		}
	}
	return strings.ReplaceAll(metric, "_", " ")
}

var per = map[string]string{
	record.PerMessage: " per message",
	record.PerWR:      " per WR",
	record.PerCall:    " per call",
	record.PerConn:    " per connection",
	record.PerTrial:   " per trial",
	record.PerSecond:  " per second",
}

// Per is the denominator in words, with the space before it: " per message".
func Per(denominator string) string {
	if denominator == "" {
		return ""
	}
	if w, ok := per[denominator]; ok {
		return w
	}
	return " per " + printable(denominator)
}

// PerShort is the denominator as a suffix: "/msg".
func PerShort(denominator string) string {
	if denominator == "" {
		return ""
	}
	return "/" + printable(denominator)
}
