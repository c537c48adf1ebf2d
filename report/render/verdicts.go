package render

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"github.com/zcbench/zcbench/report/analyze"
)

// verdictLine is one claim of one result, as the table over all scenarios
// lists it.
type verdictLine struct {
	scenario int    // index into the report
	name     string // of the scenario, with the class where it was measured on several
	verdict  *analyze.Verdict
}

// allVerdicts lists the claims of a report, those of the same scenario measured
// on several machines under each other.
func allVerdicts(r *analyze.Report) []verdictLine {
	var out []verdictLine
	for _, g := range groupsOf(r) {
		if len(g) == 1 {
			s := &r.Scenarios[g[0]]
			for k := range s.Claims {
				out = append(out, verdictLine{g[0], scenarioName(s), &s.Claims[k]})
			}
			continue
		}
		for _, id := range claimIDs(r, g) {
			for _, i := range g {
				s := &r.Scenarios[i]
				for k := range s.Claims {
					if s.Claims[k].Claim.ID == id {
						out = append(out, verdictLine{i, scenarioName(s) + ", " + sideName(r, g, i), &s.Claims[k]})
					}
				}
			}
		}
	}
	return out
}

// groupsOf puts results of the same scenario together, in order.
func groupsOf(r *analyze.Report) [][]int {
	at := map[string]int{}
	var out [][]int
	for i := range r.Scenarios {
		name := r.Scenarios[i].Info.Name
		k, ok := at[name]
		if !ok || name == "" {
			at[name] = len(out)
			out = append(out, []int{i})
			continue
		}
		out[k] = append(out[k], i)
	}
	return out
}

// claimIDs lists the claims of a group's results, each once.
func claimIDs(r *analyze.Report, group []int) []string {
	var ids []string
	seen := map[string]bool{}
	for _, i := range group {
		for _, v := range r.Scenarios[i].Claims {
			if !seen[v.Claim.ID] {
				seen[v.Claim.ID] = true
				ids = append(ids, v.Claim.ID)
			}
		}
	}
	return ids
}

// sideName tells a result from the others of its scenario: by the class of its
// machine, else by when it was run, else by its place.
func sideName(r *analyze.Report, group []int, i int) string {
	of := func(i int) string {
		if c := cleanText(r.Scenarios[i].Class); c != "" {
			return c
		}
		return "this kernel"
	}
	name := of(i)
	same, nth := 0, 0
	started := map[string]int{}
	for _, k := range group {
		if of(k) != name {
			continue
		}
		same++
		started[startWords(&r.Scenarios[k])]++
		if k == i {
			nth = same
		}
	}
	switch {
	case same == 1:
		return name
	case started[startWords(&r.Scenarios[i])] == 1:
		return name + ", " + startWords(&r.Scenarios[i])
	}
	return fmt.Sprintf("%s, result %d", name, nth)
}

func startWords(s *analyze.Scenario) string { return s.Started.UTC().Format("2006-01-02 15:04") }

// scenarioName is the name of a scenario, safe to show and never empty.
func scenarioName(s *analyze.Scenario) string {
	if n := cleanText(s.Info.Name); n != "" {
		return n
	}
	return "(no name)"
}

// verdictOrder lists the verdicts, and the order of their counts.
var verdictOrder = []analyze.VerdictStatus{analyze.Supported, analyze.Refuted, analyze.Undecided, analyze.NotMeasurable}

// verdictCounts says how many claims came out how: "3 supported, 1 refuted".
func verdictCounts(lines []verdictLine) string {
	n := map[analyze.VerdictStatus]int{}
	for _, l := range lines {
		n[l.verdict.Status]++
	}
	var parts []string
	for _, s := range verdictOrder {
		if n[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[s], s))
		}
	}
	return strings.Join(parts, ", ")
}

const (
	verdictWidth  = len(analyze.Supported) + 2 // "not measurable here" takes three lines
	claimRoomMin  = 24
	scenarioRoom  = 26
	scenarioShare = 4 // of a crowded line the scenario may take one quarter
)

// verdictsText is the table of claims and verdicts over all scenarios; empty if
// none claims anything.
func verdictsText(r *analyze.Report, o Options) string {
	lines := allVerdicts(r)
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(o.paint(toneStrong, indented("", "", fmt.Sprintf("Claims and verdicts of %s: %s",
		countOf(len(r.Scenarios), "result"), verdictCounts(lines)), o.width())))
	b.WriteByte('\n')
	names := min(scenarioRoom, o.width()/scenarioShare)
	claims := min(o.width()-verdictWidth-names-3*(cellPadding+1), 90)
	if claims < claimRoomMin {
		for _, l := range lines {
			b.WriteString(o.paint(verdictTones[l.verdict.Status], indented("", "  ", o.text("["+verdictWords(l.verdict)+"] "+l.name+": "+l.verdict.Claim.Text), o.width())))
			b.WriteString(indented("  ", "  ", o.text(claimReason(*l.verdict)), o.width()))
		}
		return b.String()
	}
	var buf bytes.Buffer
	t := newTextTable(&buf, []tw.Align{tw.AlignLeft, tw.AlignLeft, tw.AlignLeft}, o.ASCII)
	t.Header([]string{"verdict", "scenario", "claim, and what was found"})
	before := ""
	for _, l := range lines {
		name := ""
		if l.name != before {
			name = strings.Join(wrapText(o.text(l.name), names), "\n")
		}
		before = l.name
		why := o.paint(toneFaint, strings.Join(wrapText(o.text(claimReason(*l.verdict)), claims), "\n"))
		row := []string{
			o.paint(verdictTones[l.verdict.Status], strings.Join(wrapText(verdictWords(l.verdict), verdictWidth), "\n")), name,
			strings.Join(wrapText(o.text(l.verdict.Claim.Text), claims), "\n") + "\n" + why,
		}
		if err := t.Append(row); err != nil {
			return "table: " + err.Error() + "\n"
		}
	}
	if err := t.Render(); err != nil {
		return "table: " + err.Error() + "\n"
	}
	return b.String() + trimLines(buf.String())
}

// verdictWords is a verdict with the mark of a claim that gates.
func verdictWords(v *analyze.Verdict) string {
	if v.Claim.Gate {
		return string(v.Status) + ", gate"
	}
	return string(v.Status)
}

// markdownVerdicts is the same table in markdown.
func markdownVerdicts(r *analyze.Report, o Options) string {
	lines := allVerdicts(r)
	if len(lines) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Claims and verdicts\n\n%s.\n\n| scenario | claim | verdict | why |\n| --- | --- | --- | --- |\n", verdictCounts(lines))
	for _, l := range lines {
		verdict := "**" + string(l.verdict.Status) + "**"
		if l.verdict.Claim.Gate {
			verdict += "<br>(gate)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", o.md(l.name), o.md(l.verdict.Claim.Text), verdict, o.md(claimReason(*l.verdict)))
	}
	return b.String()
}
