package render

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

// Kinds of plots; a scenario's headline names one.
const (
	PlotResidency  = "residency"
	PlotMemory     = "memory"
	PlotStarvation = "starvation"
	PlotWaste      = "waste"
	PlotLatency    = "latency"
	PlotEffects    = "effects"
	PlotPareto     = "pareto"

	PlotDistribution = "distribution" // of no headline
)

// HeadlinePlots are the kinds a scenario's headline may ask for.
func HeadlinePlots() []string {
	return []string{PlotResidency, PlotMemory, PlotStarvation, PlotWaste, PlotLatency, PlotEffects, PlotPareto}
}

// PlotOptions sets the size of plots; the zero value is good for documents.
type PlotOptions struct {
	Width float64 // in points, default 760; at least 240
	DPI   int     // of PNG files, default 144
}

// Limits on what one report may draw, so that a wide sweep stays usable.
const (
	maxPanels      = 12 // of one picture
	maxEffectPlots = 24 // points with a plot of effects of their own
)

// usualPlots are drawn of every scenario that receives, if only to say what is
// missing.
var usualPlots = []string{PlotResidency, PlotLatency, PlotEffects, PlotPareto}

// usual reports whether readers would look for a plot of the kind. Posts have
// no messages that wait and no buffers that fill.
func usual(kind string, s *analyze.Scenario) bool {
	receives := slices.ContainsFunc(s.Points, func(p analyze.Point) bool {
		k := p.Info.Workload.Kind
		return k == "" || k == record.KindReceive
	})
	untimed := s.Info.Blocks == 0 && (kind == PlotLatency || kind == PlotPareto) && len(s.Points) > 0
	return kind == s.Info.Headline.Plot || !untimed && slices.Contains(usualPlots, kind) && (receives || len(s.Points) == 0)
}

// Plot is one picture of a report.
type Plot struct {
	Name     string // safe as a file name without extension; holds nothing from the data
	Kind     string // one of the Plot constants
	Scenario int    // index into the report's scenarios
	Title    string
	Caption  string // how to read it
	Alt      string // what it shows, in words

	pic *picture
	opt PlotOptions
}

// Plots draws the report: of each scenario the residency over time, the memory
// by client, quiet clients beside busy ones, waste, the latency distributions
// and memory against CPU with a panel per point, and the effects of each point.
// A plot the scenario asks for, or that any scenario should have, says so when
// it has no data; others are left out then.
func Plots(r *analyze.Report, o PlotOptions) ([]Plot, error) {
	if o.Width == 0 {
		o.Width = 760
	}
	if o.DPI == 0 {
		o.DPI = 144
	}
	if !(o.Width >= 240 && o.Width <= 4000) || o.DPI < 36 || o.DPI > 600 {
		return nil, fmt.Errorf("plots of %g points at %d dots per inch: want a width of 240 to 4000 and 36 to 600 dpi", o.Width, o.DPI)
	}
	var out []Plot
	for i := range r.Scenarios {
		prefix := ""
		if len(r.Scenarios) > 1 {
			prefix = fmt.Sprintf("scenario%d-", i+1)
		}
		for _, p := range scenarioPlots(&r.Scenarios[i]) {
			p.Name, p.Scenario, p.opt = prefix+p.Name, i, o
			out = append(out, p)
		}
	}
	return out, nil
}

// scenarioPlots gives the plots of one scenario, in reading order.
func scenarioPlots(s *analyze.Scenario) []Plot {
	views := pointViews(s)
	if len(views) == 0 {
		views = []pointView{{}}
	}
	var out []Plot
	paged := func(kind string, most int, make func([]pointView) *picture) {
		for from := 0; from < len(views); from += most {
			name := kind
			if from > 0 {
				name = fmt.Sprintf("%s-%d", kind, from/most+1)
			}
			pic := make(views[from:min(from+most, len(views))])
			if pic.empty() && !usual(kind, s) {
				continue
			}
			out = append(out, newPlot(name, kind, s, pic))
		}
	}
	paged(PlotResidency, maxPanels, residencyPicture)
	paged(PlotMemory, maxPanels, func(v []pointView) *picture { return memoryPicture(s, v) })
	paged(PlotStarvation, maxPanels, func(v []pointView) *picture { return starvationPicture(s, v) })
	paged(PlotWaste, wastePoints, func(v []pointView) *picture { return wastePicture(s, v) })
	paged(PlotLatency, maxPanels, latencyPicture)
	paged(PlotDistribution, maxPanels, distributionPicture)
	paged(PlotPareto, maxPanels, func(v []pointView) *picture { return paretoPicture(s, v) })
	for i, v := range views {
		name := PlotEffects
		if len(views) > 1 {
			name = fmt.Sprintf("%s-%d", PlotEffects, i+1)
		}
		if i == maxEffectPlots {
			last := out[len(out)-1].pic
			last.notes = append(last.notes, fmt.Sprintf("The effects of the other %d points are in the table only.", len(views)-i))
			break
		}
		out = append(out, newPlot(name, PlotEffects, s, effectsPicture(s, v)))
	}
	return out
}

func newPlot(name, kind string, s *analyze.Scenario, pic *picture) Plot {
	p := Plot{Name: name, Kind: kind, Title: pic.title, Caption: pic.subtitle, pic: pic}
	p.Alt = pic.title
	if q := cleanText(s.Info.Title); q != "" {
		p.Alt += ": " + q
	}
	if h := cleanText(s.Headline); h != "" {
		p.Alt += ". " + h
	}
	return p
}

// PNG writes the plot as a PNG file on white.
func (p Plot) PNG(w io.Writer) error {
	width := vg.Length(p.opt.Width)
	c := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, p.pic.size(width, true)), vgimg.UseDPI(p.opt.DPI))}
	p.pic.paint(draw.New(c), true)
	if _, err := c.WriteTo(w); err != nil {
		return fmt.Errorf("write plot %s as PNG: %w", p.Name, err)
	}
	return nil
}

// SVG writes the plot as an SVG file on white.
func (p Plot) SVG(w io.Writer) error {
	if err := p.svg(w, vg.Length(p.opt.Width), false); err != nil {
		return fmt.Errorf("write plot %s as SVG: %w", p.Name, err)
	}
	return nil
}

// svg draws at the given width. An inline picture has no title: the page has.
func (p Plot) svg(w io.Writer, width vg.Length, inline bool) error {
	c := newSVGCanvas(width, p.pic.size(width, !inline), inline)
	p.pic.paint(draw.New(c), !inline)
	alt := p.Alt
	if inline { // the page has told the rest
		alt = p.Title
	}
	return c.write(w, alt)
}

// WritePNGs writes every plot of the report into dir, made if missing, and
// returns the paths.
func WritePNGs(dir string, r *analyze.Report) ([]string, error) {
	return writePlots(dir, ".png", r, Plot.PNG)
}

// WriteSVGs does the same as SVG.
func WriteSVGs(dir string, r *analyze.Report) ([]string, error) {
	return writePlots(dir, ".svg", r, Plot.SVG)
}

func writePlots(dir, ext string, r *analyze.Report, write func(Plot, io.Writer) error) ([]string, error) {
	plots, err := Plots(r, PlotOptions{})
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the folder for plots: %w", err)
	}
	var paths []string
	for _, p := range plots {
		path := filepath.Join(dir, p.Name+ext)
		f, err := os.Create(path)
		if err != nil {
			return paths, fmt.Errorf("write plot: %w", err)
		}
		if err := errors.Join(write(p, f), f.Close()); err != nil {
			return paths, fmt.Errorf("write plot %s: %w", path, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
