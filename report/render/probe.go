package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/zcbench/zcbench/harness/record"
)

// probeSections are the sorts of findings in the order they are shown.
var probeSections = []struct {
	sort  record.Sort
	title string
}{
	{record.FeatureFound, "Features"},
	{record.LimitFound, "Limits, found by trying"},
	{record.FaultFound, "Known faults of the kernel and of libraries"},
	{record.CopyPointFound, "Copy points: when the caller's buffer is read"},
}

// probeTones: green for what one would want, red for what does harm.
var probeTones = map[record.FindingVerdict]textTone{
	record.Supported: toneGood, record.Absent: toneGood, record.Present: toneBad,
	record.Unsupported: toneWarn, record.Inconclusive: toneWarn, record.Untestable: toneFaint,
	record.LimitIs: toneStrong, record.ReadAtCall: toneStrong, record.ReadAtPost: toneStrong, record.ReadAtBuild: toneStrong, record.ReadLater: toneStrong,
}

// Probe writes the findings of a probe for a terminal, grouped by sort: a line
// with the verdict for each, below it what it rests on.
func Probe(w io.Writer, p *record.Probe, o Options) error {
	bw := bufio.NewWriter(w)
	when := ""
	if !p.Time.IsZero() {
		when = ", " + p.Time.UTC().Format(time.DateTime) + " UTC"
	}
	bw.WriteString(o.paint(toneFaint, indented("", "  ", o.text("kernel "+p.Kernel+when+": "+probeTally(p)), o.width())))
	for _, s := range probeSections {
		var of []record.Finding
		for _, f := range p.Findings {
			if f.Sort == s.sort {
				of = append(of, f)
			}
		}
		if len(of) > 0 {
			bw.WriteString("\n" + o.paint(toneStrong, indented("", "  ", o.text(s.title), o.width())))
			bw.WriteString(findingRows(of, o))
		}
	}
	return bw.Flush()
}

// probeTally counts the verdicts that need looking at.
func probeTally(p *record.Probe) string {
	n := map[record.FindingVerdict]int{}
	for _, f := range p.Findings {
		n[f.Verdict]++
	}
	words := countOf(len(p.Findings), "finding")
	for _, v := range []record.FindingVerdict{record.Unsupported, record.Present, record.Inconclusive, record.Untestable} {
		if n[v] > 0 {
			words += fmt.Sprintf(", %d %s", n[v], v)
		}
	}
	return words
}

const (
	probeNameMost = 28 // columns of a name beside its verdict
	probeNarrow   = 50 // lines below this have the verdict under the name
)

func findingRows(list []record.Finding, o Options) string {
	width := 0
	for _, f := range list {
		if w := textWidth(o.text(f.Name)); w <= probeNameMost {
			width = max(width, w)
		}
	}
	var b strings.Builder
	for _, f := range list {
		b.WriteString(findingRow(f, width, o))
	}
	return b.String()
}

func findingRow(f record.Finding, width int, o Options) string {
	name, verdict := o.text(f.Name), o.text(findingWords(f))
	var b strings.Builder
	room := o.width() - width - 4
	if pad := width - textWidth(name); pad >= 0 && o.width() >= probeNarrow {
		for i, l := range wrapText(verdict, room) {
			head := strings.Repeat(" ", width)
			if i == 0 {
				head = name + strings.Repeat(" ", pad)
			}
			b.WriteString("  " + head + "  " + o.paint(probeTones[f.Verdict], l) + "\n")
		}
	} else {
		b.WriteString(indented("  ", "  ", name, o.width()))
		b.WriteString(o.paint(probeTones[f.Verdict], indented("    ", "    ", verdict, o.width())))
	}
	for _, d := range probeDetails(f) {
		b.WriteString(indented("    ", "      ", o.text(d), o.width()))
	}
	if f.Source != "" {
		b.WriteString(o.paint(toneFaint, indented("    source: ", "      ", o.text(f.Source), o.width())))
	}
	return b.String()
}

// findingWords is the verdict of a finding, or its figure, with the reason.
func findingWords(f record.Finding) string {
	words := string(f.Verdict)
	if f.Verdict == record.LimitIs {
		words = limitWords(f)
	}
	if f.Class != "" {
		words += " (" + f.Class + ")"
	}
	if f.Reason != "" {
		words += ": " + f.Reason
	}
	return words
}

func probeDetails(f record.Finding) []string {
	var out []string
	if f.Evidence != "" {
		out = append(out, "seen: "+f.Evidence)
	}
	if len(f.Steps) > 0 {
		var steps []string
		for _, s := range f.Steps {
			steps = append(steps, fmt.Sprintf("%s %d of %d", s.Name, s.Arrived, s.Changed))
		}
		out = append(out, "changes that arrived: "+strings.Join(steps, "; "))
	}
	if f.Verdict == record.Present && len(f.Affects) > 0 {
		out = append(out, "makes wrong: "+strings.Join(f.Affects, "; "))
	}
	if f.Help != "" {
		out = append(out, f.Help)
	}
	return out
}
