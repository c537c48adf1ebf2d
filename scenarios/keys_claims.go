package scenarios

import "github.com/goccy/go-yaml/ast"

// draft is a claim before its kind decided what it needs.
type draft struct {
	Claim
	by string // as written: its meaning depends on stat
}

// claim reads a claim and checks that it says what its kind needs, no more.
func claim() codec[Claim] {
	c := object(claimKeys)
	return codec[Claim]{c.schema, func(d *decoder, path string, n ast.Node) (Claim, bool) {
		v, ok := c.decode(d, path, n)
		if !ok {
			return Claim{}, false
		}
		v.fill()
		at, err := v.complete()
		if err == nil {
			at, err = "by", v.settle()
		}
		if err != nil {
			d.failBelow(path, at, err)
		}
		return v.Claim, err == nil
	}}
}

func claimKeys(c *draft) table {
	return table{
		field("id", &c.ID, name("claim id", nameRule), "Required. Short name of the claim, unique in the file."),
		field("text", &c.Text, prose(500, true), "Required. The sentence that is decided."),
		field("source", &c.Source, prose(500, true), "Who says so, or where it was said."),
		field("kind", &c.Kind, oneOf("kind of claim", "compare", "probe", "bound"), "compare (the default): case a against case b. bound: case a against the value by. probe: what zcbench probe finds on this machine, decided by its verdict or its figure."),
		field("metric", &c.Metric, findingName(), "Required. The one metric that decides it; for probe the name of a finding, as zcbench probe shows it."),
		field("a", &c.A, caseRef(), "The case the claim is about."),
		field("b", &c.B, caseRef(), "The case it is compared with."),
		field("at", &c.At, prose(500, false), "The point it is decided at, or all (the default): every point."),
		field("stat", &c.Stat, oneOf("stat", "ratio", "diff"), "ratio (the default): a/b. diff: a-b, in the metric's base unit."),
		field("expect", &c.Expect, expectation(), "What a is expected to be, against b: less, greater or same. For probe the finding's verdict, such as supported, present or read at the post, or at least or at most an amount."),
		field("by", &c.by, amount(), "By how much at least (less, greater) or at most (same): a share such as 10% for ratio; a number, time or size for diff and bound."),
		field("needs", &c.Needs, oneOf("class", "any", "hardware", "soft", "guest"), "The class of machine that can decide it. Default any."),
		field("gate", &c.Gate, boolean(), "Whether a refuted claim fails the run with exit status 1. Default false."),
	}
}

// amount keeps the text of a quantity whose unit is not known yet.
func amount() codec[string] {
	return scalarOf("an amount such as 10% or 2ms", schema{"type": []string{"string", "number"}}, func(text string) (string, error) {
		return text, nil
	})
}

// fill sets what was left out to its default.
func (c *draft) fill() {
	if c.Needs == "any" {
		c.Needs = ""
	}
	if c.Kind == "" {
		c.Kind = "compare"
	}
	if c.Kind == "compare" && c.Stat == "" {
		c.Stat = "ratio"
	}
	if c.Kind != "probe" && c.At == "" {
		c.At = "all"
	}
}

// complete checks that the keys the kind needs are given, and no others.
func (c *draft) complete() (at string, err error) {
	rules := []struct {
		key            string
		given          bool
		compare, bound bool // the kinds that need it
	}{
		{"a", c.A.Strategy != "", true, true},
		{"b", c.B.Strategy != "", true, false},
		{"by", c.by != "", true, true},
	}
	for _, r := range rules {
		needed := c.Kind == "compare" && r.compare || c.Kind == "bound" && r.bound
		if needed && !r.given {
			return "", badf("a %s claim lacks: %s", c.Kind, r.key)
		}
		if !needed && r.given {
			return r.key, badf("a %s claim takes no %s", c.Kind, r.key)
		}
	}
	if err := c.expects(); err != nil {
		return "expect", err
	}
	switch {
	case c.Stat != "" && c.Kind != "compare":
		return "stat", badf("a %s claim takes no stat", c.Kind)
	case c.At != "" && c.Kind == "probe":
		return "at", badf("a probe claim takes no point")
	case c.Expect == "same" && c.Kind == "bound":
		return "expect", badf("a bound is kept by being less or greater")
	case c.Kind == "compare" && c.A.Label() == c.B.Label():
		return "b", badf("a and b are the same case, %s", c.A.Label())
	}
	return "", nil
}

// settle gives by its meaning.
func (c *draft) settle() (err error) {
	switch {
	case c.Kind == "probe":
		c.Expect, c.By, err = parseExpected(c.Expect)
	case c.Stat == "ratio":
		c.By, err = ParseFraction(c.by)
		if err != nil || c.By <= 0 || c.By >= 1 && c.Expect != "greater" || c.By > 1000 {
			err = badf("%s is not by how much a ratio can differ: write a share above 0%% and, unless it is greater, below 100%%", quote(c.by))
		}
	default:
		c.By, err = parseAmount(c.by)
		if err == nil && c.By <= 0 {
			err = badf("%s is not above 0", quote(c.by))
		}
	}
	return err
}

// parseAmount reads a plain number, a time as seconds or a size as bytes.
func parseAmount(text string) (float64, error) {
	v, err := parseNumber(text)
	if err == nil {
		return v, nil
	}
	if ns, err := ParseDuration(text); err == nil {
		return float64(ns) / float64(second), nil
	}
	if n, err := ParseBytes(text); err == nil {
		return float64(n), nil
	}
	return 0, badf("%s is not an amount: write a number in the metric's base unit, a time such as 10us or a size such as 4KiB", quote(text))
}
