package render

import (
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// latencyPicture plots the merged latency histogram of every case, one panel
// per point, all on the same axes.
func latencyPicture(pts []pointView) *picture {
	f := &picture{minPanel: 300,
		title:    "Message latency by percentile",
		subtitle: "All timing trials of a case merged; a line ends where fewer than ten messages lie beyond."}
	x, y := axisRange{lo: percentileX(firstPercentile)}, []float64{}
	panels := make([]*linePanel, len(pts))
	for i, p := range pts {
		panels[i] = latencyPanel(p)
		for _, c := range panels[i].curves {
			for _, q := range c.pts {
				x.hi = math.Max(x.hi, q.x)
				y = append(y, q.y)
			}
		}
	}
	span, ok := valueRange(true, y...)
	for i, l := range panels {
		if !ok || len(l.curves) == 0 {
			f.panels = append(f.panels, notePanel{pts[i].name, "No latency distribution: no timing trial recorded a latency histogram with 20 messages or more."})
			continue
		}
		x.hi = math.Max(x.hi, percentileX(0.5))
		l.x, l.y, l.xTicks = x, span.padded(0.04), percentileTicks(x.hi)
		f.panels = append(f.panels, l)
	}
	f.notes = absences(pts, "latency distribution", func(c *analyze.Case) bool { return usable(c.Distribution("latency")) })
	return f
}

func usable(d *analyze.Distribution) bool {
	return d != nil && len(latencyPoints(d)) > 0
}

// firstPercentile is where the plots of latency begin: the fastest messages
// would take half the height and tell little.
const firstPercentile = 0.1

// percentileX is where the share q of the samples stands on the axis: each
// further nine takes the same room.
func percentileX(q float64) float64 { return -math.Log10(1 - q) }

// latencyPoints are the plottable quantiles of a distribution.
func latencyPoints(d *analyze.Distribution) []xy {
	var pts []xy
	for _, q := range d.Quantiles {
		if q.Q >= firstPercentile && q.Q < 1 && plottable(q.V, true) {
			pts = append(pts, xy{percentileX(q.Q), q.V})
		}
	}
	return pts
}

func latencyPanel(p pointView) *linePanel {
	l := &linePanel{title: p.name, yText: "latency, from the intended send time (log scale)",
		xText: "percentile of messages", yUnit: record.UnitSeconds}
	for i := range p.cases {
		c := &p.cases[i]
		d := c.Distribution("latency")
		if !usable(d) {
			continue
		}
		cv := curve{name: c.name, mark: c.mark, pts: latencyPoints(d)}
		for _, q := range shownPercentiles(d) {
			cv.spots = append(cv.spots, spot{xy{percentileX(q.Q), q.V},
				fmt.Sprintf("%s: p%s %s (%d messages)", c.name, percentText(q.Q), figure.Format(q.V, d.Unit), d.N), true})
		}
		l.curves = append(l.curves, cv)
		l.names = append(l.names, c.name)
	}
	return l
}

// shownPercentiles picks the quantiles at 50, 90, 99, 99.9, ... per cent.
func shownPercentiles(d *analyze.Distribution) []analyze.Quantile {
	var out []analyze.Quantile
	want := percentileX(0.5)
	for _, q := range d.Quantiles {
		if !(q.Q < 1) || !plottable(q.V, true) {
			continue
		}
		if x := percentileX(q.Q); x > want-1e-6 {
			if x < want+0.05 {
				out = append(out, q)
			}
			want = math.Floor(x+1e-6) + 1
		}
	}
	return out
}

// percentText writes a share as per cent: 0.999 as "99.9".
func percentText(q float64) string {
	return strconv.FormatFloat(math.Round(q*1e10)/1e8, 'f', -1, 64)
}

// percentileTicks labels 50, 90, 99, 99.9 ... up to the end of the axis.
func percentileTicks(end float64) []plot.Tick {
	var ts []plot.Tick
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 0.999999, 0.9999999} {
		if x := percentileX(q); x <= end+1e-9 {
			ts = append(ts, plot.Tick{Value: x, Label: "p" + percentText(q)})
		}
	}
	for _, q := range []float64{0.25, 0.75, 0.95} {
		if x := percentileX(q); x <= end {
			ts = append(ts, plot.Tick{Value: x})
		}
	}
	return ts
}
