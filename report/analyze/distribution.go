package analyze

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zcbench/zcbench/harness/record"
)

const (
	nanosecond = 1e-9
	// beyondMin samples must lie beyond a percentile before it is shown.
	beyondMin = 10
	// mergedDigits of precision and mergedMax (an hour, ns) bound a merged histogram.
	mergedDigits = 3
	mergedMax    = int64(3600e9)
)

// distributions merges the histograms of the case's timing trials. problems
// says what could not be read or kept.
func (c *caseData) distributions() (out []Distribution, problems []string) {
	merged := map[string]*hdrhistogram.Histogram{}
	trials := map[string]int{}
	for _, t := range c.used {
		if t.Trial.Purpose != record.Timing {
			continue
		}
		for name, text := range t.Record.Histograms {
			h, err := decodeHistogram(text)
			if err != nil {
				problems = append(problems, fmt.Sprintf("trial %s: histogram %s cannot be read: %v", t.Trial.ID, name, err))
				continue
			}
			if merged[name] == nil {
				merged[name] = hdrhistogram.New(1, mergedMax, mergedDigits)
			}
			if n := h.MergeInto(merged[name]); n > 0 {
				problems = append(problems, fmt.Sprintf("trial %s: %d samples of histogram %s exceed an hour and are left out", t.Trial.ID, n, name))
			}
			trials[name]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(merged)) {
		if merged[name].TotalCount() > 0 {
			out = append(out, describe(name, merged[name], trials[name]))
		}
	}
	slices.Sort(problems)
	return out, problems
}

// decodeHistogram reads what a trial child wrote, which is untrusted. Packed, a
// histogram takes room for its samples only, not for the whole of its range.
func decodeHistogram(text string) (h *hdrhistogram.PackedHistogram, err error) {
	defer func() {
		if p := recover(); p != nil {
			h, err = nil, fmt.Errorf("malformed: %v", p)
		}
	}()
	return hdrhistogram.DecodePacked([]byte(text))
}

func describe(name string, h *hdrhistogram.Histogram, trials int) Distribution {
	d := Distribution{Name: name, Unit: record.UnitSeconds, N: h.TotalCount(), Trials: trials,
		Min: float64(h.Min()) * nanosecond, Max: float64(h.Max()) * nanosecond, Mean: h.Mean() * nanosecond}
	for _, q := range quantileGrid() {
		if !printable(d.N, q) {
			break
		}
		d.Quantiles = append(d.Quantiles, Quantile{q, float64(h.ValueAtQuantile(q*100)) * nanosecond})
	}
	for _, b := range h.Distribution() {
		if b.Count > 0 {
			d.Buckets = append(d.Buckets, Bucket{float64(b.From) * nanosecond, float64(b.To+1) * nanosecond, b.Count})
		}
	}
	return d
}

// printable reports whether enough of n samples lie beyond the quantile q.
func printable(n int64, q float64) bool { return float64(n)*(1-q) >= beyondMin-1e-6 }

// quantileGrid rises through every hundredth, then closes in on 1 in steps of a
// tenth of a decade; 0.999, 0.9999, ... are among them.
func quantileGrid() []float64 {
	var q []float64
	for i := 1; i <= 99; i++ {
		q = append(q, float64(i)/100)
	}
	for i := 21; i <= 70; i++ {
		q = append(q, 1-math.Pow(10, -float64(i)/10))
	}
	return q
}

// series are the time lines of the case's counting trials.
func (c *caseData) series() []Series {
	var out []Series
	for _, t := range c.used {
		if t.Trial.Purpose != record.Counting {
			continue
		}
		for _, s := range t.Record.Series {
			if len(s.X) == len(s.Y) && len(s.X) > 0 {
				out = append(out, Series{Name: s.Name, Unit: s.Unit, Block: t.Trial.Block, Repeat: t.Trial.Repeat,
					X: s.X, Y: s.Y, WarmupEnd: t.Record.WarmupEnd})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Series) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return out
}
