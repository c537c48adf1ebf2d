package render

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
)

// baselineSuffix marks the baseline in labels.
const baselineSuffix = " (baseline)"

// caseView is a case with its name made safe to show and its look.
type caseView struct {
	*analyze.Case
	name string // as the label in a plot: the baseline says so
	mark mark
}

// caseName is a case's name, safe to show and never empty.
func caseName(c *analyze.Case) string {
	if n := cleanText(c.Name); n != "" {
		return n
	}
	return "(no name)"
}

// pointView is a point as the plots show it.
type pointView struct {
	name  string // empty when the scenario has one point only
	info  *analyze.Point
	cases []caseView
}

// pointViews prepares the points of a scenario. A case looks the same at every
// point and in every plot.
func pointViews(s *analyze.Scenario) []pointView {
	marks := map[string]mark{}
	next := 0
	var out []pointView
	for i := range s.Points {
		p := &s.Points[i]
		v := pointView{info: p}
		if len(s.Points) > 1 {
			v.name = cleanText(p.Name)
			if v.name == "" {
				v.name = fmt.Sprintf("point %d", i+1)
			}
		}
		for k := range p.Cases {
			c := &p.Cases[k]
			m, ok := marks[c.Name]
			if !ok {
				m = markOf(next, c.Info.Baseline)
				marks[c.Name] = m
				if !c.Info.Baseline {
					next++
				}
			}
			name := caseName(c)
			if c.Info.Baseline {
				name += baselineSuffix
			}
			v.cases = append(v.cases, caseView{c, name, m})
		}
		out = append(out, v)
	}
	return out
}

// baseline returns the baseline of the point, or nil.
func (p *pointView) baseline() *caseView {
	for i := range p.cases {
		if p.cases[i].Info.Baseline {
			return &p.cases[i]
		}
	}
	return nil
}

// where says which point, empty when there is only one.
func (p *pointView) where() string {
	if p.name == "" {
		return ""
	}
	return " at " + p.name
}

// absences names the cases that lack what a plot shows, with the reason of
// those that were skipped: nothing disappears silently. What holds at every
// point is said once.
func absences(pts []pointView, what string, has func(*analyze.Case) bool) []string {
	at := map[string][]string{} // note -> names of the points
	var order []string
	add := func(note string, p *pointView) {
		if at[note] == nil {
			order = append(order, note)
		}
		at[note] = append(at[note], p.name)
	}
	for i := range pts {
		var missing []string
		for k := range pts[i].cases {
			c := &pts[i].cases[k]
			switch {
			case has(c.Case):
			case c.Skip != nil:
				add(fmt.Sprintf("Not measured: %s, %s", c.name, strings.TrimSuffix(cleanText(c.Skip.Reason), ".")), &pts[i])
			default:
				missing = append(missing, c.name)
			}
		}
		if len(missing) > 0 {
			add(fmt.Sprintf("Not shown, no %s: %s", what, strings.Join(missing, ", ")), &pts[i])
		}
	}
	var notes []string
	for _, n := range order {
		if len(at[n]) < len(pts) {
			n += " (at " + strings.Join(at[n], "; ") + ")"
		}
		notes = append(notes, n+".")
	}
	return notes
}
