package harness

import (
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/zcbench/zcbench/harness/record"
)

// Range and precision of latency histograms: 1 ns to 100 s at three digits.
const (
	histogramMax    = 100_000_000_000
	histogramDigits = 3
)

// histograms adds the latency distributions to a record. What is out of range
// is counted in a note: the library drops it.
func histograms(rec *record.Record, l latencies) {
	rec.Histograms = map[string]string{}
	encode(rec, "latency", l.all)
	if !l.banded {
		return
	}
	for i, b := range l.bands {
		encode(rec, "latency_"+bandNames[i], b)
	}
}

func encode(rec *record.Record, name string, ns []int64) {
	if len(ns) == 0 {
		return
	}
	h := hdrhistogram.New(1, histogramMax, histogramDigits)
	dropped := 0
	for _, v := range ns {
		if h.RecordValue(max(v, 1)) != nil {
			dropped++
		}
	}
	if dropped > 0 {
		rec.Notes = append(rec.Notes, fmt.Sprintf("%s: %d values over %d s are not in the histogram", name, dropped, int64(histogramMax)/1e9))
	}
	b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		rec.Notes = append(rec.Notes, fmt.Sprintf("%s: no histogram: %v", name, err))
		return
	}
	rec.Histograms[name] = string(b)
}
