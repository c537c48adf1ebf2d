package render

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
)

//go:embed htmlpage.tmpl
var pageTemplate string

//go:embed htmlpage.css
var pageCSS string

//go:embed htmlpage.js
var pageScript string

const (
	// maxPageBytes is the size a page stays below, so that it can be mailed.
	// Plots that would break it are left out, and the page says so.
	maxPageBytes = 3_000_000
	wideSVG      = 660 // points; one is a CSS pixel when the plot has that width
	narrowSVG    = 360
)

// page is what the template shows.
type page struct {
	CSP       string
	CSS       template.CSS
	Script    template.HTML
	Title     string
	Scenarios []scenarioView
}

// parsed is checked when the package is built into a program: a broken
// template is a bug of ours, not of a result.
var parsed = template.Must(template.New("page").Funcs(template.FuncMap{"breakable": breakable}).Parse(pageTemplate))

// breakable escapes the name of a case and lets a narrow column break it
// before its params.
func breakable(name string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(name), "{", "<wbr>{"))
}

// HTML writes the report as one self-contained page that asks nothing of the
// network. Text from result files is escaped, and control and direction
// characters in it are neutralised. The options, which are for terminals, do
// not change it.
func HTML(w io.Writer, r *analyze.Report, _ Options) error {
	return writePage(w, r, maxPageBytes)
}

func writePage(w io.Writer, r *analyze.Report, limit int) error {
	plots, err := Plots(r, PlotOptions{Width: wideSVG})
	if err != nil {
		return err
	}
	p := newPage(r)
	// The text is rendered once without plots, to know what room they have.
	text, err := p.render()
	if err != nil {
		return err
	}
	// Each scenario may get a sentence on plots left out.
	room := limit - text.Len() - 1024*len(r.Scenarios)
	if room < 0 {
		return fmt.Errorf("HTML report: its tables and texts take %d bytes, over the limit of %d: report fewer results at once", text.Len(), limit)
	}
	if err := p.addPlots(r, plots, room); err != nil {
		return err
	}
	full, err := p.render()
	if err != nil {
		return err
	}
	if _, err := full.WriteTo(w); err != nil {
		return fmt.Errorf("write HTML report: %w", err)
	}
	return nil
}

func newPage(r *analyze.Report) *page {
	sum := sha256.Sum256([]byte(pageScript))
	p := &page{
		CSP: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; " +
			"script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		CSS:    template.CSS(toneVariables() + pageCSS),
		Script: template.HTML("<script>" + pageScript + "</script>"),
		Title:  "zcbench report",
	}
	for i := range r.Scenarios {
		p.Scenarios = append(p.Scenarios, newScenarioView(&r.Scenarios[i], i))
	}
	if len(p.Scenarios) == 1 {
		p.Title = p.Scenarios[0].Name + ": zcbench report"
	}
	return p
}

func (p *page) render() (*bytes.Buffer, error) {
	var b bytes.Buffer
	if err := parsed.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("render HTML report: %w", err)
	}
	return &b, nil
}

// toneVariables makes the tones of the plots variables that follow the
// reader's light or dark preference; printing is always light.
func toneVariables() string {
	var light, dark, use strings.Builder
	for i, t := range tones {
		fmt.Fprintf(&light, "--t%d:#%06x;", i, t.light)
		fmt.Fprintf(&dark, "--t%d:#%06x;", i, t.dark)
		fmt.Fprintf(&use, ".plot .s%d{stroke:var(--t%d)}.plot .f%d{fill:var(--t%d)}", i, i, i, i)
	}
	return ":root{" + light.String() + "}\n@media screen and (prefers-color-scheme: dark){:root{" + dark.String() + "}}\n" + use.String() + "\n"
}

// figureView is a plot in the page, for wide and for narrow windows.
type figureView struct {
	Title, Caption string
	Wide, Narrow   template.HTML
}

// addPlots puts the plots into the page as long as there is room for them,
// the one that shows the answer first.
func (p *page) addPlots(r *analyze.Report, plots []Plot, room int) error {
	for i := range p.Scenarios {
		v := &p.Scenarios[i]
		lead := leadPlot(&r.Scenarios[i], plots, i)
		left := 0
		for _, first := range []bool{true, false} {
			for k := range plots {
				if plots[k].Scenario != i || (k == lead) != first {
					continue
				}
				f, err := newFigure(plots[k], &room)
				switch {
				case errors.Is(err, errNoRoom):
					left++
				case err != nil:
					return err
				case first:
					v.Lead = f
				default:
					v.Figures = append(v.Figures, *f)
				}
			}
		}
		if left > 0 {
			v.FiguresNote = fmt.Sprintf("%d plots are left out to keep this page small; zcbench report --png DIR writes them all.", left)
		}
	}
	return nil
}

// leadPlot is the index of the plot that shows the answer: the kind the
// scenario names, else the effects.
func leadPlot(s *analyze.Scenario, plots []Plot, scenario int) int {
	fallback := -1
	for i, p := range plots {
		switch {
		case p.Scenario != scenario:
		case p.Kind == s.Info.Headline.Plot:
			return i
		case fallback < 0 && p.Kind == PlotEffects:
			fallback = i
		}
	}
	return fallback
}

var errNoRoom = errors.New("no room for the plot")

// newFigure draws a plot for the page and takes its size from room. When only
// the wide one fits, it serves narrow windows too.
func newFigure(p Plot, room *int) (*figureView, error) {
	f := &figureView{Title: p.Title, Caption: p.Caption}
	for _, side := range []struct {
		width int
		to    *template.HTML
	}{{wideSVG, &f.Wide}, {narrowSVG, &f.Narrow}} {
		var b bytes.Buffer
		if err := p.svg(&b, lengthOf(side.width), true); err != nil {
			return nil, fmt.Errorf("draw plot %s: %w", p.Name, err)
		}
		if b.Len() > *room {
			break
		}
		*room -= b.Len()
		// Safe: the canvas writes only numbers, its own names and escaped text.
		*side.to = template.HTML(b.String())
	}
	if f.Wide == "" {
		return nil, errNoRoom
	}
	return f, nil
}
