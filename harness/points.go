package harness

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// axis is one value of one workload axis.
type axis struct {
	key    string
	label  string
	apply  func(w *record.Workload)
	varies bool
}

func axisOf[T any](key string, values []T, label func(T) string, apply func(*record.Workload, T)) []axis {
	out := make([]axis, len(values))
	for i, v := range values {
		out[i] = axis{key, label(v), func(w *record.Workload) { apply(w, v) }, len(values) > 1}
	}
	return out
}

func text(s string) string { return s }

// points multiplies the workload axes of a scenario's kind out, with at most so
// many clients (0: any number) where the scenario leaves it to the machine. A point's id
// names the axes that vary; where none does it is empty, and so is the part
// behind the @ of a case's id.
func points(sc *scenarios.Scenario, maxClients int) []record.PointInfo {
	all := receiveAxes(sc.Workload)
	all["clients"] = clientAxis(sc.Workload.Clients, maxClients)
	maps.Copy(all, postAxes(sc.Workload))
	var axes [][]axis
	for _, key := range scenarios.Axes(sc.Kind) {
		axes = append(axes, all[key])
	}
	var out []record.PointInfo
	multiply(axes, nil, func(picked []axis) { out = append(out, point(sc.Kind, picked)) })
	return out
}

func receiveAxes(w scenarios.Workload) map[string][]axis {
	return map[string][]axis{
		"transport": axisOf("transport", w.Transport, text, func(w *record.Workload, v string) { w.Transport = v }),
		"sizes":     axisOf("sizes", w.Sizes, scenarios.Sizes.Label, func(w *record.Workload, v scenarios.Sizes) { w.Sizes = sizes(v) }),
		"budget":    axisOf("budget", w.Budget, scenarios.FormatBytes, func(w *record.Workload, v int64) { w.BudgetBytes = v }),
		"load": axisOf("load", w.Load, scenarios.Load.Label, func(w *record.Workload, v scenarios.Load) {
			w.Load = record.Load{Mode: v.Mode, Depth: v.Depth, Fraction: v.Fraction, RateHz: v.RateHz}
		}),
		"traffic": axisOf("traffic", w.Traffic, scenarios.Traffic.Label, func(w *record.Workload, v scenarios.Traffic) { w.QuietShare, w.QuietTraffic = v.Quiet, v.Share }),
		"hold": axisOf("hold", w.Hold, scenarios.Hold.Label, func(w *record.Workload, v scenarios.Hold) {
			w.HoldMessages, w.HoldEach, w.HoldNS = v.Messages, v.Each, v.NS
		}),
		"assembly": axisOf("assembly", w.Assembly, text, func(w *record.Workload, v string) { w.Assembly = v }),
		"touch":    axisOf("touch", w.Touch, text, func(w *record.Workload, v string) { w.Touch = v }),
		"reply":    axisOf("reply", w.Reply, scenarios.FormatBytes, func(w *record.Workload, v int64) { w.ReplyBytes = v }),
	}
}

func postAxes(w scenarios.Workload) map[string][]axis {
	return map[string][]axis{
		"batch":        axisOf("batch", w.Batch, strconv.Itoa, func(w *record.Workload, v int) { w.Batch = v }),
		"sges":         axisOf("sges", w.SGEs, strconv.Itoa, func(w *record.Workload, v int) { w.SGEs = v }),
		"bytes":        axisOf("bytes", w.Bytes, scenarios.FormatBytes, func(w *record.Workload, v int64) { w.Bytes = v }),
		"buffers":      axisOf("buffers", w.Buffers, text, func(w *record.Workload, v string) { w.Buffers = v }),
		"connect_data": axisOf("connect_data", w.ConnectData, scenarios.FormatBytes, func(w *record.Workload, v int64) { w.ConnectData = v }),
		"accept_data":  axisOf("accept_data", w.AcceptData, scenarios.FormatBytes, func(w *record.Workload, v int64) { w.AcceptData = v }),
		"live":         axisOf("live", w.Live, strconv.Itoa, func(w *record.Workload, v int) { w.Live = v }),
		"live_bytes": axisOf("live_bytes", w.LiveBytes, scenarios.Sizes.Label, func(w *record.Workload, v scenarios.Sizes) {
			s := sizes(v)
			w.LiveBytes = &s
		}),
	}
}

func multiply(axes [][]axis, picked []axis, each func([]axis)) {
	if len(axes) == 0 {
		each(picked)
		return
	}
	for _, a := range axes[0] {
		multiply(axes[1:], append(slices.Clip(picked), a), each)
	}
}

func point(kind string, picked []axis) record.PointInfo {
	p := record.PointInfo{Values: map[string]string{}, Workload: record.Workload{Kind: kind}}
	for _, a := range picked {
		a.apply(&p.Workload)
		if a.varies {
			p.Values[a.key] = a.label
		}
	}
	p.ID = pairs(p.Values)
	return p
}

// pairs writes k=v,.. sorted by key.
func pairs(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+m[k])
	}
	return strings.Join(parts, ",")
}

func sizes(s scenarios.Sizes) record.Sizes {
	out := record.Sizes{
		Kind: s.Kind, Bytes: s.Bytes, Min: s.Min, Max: s.Max, Median: s.Median,
		Sigma: s.Sigma, Small: s.Small, Large: s.Large, Share: s.Share,
	}
	if s.Kind == "lognormal" || s.Kind == "cdf" {
		out.Max = s.Ceiling() // without a max these have no end
	}
	for _, p := range s.Points {
		out.Points = append(out.Points, record.SizePoint{Bytes: p.Bytes, Cum: p.Cum})
	}
	return out
}
