package scenarios

import "slices"

// Limits of the workload of kind alloc-aging.
const (
	maxLive      = 10_000_000
	maxLiveBytes = 16 << 30 // if each were as large as the largest can be
)

func agingAxes(w *Workload) table {
	return table{
		batchAxis(w, "Required. Work requests handed over by one post."),
		field("live", &w.Live, oneOrMany(integer(1, maxLive), label[int]), "Required. Long-lived allocations the application makes over the window, each while the arrays of a post are there."),
		field("live_bytes", &w.LiveBytes, oneOrMany(sizes(), Sizes.Label), "Required. Distribution of the sizes of the long-lived allocations."),
	}
}

// checkLive refuses long-lived allocations that could fill the machine.
func checkLive(d *decoder, w Workload) {
	most := int64(slices.Max(w.Live))
	for i, sizes := range w.LiveBytes {
		if n := sizes.Largest(); n*most > maxLiveBytes {
			d.fail(index("workload.live_bytes", i), "%d allocations of up to %s could take over %s: give live_bytes a max, or fewer live", most, FormatBytes(n), FormatBytes(maxLiveBytes))
		}
	}
}
