package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
	"github.com/zcbench/zcbench/report/internal/figure"
)

type memoryKind struct {
	name    string
	metrics []string
	tone    tone
}

// memoryKinds are the parts of what a strategy holds for its clients, in the
// order they are stacked. Of several metrics the first with a value counts.
var memoryKinds = []memoryKind{
	{"buffers", []string{"buffer_pages_mean"}, toneBlue},
	{"page tables", []string{"page_table_bytes"}, toneOrange},
	{"rings", []string{"ring_bytes"}, toneGreen},
	{"sockets", []string{"socket_bytes_mean", "socket_bytes_peak"}, tonePurple},
}

// pinnedMetric is shown apart: what is pinned is rings and registered buffers,
// which the parts count already.
const pinnedMetric = "pinned_bytes"

// objectsMetric is shown apart, too: it counts slab objects of the whole machine,
// for each client already, and what waits in sockets may lie in such objects.
const objectsMetric = "kernel_bytes_per_client"

// memoryPart is one part of a client's memory; why is set where it is unknown.
type memoryPart struct {
	name  string
	tone  tone
	bytes float64
	why   string
}

// memoryShare is what a case holds for one client: the medians of its metrics
// over the number of clients. It is derived, not measured.
type memoryShare struct {
	parts  []memoryPart // one for each of memoryKinds
	total  float64      // of the known parts, bytes
	pinned memoryPart
	// objects is measured for each client; few machines tell it.
	objects memoryPart
}

// known reports whether any part has a value.
func (m *memoryShare) known() bool {
	return slices.ContainsFunc(m.parts, func(p memoryPart) bool { return p.why == "" })
}

// whole reports whether all parts have a value: only then is the total one.
func (m *memoryShare) whole() bool {
	return !slices.ContainsFunc(m.parts, func(p memoryPart) bool { return p.why != "" })
}

// clientsOf is the number of clients of a point; false for kinds of work
// without clients.
func clientsOf(p *analyze.Point) (int, bool) {
	n := p.Info.Workload.Clients
	return n, n > 0
}

// pageSize is the page size of the machine measured on, in bytes; 0 if unknown.
func pageSize(s *analyze.Scenario) float64 {
	v, _ := s.Environment.Get("page_size")
	n, err := strconv.ParseUint(v, 10, 32)
	if err != nil {
		return 0
	}
	return float64(n)
}

// memoryOf divides a case's memory by its clients.
func memoryOf(c *analyze.Case, clients int, page float64) memoryShare {
	var m memoryShare
	for _, k := range memoryKinds {
		p := memoryPart{name: k.name, tone: k.tone}
		for i, metric := range k.metrics {
			v, why := bytesOf(c, metric, page)
			if why == "" {
				p.bytes, p.why = v, ""
				break
			}
			if i == 0 { // the others stand in for it
				p.why = why
			}
		}
		if p.why == "" {
			p.bytes /= float64(clients)
			m.total += p.bytes
		}
		m.parts = append(m.parts, p)
	}
	m.pinned = memoryPart{name: "pinned", tone: toneInk}
	m.pinned.bytes, m.pinned.why = bytesOf(c, pinnedMetric, page)
	m.pinned.bytes /= float64(clients)
	m.objects = memoryPart{name: objectsHead, tone: toneInk}
	m.objects.bytes, m.objects.why = bytesOf(c, objectsMetric, page)
	return m
}

// bytesOf is a metric of memory in bytes, or why there is none.
func bytesOf(c *analyze.Case, metric string, page float64) (bytes float64, why string) {
	cell, ok := c.Cells[metric]
	switch {
	case c.Skip != nil:
		return 0, "not measured"
	case !ok:
		return 0, "no trial reports " + figure.Name(metric)
	case cell.Unavailable != "":
		return 0, cleanText(cell.Unavailable)
	case !plottable(cell.Median, false) || cell.Median < 0:
		return 0, "not a usable figure"
	case cell.Unit != "page":
		return cell.Median, ""
	case page == 0:
		return 0, "the result does not tell the page size"
	}
	return cell.Median * page, ""
}

// perClientNote says what the derived figures under head are.
func perClientNote(head []string) string {
	note := "Not measured as such: medians divided by the number of clients. Buffers are the mean of the counting trials, one message in flight; " +
		"sockets the mean under the scenario's own load; page tables those of the whole process. Pinned memory is that of rings and registered buffers, so it is not added."
	if slices.Contains(head, objectsHead) {
		note += " Nor are kernel objects, which may hold what waits in sockets; those are measured for each client."
	}
	return note
}

const objectsHead = "kernel objects"

// perClientRows gives the derived figures of a point: a header and a row for
// each case with any. It is nil where a single client makes them no news, or no
// memory was sampled.
func perClientRows(s *analyze.Scenario, p *analyze.Point) (head []string, rows [][]clientFigure) {
	clients, ok := clientsOf(p)
	if !ok || clients < 2 || !slices.ContainsFunc(s.Columns, isMemory) {
		return nil, nil
	}
	head = []string{"case"}
	for _, k := range memoryKinds {
		head = append(head, k.name)
	}
	head = append(head, "together", "pinned")
	page := pageSize(s)
	objects := slices.ContainsFunc(p.Cases, func(c analyze.Case) bool { m := memoryOf(&c, clients, page); return m.objects.why == "" })
	if objects {
		head = append(head, objectsHead)
	}
	for i := range p.Cases {
		m := memoryOf(&p.Cases[i], clients, page)
		if !m.known() {
			continue
		}
		row := []clientFigure{{text: caseName(&p.Cases[i])}}
		for _, part := range m.parts {
			row = append(row, bytesFigure(part.bytes, part.why == ""))
		}
		row = append(row, bytesFigure(m.total, m.whole()), bytesFigure(m.pinned.bytes, m.pinned.why == ""))
		if objects {
			row = append(row, bytesFigure(m.objects.bytes, m.objects.why == ""))
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return head, rows
}

// clientFigure is a cell of the figures per client: a name, or bytes.
type clientFigure struct {
	text  string
	v     float64
	known bool
}

func bytesFigure(v float64, known bool) clientFigure {
	if !known {
		return clientFigure{text: "n/a"}
	}
	return clientFigure{figure.Format(v, "B"), v, true}
}

// isMemory reports whether a metric tells of memory held.
func isMemory(metric string) bool {
	return metric == pinnedMetric || strings.HasPrefix(metric, "buffer_pages_") ||
		slices.ContainsFunc(memoryKinds, func(k memoryKind) bool { return slices.Contains(k.metrics, metric) })
}
