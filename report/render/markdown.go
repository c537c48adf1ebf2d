package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
)

// Markdown writes the report in GitHub's dialect, fit for the summary of a CI
// job; several scenarios begin with one table of claims and verdicts. Text from files is escaped: it can neither break a table nor become
// markup. Of the options only ASCII matters.
func Markdown(w io.Writer, r *analyze.Report, o Options) error {
	bw := bufio.NewWriter(w)
	if text := markdownVerdicts(r, o); text != "" && len(r.Scenarios) > 1 {
		bw.WriteString(text + "\n---\n\n")
	}
	for i := range r.Scenarios {
		if i > 0 {
			bw.WriteString("\n---\n\n")
		}
		bw.WriteString(markdownScenario(&r.Scenarios[i], o))
	}
	return bw.Flush()
}

// md is text from a file as markdown that shows just that text.
func (o Options) md(s string) string { return escapeMarkdown(o.text(s)) }

// markdownSpecial holds what starts markup somewhere in GitHub's dialect, HTML,
// mathematics and mentions included. All of ASCII punctuation may be escaped.
const markdownSpecial = "\\`*_[]<>|~$#@&"

func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@' || r == '$': // a backslash does not stop mentions and formulas
			fmt.Fprintf(&b, "&#%d;", r)
		case strings.ContainsRune(markdownSpecial, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	// A bare address would become a link.
	return strings.NewReplacer("://", "&#58;//", "www.", "www&#46;").Replace(b.String())
}

// escapeStart keeps a text that begins a line from becoming a list or a rule.
func escapeStart(s string) string {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case s == "":
	case strings.IndexByte("-+=", s[0]) >= 0:
		return "\\" + s
	case digits > 0 && digits < len(s) && strings.IndexByte(".)", s[digits]) >= 0:
		return s[:digits] + "\\" + s[digits:]
	}
	return s
}

func markdownScenario(s *analyze.Scenario, o Options) string {
	var b strings.Builder
	title := s.Info.Title
	if title == "" {
		title = s.Info.Name
	}
	fmt.Fprintf(&b, "## %s\n", o.md(title))
	paragraph := func(text string) {
		if text != "" {
			b.WriteString("\n" + text + "\n")
		}
	}
	paragraph(escapeStart(o.md(s.Info.Question)))
	if s.Headline != "" {
		paragraph("**" + o.md(s.Headline) + "**")
	}
	for i := range s.Points {
		p := &s.Points[i]
		if len(s.Points) > 1 {
			paragraph("### " + o.md(p.Name))
		}
		paragraph(strings.TrimSuffix(markdownTable(s, p, o), "\n"))
		paragraph(strings.TrimSuffix(markdownClients(s, p, o), "\n"))
	}
	paragraph(o.md(ReadingNote))
	for _, n := range missingWords(s) {
		paragraph("n/a: " + o.md(n))
	}
	for _, section := range []string{markdownClaims(s, o), markdownWarnings(s, o), markdownSkips(s, o)} {
		paragraph(strings.TrimSuffix(section, "\n"))
	}
	small := []string{o.md(runWords(s))}
	for _, words := range []string{machineWords(s.Environment), s.Steady.Summary} {
		if words != "" {
			small = append(small, o.md(sentence(words)))
		}
	}
	paragraph("<sub>" + strings.Join(small, "<br>") + "</sub>")
	return b.String()
}

func markdownTable(s *analyze.Scenario, p *analyze.Point, o Options) string {
	var b strings.Builder
	row := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	head, rule := []string{"case"}, []string{"---"}
	for _, name := range s.Columns {
		head, rule = append(head, o.md(metricTitle(metricOf(s, name)))), append(rule, "---:")
	}
	row(head)
	row(rule)
	for i := range p.Cases {
		c := &p.Cases[i]
		name := o.md(c.Name)
		if c.Info.Baseline {
			name = "**" + name + "**<br>(baseline)"
		}
		for _, m := range c.Marks {
			name += "<br>" + o.md(m)
		}
		cells := []string{name}
		for _, metric := range s.Columns {
			if c.Skip != nil {
				cells = append(cells, "skipped")
				continue
			}
			cells = append(cells, markdownCell(c.Cells[metric], o))
		}
		row(cells)
	}
	return b.String()
}

// markdownClients is what each case holds for a client; empty where there is
// nothing to divide.
func markdownClients(s *analyze.Scenario, p *analyze.Point, o Options) string {
	head, rows := perClientRows(s, p)
	if rows == nil {
		return ""
	}
	clients, _ := clientsOf(p)
	var b strings.Builder
	fmt.Fprintf(&b, "**Memory for each of %d clients, derived.**", clients)
	if p == &s.Points[0] {
		b.WriteString(" " + o.md(perClientNote(head)))
	}
	b.WriteString("\n\n")
	b.WriteString("| " + strings.Join(head, " | ") + " |\n| ---" + strings.Repeat(" | ---:", len(head)-1) + " |\n")
	for _, row := range rows {
		b.WriteString("| " + o.md(row[0].text))
		for _, c := range row[1:] {
			b.WriteString(" | " + c.text)
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// markdownCell is the value with its effect below; an effect told apart from
// none is bold.
func markdownCell(c analyze.Cell, o Options) string {
	if c.Unavailable != "" || c.Metric == "" {
		return "n/a"
	}
	lines := []string{o.md(valueWords(c))}
	if c.Effect != nil {
		effect, interval := effectWords(c.Effect, c.Unit)
		words := o.md(effect)
		if c.Effect.Differs() {
			words = "**" + words + "**"
		}
		lines = append(lines, strings.TrimSpace(words+" "+o.md(interval)))
	}
	for _, m := range c.Marks {
		lines = append(lines, "*"+o.md(m)+"*")
	}
	return strings.Join(lines, "<br>")
}

func markdownClaims(s *analyze.Scenario, o Options) string {
	if len(s.Claims) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("| claim | verdict | why |\n| --- | --- | --- |\n")
	for _, v := range s.Claims {
		verdict := "**" + string(v.Status) + "**"
		if v.Claim.Gate {
			verdict += "<br>(gate)"
		}
		fmt.Fprintf(&b, "| %s: %s | %s | %s |\n", o.md(v.Claim.ID), o.md(v.Claim.Text), verdict, o.md(claimReason(v)))
	}
	return b.String()
}

func markdownWarnings(s *analyze.Scenario, o Options) string {
	var b strings.Builder
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "- **%s:** %s\n", levelWords[w.Level], o.md(w.Text))
	}
	return b.String()
}

func markdownSkips(s *analyze.Scenario, o Options) string {
	var b strings.Builder
	for _, k := range allSkips(s) {
		fmt.Fprintf(&b, "- **skipped:** %s: %s", o.md(k.Case), o.md(k.Reason))
		if k.Remedy != "" {
			b.WriteString("; remedy: " + o.md(k.Remedy))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
