package render

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
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
	Made      string // by what, of how much
	Summary   *summaryView
	Groups    []groupView
	scenarios []scenarioView
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
	p.Groups = newGroups(r, p.scenarios)
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
	p.Groups = newGroups(r, p.scenarios)
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
		CSS:     template.CSS(toneVariables() + pageCSS),
		Script:  template.HTML("<script>" + pageScript + "</script>"),
		Title:   "zcbench report",
		Summary: newSummary(r),
	}
	for i := range r.Scenarios {
		p.scenarios = append(p.scenarios, newScenarioView(&r.Scenarios[i], i))
	}
	switch n := len(p.scenarios); n {
	case 0:
	case 1:
		p.Title = p.scenarios[0].Name + ": zcbench report"
	default:
		p.Title = fmt.Sprintf("zcbench: claims and verdicts of %d results", n)
		p.Made = fmt.Sprintf("%d results of %s", n, countOf(len(groupsOf(r)), "scenario"))
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
		fmt.Fprintf(&use, ".plot .s%d{fill:none;stroke:var(--t%d)}.plot .f%d{fill:var(--t%d)}", i, i, i, i)
	}
	return ":root{" + light.String() + "}\n@media screen and (prefers-color-scheme: dark){:root{" + dark.String() + "}}\n" + use.String() + svgHotCSS + "\n"
}

// figureView is a plot in the page, for wide and for narrow windows.
type figureView struct {
	Title, Caption string
	Wide, Narrow   template.HTML
}

// addPlots puts the plots into the page as long as there is room for them: the
// one that answers of every scenario, then the second of every scenario, and so
// on, so that a page short of room leaves out the same kinds everywhere. What
// room is left goes to drawings of the others for narrow windows.
func (p *page) addPlots(r *analyze.Report, plots []Plot, room int) error {
	queue, blanks := p.queue(r, plots)
	figures := make([]*figureView, len(plots))
	for n, k := range queue {
		f := &figureView{Title: plots[k].Title, Caption: plots[k].Caption}
		if err := drawInto(&f.Wide, plots[k], wideSVG, &room); err != nil {
			return err
		}
		if f.Wide == "" {
			continue
		}
		figures[k] = f
		if n < len(p.scenarios) { // one that answers
			if err := drawInto(&f.Narrow, plots[k], narrowSVG, &room); err != nil {
				return err
			}
		}
	}
	for _, k := range queue {
		if figures[k] == nil || figures[k].Narrow != "" {
			continue
		}
		if err := drawInto(&figures[k].Narrow, plots[k], narrowSVG, &room); err != nil {
			return err
		}
	}
	for i := range p.scenarios {
		v, left := &p.scenarios[i], 0
		lead := leadPlot(&r.Scenarios[i], plots, i)
		for k := range plots {
			switch {
			case plots[k].Scenario != i || !slices.Contains(queue, k):
			case figures[k] == nil:
				left++
			case k == lead:
				v.Lead = figures[k]
			default:
				v.Figures = append(v.Figures, *figures[k])
			}
		}
		v.FiguresNotes = blanks[i]
		if left > 0 {
			v.FiguresNotes = append(v.FiguresNotes, fmt.Sprintf("%s left out to keep this page small; zcbench report --png DIR writes them all.", pluralAre(left, "plot")))
		}
	}
	return nil
}

// queue is the order in which plots get room, and for each scenario why others
// are not drawn: they have no data.
func (p *page) queue(r *analyze.Report, plots []Plot) (order []int, blanks [][]string) {
	blanks = make([][]string, len(r.Scenarios))
	rank := make([]int, len(plots))
	next := make([]int, len(r.Scenarios))
	leads := make([]int, len(r.Scenarios))
	for i := range r.Scenarios {
		leads[i] = leadPlot(&r.Scenarios[i], plots, i)
	}
	for k, pl := range plots {
		i := pl.Scenario
		if k != leads[i] && pl.pic.empty() {
			blanks[i] = append(blanks[i], pl.pic.why())
			continue
		}
		if k != leads[i] {
			next[i]++
			rank[k] = next[i]
		}
		order = append(order, k)
	}
	slices.SortStableFunc(order, func(a, b int) int { return rank[a] - rank[b] })
	return order, blanks
}

// drawInto draws a plot for the page if there is room for it, and takes that.
func drawInto(to *template.HTML, p Plot, width int, room *int) error {
	if *room < smallestSVG {
		return nil
	}
	var b bytes.Buffer
	if err := p.svg(&b, lengthOf(width), true); err != nil {
		return fmt.Errorf("draw plot %s: %w", p.Name, err)
	}
	if need := b.Len() + len(p.Title) + len(p.Caption) + figureMarkup; need <= *room {
		*room -= need
		// Safe: the canvas writes only numbers, its own names and escaped text.
		*to = template.HTML(b.String())
	}
	return nil
}

const (
	smallestSVG  = 1500 // bytes of room below which drawing is not worth trying
	figureMarkup = 200  // bytes around a drawing
)

func pluralAre(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return fmt.Sprintf("%d %ss are", n, noun)
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
