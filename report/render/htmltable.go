package render

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// tableView is the sortable table of all cases.
type tableView struct {
	Heads     []headView
	Rows      []rowView
	HasPoints bool
	Columns   int // of metrics
	Notes     []string
}

type headView struct {
	Name, Hint, Help string
	Text             bool
}

type rowView struct {
	Name, Point       string
	Index, PointIndex int
	Baseline          bool
	Tags              []string
	Skipped           string
	Cells             []cellView
}

// cellView is one value with how sure it is and its effect.
type cellView struct {
	Value, Interval        string
	Effect, EffectInterval string
	Differs                bool
	Sort                   string // empty: no value
	Why                    string
	Marks                  []string
}

func newTable(s *analyze.Scenario) tableView {
	t := tableView{HasPoints: len(s.Points) > 1, Columns: len(s.Columns)}
	t.Heads = append(t.Heads, headView{Name: "Case", Text: true})
	if t.HasPoints {
		t.Heads = append(t.Heads, headView{Name: "Point", Text: true})
	}
	for _, name := range s.Columns {
		m := metricOf(s, name)
		t.Heads = append(t.Heads, headView{Name: metricTitle(m), Hint: direction(m), Help: cleanText(m.Help)})
	}
	reasons := map[string][]string{} // why there is no value -> cases
	var order []string
	for i := range s.Points {
		p := &s.Points[i]
		for k := range p.Cases {
			row := newRow(s, p, &p.Cases[k])
			row.Index, row.PointIndex = k, i
			t.Rows = append(t.Rows, row)
			for c, cell := range row.Cells {
				if cell.Why == "" || row.Skipped != "" {
					continue
				}
				key := metricTitle(metricOf(s, s.Columns[c])) + " n/a, " + cell.Why
				if reasons[key] == nil {
					order = append(order, key)
				}
				if !slices.Contains(reasons[key], row.Name) {
					reasons[key] = append(reasons[key], row.Name)
				}
			}
		}
	}
	for _, key := range order {
		t.Notes = append(t.Notes, fmt.Sprintf("%s (%s).", key, strings.Join(reasons[key], ", ")))
	}
	return t
}

func direction(m record.Metric) string {
	switch m.Better {
	case record.Lower:
		return "less is better"
	case record.Higher:
		return "more is better"
	}
	return ""
}

func newRow(s *analyze.Scenario, p *analyze.Point, c *analyze.Case) rowView {
	row := rowView{Name: caseName(c), Point: cleanText(p.Name), Baseline: c.Info.Baseline, Tags: cleanAll(c.Marks)}
	if row.Baseline {
		row.Tags = append([]string{"baseline"}, row.Tags...)
	}
	if c.Skip != nil {
		row.Skipped = "not measured: " + cleanText(c.Skip.Reason)
		if c.Skip.Remedy != "" {
			row.Skipped += ". " + cleanText(c.Skip.Remedy)
		}
	}
	for _, name := range s.Columns {
		row.Cells = append(row.Cells, newCell(c.Cells, name))
	}
	return row
}

// newCell shows one metric of a case. A missing value says why.
func newCell(cells map[string]analyze.Cell, name string) cellView {
	c, ok := cells[name]
	if !ok || c.Unavailable != "" || math.IsNaN(c.Median) || math.IsInf(c.Median, 0) {
		why := cleanText(c.Unavailable)
		if why == "" {
			why = "no trial reported it"
		}
		return cellView{Value: "n/a", Why: why}
	}
	v := cellView{
		Value: figure.Format(c.Median, c.Unit) + figure.PerShort(c.Per),
		Sort:  strconv.FormatFloat(c.Median, 'g', -1, 64),
		Marks: cleanAll(c.Marks),
	}
	switch {
	case c.Exact:
		v.Interval = "exact"
	case c.HasInterval:
		v.Interval = figure.Range(c.Lo, c.Hi, c.Unit)
	default:
		v.Interval = fmt.Sprintf("n=%d", c.N)
	}
	if e := c.Effect; e != nil {
		v.Effect, v.EffectInterval = effectParts(e, c.Unit)
		v.Differs = e.Differs()
	}
	return v
}

// detailView lists every metric of one point's cases.
type detailView struct {
	Name  string
	Cases []string
	Rows  []detailRow
}

type detailRow struct {
	Name, Help string
	Cells      []cellView
}

// maxDetailCells bounds the tables of every metric.
const maxDetailCells = 4000

func newDetails(s *analyze.Scenario) (out []detailView, note string) {
	cells := 0
	for i := range s.Points {
		p := &s.Points[i]
		cells += len(p.Cases) * len(s.Metrics)
		if cells > maxDetailCells {
			return out, fmt.Sprintf("%d points are left out here to keep the page small; zcbench report --csv FILE writes every value.", len(s.Points)-i)
		}
		d := detailView{Name: cleanText(p.Name)}
		for k := range p.Cases {
			d.Cases = append(d.Cases, caseName(&p.Cases[k]))
		}
		for _, m := range s.Metrics {
			r := detailRow{Name: metricTitle(m), Help: cleanText(m.Help)}
			for k := range p.Cases {
				r.Cells = append(r.Cells, newCell(p.Cases[k].Cells, m.Name))
			}
			d.Rows = append(d.Rows, r)
		}
		out = append(out, d)
	}
	return out, ""
}

// clientsView is what the cases of a point hold for a client.
type clientsView struct {
	Title, Note string
	Head        []string
	Rows        [][]clientCell
}

// clientCell is a figure with what it sorts by.
type clientCell struct{ Text, Sort string }

// newClients lists the derived figures per client, a table for each point.
func newClients(s *analyze.Scenario) []clientsView {
	var out []clientsView
	for i := range s.Points {
		p := &s.Points[i]
		head, rows := perClientRows(s, p)
		if rows == nil {
			continue
		}
		clients, _ := clientsOf(p)
		v := clientsView{Title: fmt.Sprintf("Memory for each of %d clients, derived", clients), Head: head}
		if len(s.Points) > 1 {
			v.Title += ": " + cleanText(p.Name)
		}
		if len(out) == 0 {
			v.Note = perClientNote(head)
		}
		for n, row := range rows {
			cells := []clientCell{{row[0].text, strconv.Itoa(n)}}
			for _, c := range row[1:] {
				cell := clientCell{Text: c.text}
				if c.known {
					cell.Sort = strconv.FormatFloat(c.v, 'g', -1, 64)
				}
				cells = append(cells, cell)
			}
			v.Rows = append(v.Rows, cells)
		}
		out = append(out, v)
	}
	return out
}
