package scenarios

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// label is the text of a value that is its own label.
func label[T any](v T) string { return fmt.Sprint(v) }

// Label is the canonical text of a distribution: its name if it has one, else
// such as lognormal(2KiB,1.6,max=64KiB). Distinct distributions without names
// have distinct labels; a cdf carries a digest of its points.
func (s Sizes) Label() string {
	if s.Name != "" {
		return s.Name
	}
	var args []string
	switch s.Kind {
	case "fixed":
		args = []string{FormatBytes(s.Bytes)}
	case "uniform":
		return fmt.Sprintf("uniform(%s,%s)", FormatBytes(s.Min), FormatBytes(s.Max))
	case "lognormal":
		args = []string{FormatBytes(s.Median), strconv.FormatFloat(s.Sigma, 'g', -1, 64)}
	case "bimodal":
		args = []string{FormatBytes(s.Small), FormatBytes(s.Large), FormatFraction(s.Share)}
	case "cdf":
		h := sha256.New()
		for _, p := range s.Points {
			fmt.Fprintf(h, "%d:%g;", p.Bytes, p.Cum)
		}
		args = []string{strconv.Itoa(len(s.Points)), fmt.Sprintf("%x", h.Sum(nil)[:6])}
	}
	if s.Min != 0 {
		args = append(args, "min="+FormatBytes(s.Min))
	}
	if s.Max != 0 {
		args = append(args, "max="+FormatBytes(s.Max))
	}
	return s.Kind + "(" + strings.Join(args, ",") + ")"
}

// Label is the canonical text of a load: closed(4), open(50%), open(20000/s).
func (l Load) Label() string {
	switch {
	case l.Mode == "closed":
		return fmt.Sprintf("closed(%d)", l.Depth)
	case l.RateHz != 0:
		return fmt.Sprintf("open(%s)", FormatRate(l.RateHz))
	}
	return fmt.Sprintf("open(%s)", FormatFraction(l.Fraction))
}

// Label is the canonical text of a number of clients: 16 or most(10000).
func (c Clients) Label() string {
	if c.Most {
		return fmt.Sprintf("most(%d)", c.N)
	}
	return strconv.Itoa(c.N)
}

// Label is the canonical text of a traffic: even or quiet(75%,2%).
func (t Traffic) Label() string {
	if t.Quiet == 0 {
		return evenTraffic
	}
	return fmt.Sprintf("quiet(%s,%s)", FormatFraction(t.Quiet), FormatFraction(t.Share))
}

// Label is the canonical text of a hold: 0, 8 (messages), each(4) or 2ms.
func (h Hold) Label() string {
	if h.Each != 0 {
		return fmt.Sprintf("each(%d)", h.Each)
	}
	if h.NS != 0 {
		return FormatDuration(h.NS)
	}
	return strconv.Itoa(h.Messages)
}

// Label is the canonical text of a case: ring-fixed{chunk=4KiB}, the params
// sorted by key, a value quoted where it would be ambiguous.
func (c CaseRef) Label() string {
	if len(c.Params) == 0 {
		return c.Strategy
	}
	var kv []string
	for _, k := range slices.Sorted(maps.Keys(c.Params)) {
		kv = append(kv, k+"="+plain(c.Params[k]))
	}
	return c.Strategy + "{" + strings.Join(kv, ",") + "}"
}

var plainRule = regexp.MustCompile(`^[A-Za-z0-9._/%+:()-]+$`)

func plain(v string) string {
	if plainRule.MatchString(v) {
		return v
	}
	// A case id is cut at its @, so that none may stand in a label.
	return strings.ReplaceAll(strconv.Quote(v), "@", `\x40`)
}

// label tells two uses of strategies apart.
func (s StrategyUse) label() string {
	var kv []string
	for _, k := range slices.Sorted(maps.Keys(s.Params)) {
		kv = append(kv, fmt.Sprintf("%s=%q", k, s.Params[k]))
	}
	if len(s.Command) > 0 {
		kv = append(kv, commandLabel(s.Command))
	}
	if len(kv) == 0 {
		return s.Name
	}
	return s.Name + "{" + strings.Join(kv, ",") + "}"
}

// commandLabel tells the commands of two cases apart.
func commandLabel(command []string) string {
	if len(command) == 0 {
		return ""
	}
	return fmt.Sprintf("command=%q", command)
}

// count is the number of cases the lists of the params multiply to.
func (s StrategyUse) count() int {
	n := 1
	for _, values := range s.Params {
		n = min(n*len(values), maxCases+1)
	}
	return n
}

// Cases multiplies the lists of the params out, the last key in sorted order
// changing fastest.
func (s StrategyUse) Cases() []CaseRef {
	all := []map[string]string{{}}
	for _, k := range slices.Sorted(maps.Keys(s.Params)) {
		var next []map[string]string
		for _, params := range all {
			for _, v := range s.Params[k] {
				m := maps.Clone(params)
				m[k] = v
				next = append(next, m)
			}
		}
		all = next
	}
	refs := make([]CaseRef, len(all))
	for i, m := range all {
		refs[i] = CaseRef{Strategy: s.Name, Params: m}
	}
	return refs
}
