package render

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/zcbench/zcbench/report/analyze"
)

// The elements of a JUnit report, in the order the common schemas ask for.
// There is no standard; these members satisfy those of Ant and Jenkins alike.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		ID         int             `xml:"id,attr"`
		Name       string          `xml:"name,attr"`
		Package    string          `xml:"package,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Hostname   string          `xml:"hostname,attr"`
		Properties junitProperties `xml:"properties"`
		Cases      []junitCase     `xml:"testcase"`
		Out        string          `xml:"system-out"`
		Err        string          `xml:"system-err"`
	}
	junitProperties struct {
		List []junitProperty `xml:"property"`
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string        `xml:"name,attr"`
		ClassName string        `xml:"classname,attr"`
		Time      string        `xml:"time,attr"`
		Failure   *junitProblem `xml:"failure,omitempty"`
		Skipped   *junitSkip    `xml:"skipped,omitempty"`
	}
	junitProblem struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	junitSkip struct {
		Message string `xml:"message,attr"`
	}
)

// CompareJUnit writes a comparison as a JUnit report: a suite for each
// scenario, a test case for each metric of a case and each claim that changed.
// What fails the gate is a failure; what cannot be told is skipped.
func CompareJUnit(w io.Writer, c *analyze.Comparison, g analyze.Gate, _ Options) error {
	doc := junitSuites{Name: "zcbench compare", Time: "0"}
	for i := range c.Scenarios {
		suite := junitScenario(&c.Scenarios[i], g)
		suite.ID = i
		doc.Tests, doc.Failures = doc.Tests+suite.Tests, doc.Failures+suite.Failures
		doc.Suites = append(doc.Suites, suite)
	}
	out, err := xml.MarshalIndent(doc, "", "  ")
	if err == nil {
		_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, out)
	}
	if err != nil {
		return fmt.Errorf("write JUnit report: %w", err)
	}
	return nil
}

func junitScenario(s *analyze.ScenarioDiff, g analyze.Gate) junitSuite {
	suite := junitSuite{Name: Sanitize(s.Name), Package: "zcbench", Time: "0", Timestamp: "1970-01-01T00:00:00", Hostname: "localhost"}
	if s.New != nil && !s.New.Started.IsZero() {
		suite.Timestamp = s.New.Started.UTC().Format("2006-01-02T15:04:05")
	}
	for _, it := range s.Environment {
		v := it.Value
		if it.Unavailable != "" {
			v = "unavailable: " + it.Unavailable
		}
		suite.Properties.List = append(suite.Properties.List, junitProperty{Sanitize(it.Key), Sanitize(v)})
	}
	for i := range s.Diffs {
		suite.add(junitDelta(s, &s.Diffs[i], g))
	}
	for _, d := range s.Claims {
		suite.add(junitClaim(s, d, g))
	}
	lines := append(sideNames(s), howWords(s))
	for _, n := range s.Notes {
		lines = append(lines, levelWords[n.Level]+": "+n.Text)
	}
	for _, l := range lines {
		if l != "" {
			suite.Out += Sanitize(l) + "\n"
		}
	}
	return suite
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func junitDelta(s *analyze.ScenarioDiff, d *analyze.Delta, g analyze.Gate) junitCase {
	name := d.Metric
	if name == "" {
		name = "(all metrics)"
	}
	c := junitCase{Name: Sanitize(name), ClassName: Sanitize(s.Name + "." + d.ID), Time: "0"}
	words := deltaWords(d)
	switch {
	case g.Fails(d.Outcome):
		c.Failure = &junitProblem{Message: Sanitize(words), Type: string(d.Outcome), Text: Sanitize(d.Title() + ": " + words)}
	case d.Outcome == analyze.Inconclusive || d.Outcome == analyze.Vanished:
		c.Skipped = &junitSkip{Message: Sanitize(words)}
	}
	return c
}

func junitClaim(s *analyze.ScenarioDiff, d analyze.ClaimDiff, g analyze.Gate) junitCase {
	c := junitCase{Name: Sanitize(d.ID), ClassName: Sanitize(s.Name + ".claims"), Time: "0"}
	if g.FailsClaim(d) {
		c.Failure = &junitProblem{Message: Sanitize(claimChange(d)), Type: "flipped", Text: Sanitize(d.Text + " " + d.Reason)}
	}
	return c
}

// deltaWords tells one change in a sentence: "regressed: 0 -> 1, exact".
func deltaWords(d *analyze.Delta) string {
	parts := []string{string(d.Outcome)}
	if d.Base != nil || d.New != nil {
		base, next := deltaSides(d)
		parts = append(parts, base+" -> "+next)
	}
	if e := deltaEffect(d); e != "" {
		parts = append(parts, e)
	}
	words := strings.Join(parts, ", ")
	if d.Reason != "" {
		words += "; " + d.Reason
	}
	return words
}
