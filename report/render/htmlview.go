package render

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/report/analyze"
)

func lengthOf(points int) vg.Length { return vg.Length(points) }

// scenarioView is one scenario as the page shows it. Its texts are cleaned;
// the template escapes them.
type scenarioView struct {
	ID, Name, Question, Answer string
	Started, Machine           string
	Flags                      []string
	Errors, Warnings           []warningView
	Verdicts                   []verdictView
	Side                       string // which of several results of the scenario, else empty
	Lead                       *figureView
	Clients                    []clientsView
	Table                      tableView
	Details                    []detailView
	DetailsNote                string
	Figures                    []figureView
	FiguresNotes               []string
	Skips                      []skipView
	Measured, Reading          []string
	Environment                record.Environment
	Probe                      *probeView
	File, Text, Footer         string
}

type warningView struct {
	Level, Text string
	Cases       []string
}

type skipView struct{ Case, Reason, Remedy string }

type verdictView struct {
	Word, Sign, Class  string
	Text, Reason, More string
	Source             string
	Gate               bool
	Points             []string
}

// maxScenarioText bounds the scenario file shown in the page.
const maxScenarioText = 128 << 10

func newScenarioView(s *analyze.Scenario, i int) scenarioView {
	v := scenarioView{
		ID: sectionID(i), Name: scenarioName(s),
		Question: cleanText(s.Info.Question), Answer: answerOf(s),
		Started: s.Started.UTC().Format("2006-01-02 15:04 UTC"), Machine: machine(s.Environment),
		File: cleanText(s.Info.File), Text: cleanLines(s.Info.Text), Footer: footer(s),
		Table: newTable(s), Measured: howMeasured(s), Reading: howToRead(s),
	}
	if v.Question == "" {
		v.Question = cleanText(s.Info.Title)
	}
	if v.Question == "" {
		v.Question = v.Name
	}
	if v.File == "" {
		v.File = "the file as it was run"
	}
	if len(v.Text) > maxScenarioText {
		v.Text = strings.ToValidUTF8(v.Text[:maxScenarioText], "") + "\n... cut: the result file holds it in full"
	}
	v.Flags = flags(s)
	v.Clients = newClients(s)
	v.Details, v.DetailsNote = newDetails(s)
	for _, w := range s.Warnings {
		view := warningView{string(w.Level), cleanText(w.Text), cleanAll(w.Cases)}
		if w.Level == analyze.LevelError {
			v.Errors = append(v.Errors, view)
		}
		v.Warnings = append(v.Warnings, view)
	}
	for _, k := range allSkips(s) {
		v.Skips = append(v.Skips, skipView{cleanText(k.Case), cleanText(k.Reason), cleanText(k.Remedy)})
	}
	v.Probe = newProbe(s.Probe)
	for _, e := range s.Environment {
		v.Environment = append(v.Environment, record.EnvItem{Key: cleanText(e.Key), Value: cleanText(e.Value), Unavailable: cleanText(e.Unavailable)})
	}
	for _, c := range s.Claims {
		v.Verdicts = append(v.Verdicts, newVerdict(c, metricOf(s, c.Claim.Metric).Unit))
	}
	return v
}

// flags are what one must know of the run before any figure of it.
func flags(s *analyze.Scenario) []string {
	var out []string
	if s.Info.Smoke {
		out = append(out, "smoke run: too short to conclude from")
	}
	if !s.Complete {
		out = append(out, "interrupted: the run did not end")
	}
	if s.Counts.Failed > 0 {
		out = append(out, fmt.Sprintf("%d failed trials", s.Counts.Failed))
	}
	return out
}

// machine is where the run was made, in a few words.
func machine(e record.Environment) string {
	var out []string
	if v, ok := e.Get("cpu_model"); ok {
		out = append(out, cleanText(v))
	}
	if v, ok := e.Get("kernel"); ok {
		out = append(out, "kernel "+cleanText(v))
	}
	if v, ok := e.Get(analyze.ClassKey); ok && v != "n/a" {
		out = append(out, "class "+cleanText(v))
	}
	return strings.Join(out, ", ")
}

func footer(s *analyze.Scenario) string {
	f := "zcbench " + cleanText(s.Tool.Version)
	if s.Tool.Commit != "" {
		f += " (" + cleanText(s.Tool.Commit) + ")"
	}
	return f + ", " + cleanText(s.Tool.Go) + ". Rendered from " + cleanText(s.Path) + "."
}

// newVerdict shows a claim; unit is that of its metric.
func newVerdict(c analyze.Verdict, unit string) verdictView {
	v := verdictView{Text: cleanText(c.Claim.Text), Reason: cleanText(c.Reason), Source: cleanText(c.Claim.Source), Gate: c.Claim.Gate}
	switch c.Status {
	case analyze.Supported:
		v.Word, v.Sign, v.Class = "Supported", "✓", "supported"
	case analyze.Refuted:
		v.Word, v.Sign, v.Class = "Refuted", "✗", "refuted"
	case analyze.NotMeasurable:
		v.Word, v.Sign, v.Class = "Not measurable here", "–", "unmeasured"
	default:
		v.Word, v.Sign, v.Class = "Undecided", "?", "undecided"
	}
	if len(c.Points) > 1 {
		for _, p := range c.Points {
			line := cleanText(p.Point) + ": " + string(p.Status)
			if p.Effect != nil {
				value, _ := effectParts(p.Effect, unit)
				line += ", " + value + intervalText(p.Effect, unit)
			}
			if p.Reason != "" {
				line += ". " + cleanText(p.Reason)
			}
			v.Points = append(v.Points, line)
		}
	}
	return v
}

func cleanAll(ss []string) []string {
	var out []string
	for _, s := range ss {
		out = append(out, cleanText(s))
	}
	return out
}
