package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

// memoryPicture stacks what each case holds for a client, one panel per point.
func memoryPicture(s *analyze.Scenario, pts []pointView) *picture {
	f := &picture{minPanel: 420, title: "Memory held for each client",
		subtitle: "Derived: medians divided by the number of clients. Buffers are the mean over the counting trials, one message in flight; sockets the mean under the scenario's own load; " +
			"page tables those of the whole process. Pinned memory is that of rings and registered buffers, so it stands below the sum."}
	page := pageSize(s)
	for _, p := range pts {
		m, notes := memoryPanel(p, page)
		if len(m.rows) == 0 {
			f.panels = append(f.panels, notePanel{p.name, "No memory by client: no case has a value for any part of it."})
			continue
		}
		f.panels = append(f.panels, m)
		for _, n := range notes {
			if !slices.Contains(f.notes, n) {
				f.notes = append(f.notes, n)
			}
		}
	}
	f.notes = append(f.notes, absences(pts, "memory sampled", func(c *analyze.Case) bool {
		m := memoryOf(c, 1, page)
		return m.known()
	})...)
	return f
}

// memoryPanel builds the panel of a point; notes say why parts are missing.
func memoryPanel(p pointView, page float64) (m *rowPanel, notes []string) {
	m = &rowPanel{title: p.name, unit: record.UnitBytes, hint: "bytes for each client"}
	if p.info == nil {
		return m, nil
	}
	clients, ok := clientsOf(p.info)
	if !ok {
		return m, nil
	}
	m.hint = fmt.Sprintf("bytes for each of %d clients", clients)
	if clients == 1 {
		m.hint = "bytes for the one client"
	}
	var ends []float64
	gaps := map[string][]string{}
	var order []string
	for _, c := range p.cases {
		share := memoryOf(c.Case, clients, page)
		if !share.known() {
			continue
		}
		m.rows = append(m.rows, memoryRow(c, &share))
		ends = append(ends, share.total)
		if share.pinned.why == "" {
			ends = append(ends, share.pinned.bytes)
		}
		for _, part := range append(slices.Clone(share.parts), share.pinned) {
			if part.why == "" {
				continue
			}
			key := part.name + " unavailable, " + part.why
			if gaps[key] == nil {
				order = append(order, key)
			}
			gaps[key] = append(gaps[key], c.name)
		}
	}
	for _, key := range order {
		notes = append(notes, fmt.Sprintf("%s: %s.", strings.TrimSuffix(key, "."), strings.Join(gaps[key], ", ")))
	}
	for _, k := range memoryKinds {
		m.legend = append(m.legend, flowItem{text: k.name, swatch: k.tone})
	}
	m.legend = append(m.legend, flowItem{text: "pinned, not added", hollow: true, swatch: toneInk})
	m.x = barRange(ends)
	return m, notes
}

// barRange is the axis of bars: from zero, with a little room at the end.
func barRange(ends []float64) axisRange {
	r, _ := valueRange(false, append(ends, 0)...)
	r = r.fromZero()
	r.hi += (r.hi - r.lo) * 0.03
	return r
}

func memoryRow(c caseView, m *memoryShare) valueRow {
	r := valueRow{caseView: c, end: figure.Format(m.total, "B")}
	if !m.whole() {
		r.end = "≥ " + r.end
	}
	for _, part := range m.parts {
		if part.why != "" {
			r.detail = append(r.detail, flowItem{text: part.name + " n/a", swatch: part.tone})
			continue
		}
		text := part.name + " " + figure.Format(part.bytes, "B")
		r.detail = append(r.detail, flowItem{text: text, swatch: part.tone})
		r.bars = append(r.bars, barPart{part.tone, part.bytes, c.name + ": " + text + " for each client"})
	}
	if m.pinned.why == "" {
		text := "pinned " + figure.Format(m.pinned.bytes, "B")
		r.detail = append(r.detail, flowItem{text: text, hollow: true, swatch: toneInk})
		r.apart = &barPart{toneInk, m.pinned.bytes, c.name + ": " + text + " for each client, part of the above"}
	}
	if m.objects.why == "" {
		r.detail = append(r.detail, flowItem{text: objectsHead + " " + figure.Format(m.objects.bytes, "B") + ", not added", swatch: toneInk})
	}
	return r
}
