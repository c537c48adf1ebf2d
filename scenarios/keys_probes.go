package scenarios

import (
	"slices"
	"strings"
)

// What a claim about a limit may expect, followed by an amount.
const (
	AtLeast = "at least"
	AtMost  = "at most"
)

// comparisons are what claims about cases expect.
var comparisons = []string{"less", "greater", "same"}

// probeVerdicts are what claims about other findings than limits expect. Whether
// the finding can come to it is for those to check who know the probes.
var probeVerdicts = []string{
	"supported", "unsupported", "present", "absent",
	"read at the call", "read at the post", "read at the build", "read after the post",
}

// findingName reads the name of a metric or of a finding, which has dashes.
func findingName() codec[string] {
	c := name("metric name", paramRule)
	c.schema = schema{"type": "string", "pattern": paramRule.String()}
	return c
}

// expectation reads what a claim of any kind expects.
func expectation() codec[string] {
	words := slices.Concat(comparisons, probeVerdicts)
	s := schema{"anyOf": []schema{{"enum": words}, {"type": "string", "pattern": "^at (least|most) [0-9]"}}}
	return scalarOf("an expectation such as less, supported or at least 4096", s, func(text string) (string, error) {
		if slices.Contains(words, text) {
			return text, nil
		}
		if _, _, bounded := cutBound(text); bounded {
			_, _, err := parseExpected(text)
			return text, err
		}
		return "", &badValue{quote(text) + " is no expectation (known: " + strings.Join(words, ", ") + ", at least AMOUNT, at most AMOUNT)", Nearest(text, words)}
	})
}

// cutBound splits "at least 64KiB".
func cutBound(text string) (bound, amount string, ok bool) {
	for _, b := range []string{AtLeast, AtMost} {
		if rest, found := strings.CutPrefix(text, b+" "); found {
			return b, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

// parseExpected reads what a probe claim expects: a verdict, or a bound and its
// amount.
func parseExpected(text string) (expect string, by float64, err error) {
	bound, amount, ok := cutBound(text)
	if !ok {
		return text, 0, nil
	}
	by, err = parseAmount(amount)
	if err == nil && by < 0 {
		err = badf("%s is below 0", quote(amount))
	}
	return bound, by, err
}

// expects checks that the expectation is one of the claim's kind.
func (c *draft) expects() error {
	compares := slices.Contains(comparisons, c.Expect)
	switch {
	case c.Expect == "" && c.Kind == "probe":
		return badf("a probe claim lacks: expect, a verdict such as supported, or at least or at most an amount")
	case c.Expect == "":
		return badf("a %s claim lacks: expect", c.Kind)
	case compares && c.Kind == "probe":
		return badf("a probe claim expects a verdict such as supported, or at least or at most an amount, not %s", c.Expect)
	case !compares && c.Kind != "probe":
		return badf("a %s claim expects less, greater or same, not %s", c.Kind, quote(c.Expect))
	}
	return nil
}
