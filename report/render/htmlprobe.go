package render

import (
	"fmt"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// probeView is what the machine can do, as the run found by trying.
type probeView struct {
	Kernel, When string
	Groups       []probeGroup
}

// probeGroup is the findings of one sort.
type probeGroup struct {
	Name string
	Rows []probeRow
}

type probeRow struct {
	Name, Verdict, Class string
	Why                  []string
}

// probeSorts are the sorts of findings in the order they are shown.
var probeSorts = []struct {
	sort record.Sort
	name string
}{
	{record.FaultFound, "Known kernel faults"},
	{record.LimitFound, "Limits, found by trying"},
	{record.FeatureFound, "Features"},
	{record.CopyPointFound, "When the caller's buffer is read"},
}

// newProbe shows a probe; nil if the run recorded none.
func newProbe(p *record.Probe) *probeView {
	if p == nil || len(p.Findings) == 0 {
		return nil
	}
	v := &probeView{Kernel: cleanText(p.Kernel), When: p.Time.UTC().Format("2006-01-02 15:04 UTC")}
	for _, s := range probeSorts {
		g := probeGroup{Name: s.name}
		for _, f := range p.Findings {
			if f.Sort == s.sort {
				g.Rows = append(g.Rows, newFinding(f))
			}
		}
		if len(g.Rows) > 0 {
			v.Groups = append(v.Groups, g)
		}
	}
	return v
}

func newFinding(f record.Finding) probeRow {
	r := probeRow{Name: strings.TrimSpace(cleanText(f.Family) + " " + cleanText(f.Name)), Verdict: cleanText(string(f.Verdict)), Class: "undecided"}
	switch f.Verdict {
	case record.LimitIs:
		r.Verdict, r.Class = limitWords(f), ""
	case record.Supported, record.Absent:
		r.Class = "supported"
	case record.Unsupported, record.Present:
		r.Class = "refuted"
	case record.ReadAtCall, record.ReadAtPost, record.ReadAtBuild, record.ReadLater:
		r.Class = ""
	}
	for _, text := range []string{f.Help, f.Reason, f.Evidence, f.Source} {
		if text = cleanText(text); text != "" {
			r.Why = append(r.Why, text)
		}
	}
	for _, s := range f.Steps {
		r.Why = append(r.Why, fmt.Sprintf("changed %s: %d of %d arrived", cleanText(s.Name), s.Arrived, s.Changed))
	}
	if len(f.Affects) > 0 {
		r.Why = append(r.Why, "makes wrong: "+strings.Join(cleanAll(f.Affects), "; "))
	}
	return r
}

// limitWords is a limit in full: to round one would be to change it.
func limitWords(f record.Finding) string {
	words := fmt.Sprint(f.Value)
	if f.Unit == "" || f.Unit == record.UnitOne {
		return words
	}
	words += " " + cleanText(f.Unit)
	if f.Unit == record.UnitBytes && f.Value >= 1<<10 {
		words += " (" + figure.Format(float64(f.Value), f.Unit) + ")"
	}
	return words
}
