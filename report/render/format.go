package render

import "github.com/zcbench/zcbench/report/internal/figure"

// FormatValue writes v, given in the base unit, in the display unit that suits
// it: s becomes ns, us or ms; B becomes KiB or MiB; plain numbers keep three
// significant digits. A value that is not zero is never written as 0; one that
// is not finite is written "n/a".
func FormatValue(v float64, unit string) string { return figure.Format(v, unit) }

// FormatRange writes the interval lo..hi in one display unit: "208–231 us".
func FormatRange(lo, hi float64, unit string) string { return figure.Range(lo, hi, unit) }

// FormatRatio writes a ratio as "0.98x"; one that is not 1 never reads "1x".
func FormatRatio(r float64) string { return figure.Times(r) }

// MetricName is a metric in plain words: "p99 latency", "wasted bytes".
func MetricName(metric string) string { return figure.Name(metric) }
