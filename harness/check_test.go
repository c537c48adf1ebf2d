package harness

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/scenarios"
)

// place is line and column of a text's first occurrence.
func place(t *testing.T, text, part string) string {
	t.Helper()
	at := strings.Index(text, part)
	if at < 0 {
		t.Fatalf("%q is not in the scenario", part)
	}
	before := text[:at]
	return fmt.Sprintf("%d:%d", strings.Count(before, "\n")+1, at-strings.LastIndex(before, "\n"))
}

func TestCheckRefuses(t *testing.T) {
	const claim = "    a: {name: alpha, params: {chunk: 1KiB}}"
	for _, c := range []struct {
		name    string
		edit    []string
		at      string // the text the error must stand at
		says    string
		suggest string
	}{
		{"unknown strategy", []string{"  - name: beta", "  - name: betta\n  - name: beta"}, "betta", `unknown strategy "betta"`, "beta"},
		{"unknown param", []string{"{chunk: [1KiB, 4KiB]}", "{chunk: [1KiB, 4KiB], chnk: 1KiB}"}, "chnk", "no param", "chunk"},
		{"param of one without any", []string{"  - name: beta", "  - name: beta\n    params: {size: 1}"}, "size:", "it has none", ""},
		{"bad value", []string{"[1KiB, 4KiB]", "[1KiB, 4KiB, 4KB!]"}, "4KB!", "param chunk of alpha", ""},
		{"bad single value", []string{"{chunk: [1KiB, 4KiB]}", "{chunk: [1KiB, 4KiB], mode: calmer}"}, "calmer", "calmer", ""},
		{"zero bytes", []string{"[1KiB, 4KiB]", "[1KiB, 4KiB, 0B]"}, "0B", "at least one byte", ""},
		{"negative number", []string{"{chunk: [1KiB, 4KiB]}", "{chunk: [1KiB, 4KiB], entries: -2}"}, "-2", "positive", ""},
		{"not a switch", []string{"{chunk: [1KiB, 4KiB]}", "{chunk: [1KiB, 4KiB], multishot: yes}"}, "yes", "neither true nor false", ""},
		{"the same case spelled twice", []string{"[1KiB, 4KiB]", "[1KiB, 4KiB, 4096]"}, "name: alpha", "is the same as alpha{chunk=4KiB}", ""},
		{"the default spelled out", []string{"  - name: beta", "  - name: alpha\n  - name: beta"}, "name: alpha\n  - name: beta", "is the same as alpha{chunk=4KiB}", ""},
		{"does not fit", []string{"  - name: beta", "  - name: fussy\n    params: {chunk: 9KiB}\n  - name: beta"}, "name: fussy", "fussy{chunk=9KiB}@clients=1,sizes=fixed(64B) does not fit: a chunk of 9216 bytes", ""},
		{"baseline of no case", []string{"baseline: {name: beta}", "baseline: {name: alpha}"}, "baseline", "alpha may be any of alpha{chunk=1KiB}, alpha{chunk=4KiB}: give", ""},
		{"baseline of another value", []string{"baseline: {name: beta}", "baseline: {name: alpha, params: {chunk: 2KiB}}"}, "baseline", "alpha{chunk=2KiB} is not", ""},
		{"baseline of an unknown param", []string{"baseline: {name: beta}", "baseline: {name: beta, params: {size: 1}}"}, "baseline", `no param "size"`, ""},
		{"metric", []string{"[latency_p50, go_allocs]", "[latency_p50, go_alocs]"}, "go_alocs", `unknown metric "go_alocs"`, "go_allocs"},
		{"metric of the headline", []string{"  metrics: [latency_p50]", "  metrics: [latency_p5]"}, "latency_p5]", "unknown metric", "latency_p50"},
		{"metric of a claim", []string{"metric: latency_p50", "metric: latency_p51"}, "latency_p51", "unknown metric", "latency_p50"},
		{"case of a claim", []string{claim, strings.Replace(claim, "1KiB", "2KiB", 1)}, "a: {name: alpha, params: {chunk: 2KiB", "alpha{chunk=2KiB} is not one of", ""},
		{"other case of a claim", []string{"    b: {name: beta}\n    expect", "    b: {name: alpha, params: {mode: calm}}\n    expect"}, "b: {name: alpha", "alpha{mode=calm} may be any of", ""},
		{"case of the headline", []string{"  a: {name: alpha, params: {chunk: 4KiB}}\n", "  a: {name: alpha}\n"}, "a: {name: alpha}\n", "alpha may be any of", ""},
		{"point of a claim", []string{"    expect: less", "    expect: less\n    at: clients=4,sizes=fixed(65B)"}, "clients=4,sizes=fixed(65B)", "unknown point", "clients=4,sizes=fixed(64B)"},
		{"case of a bound", []string{"    expect: less\n    by: 10%", "    expect: less\n    by: 10%\n  - {id: b, text: b, kind: bound, metric: go_allocs, a: {name: alpha}, expect: less, by: 1}"}, "a: {name: alpha}, expect", "alpha may be any of", ""},
		{"metric of a bound", []string{"    expect: less\n    by: 10%", "    expect: less\n    by: 10%\n  - {id: b, text: b, kind: bound, metric: allocs, a: {name: beta}, expect: less, by: 1}"}, "allocs, a:", "unknown metric", "go_allocs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := edited(t, c.edit...)
			_, err := NewPlan(parsed(t, text), testRegistry(), PlanOptions{})
			var bad *scenarios.Error
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want a *scenarios.Error", err)
			}
			if got, want := fmt.Sprintf("%d:%d", bad.Line, bad.Col), place(t, text, c.at); got != want {
				t.Errorf("%v: at %s, want %s", err, got, want)
			}
			if !strings.HasPrefix(err.Error(), "t.yaml:") || !strings.Contains(bad.Msg, c.says) || bad.Suggest != c.suggest {
				t.Errorf("%v: want %q, suggesting %q", err, c.says, c.suggest)
			}
		})
	}
}

// claims makes a scenario text with so many timed claims.
func claims(t *testing.T, n int, alpha string, blocks int) string {
	text := edited(t, "blocks: 6, messages", fmt.Sprintf("blocks: %d, alpha: %s, messages", blocks, alpha))
	head, tail, _ := strings.Cut(text, "claims:\n")
	one, smoke, _ := strings.Cut(tail, "smoke:\n")
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Replace(one, "faster", fmt.Sprintf("faster%d", i), 1))
	}
	if n == 0 {
		return head + "smoke:\n" + smoke
	}
	return head + "claims:\n" + b.String() + "smoke:\n" + smoke
}

// The fewest blocks with 2^(1-n) * m <= alpha, worked out by hand.
func TestCheckPower(t *testing.T) {
	for _, c := range []struct {
		claims int
		alpha  string
		least  int
	}{
		{1, "0.05", 6}, {1, "0.0625", 5}, {1, "0.0624", 6}, {1, "0.5", 2}, {2, "0.05", 7}, {4, "0.05", 8}, {6, "0.05", 8}, {7, "0.05", 9}, {25, "0.05", 10}, {26, "0.05", 11}, {1, "0.001", 11},
	} {
		for blocks, good := range map[int]bool{c.least - 1: false, c.least: true} {
			text := claims(t, c.claims, c.alpha, blocks)
			_, err := NewPlan(parsed(t, text), testRegistry(), PlanOptions{})
			var bad *scenarios.Error
			switch {
			case good && err != nil:
				t.Errorf("%d claims at %s, %d blocks: %v", c.claims, c.alpha, blocks, err)
			case !good && !errors.As(err, &bad):
				t.Errorf("%d claims at %s, %d blocks: error %v", c.claims, c.alpha, blocks, err)
			case !good && (!strings.Contains(bad.Msg, fmt.Sprintf("use at least %d blocks", c.least)) || fmt.Sprintf("%d:%d", bad.Line, bad.Col) != place(t, text, fmt.Sprintf("%d, alpha", blocks))):
				t.Errorf("%d claims at %s, %d blocks: %v", c.claims, c.alpha, blocks, err)
			}
			// What is given on the command line counts.
			_, err = NewPlan(parsed(t, claims(t, c.claims, c.alpha, 1000)), testRegistry(), PlanOptions{Blocks: blocks})
			if (err == nil) != good {
				t.Errorf("%d claims at %s, --blocks %d: %v", c.claims, c.alpha, blocks, err)
			}
		}
	}
}

func TestCheckPowerOnlyOfTimedClaims(t *testing.T) {
	counts := strings.Replace(claims(t, 3, "0.05", 1), "metric: latency_p50", "metric: go_allocs", 3)
	smoke, err := parsed(t, claims(t, 3, "0.05", 20)).Smoke()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		sc   *scenarios.Scenario
		o    PlanOptions
		good bool
	}{
		"counts":       {parsed(t, counts), PlanOptions{}, true},
		"no claims":    {parsed(t, claims(t, 0, "0.05", 1)), PlanOptions{}, true},
		"smoke":        {smoke, PlanOptions{}, true},
		"counts only":  {parsed(t, claims(t, 3, "0.05", 1)), PlanOptions{OnlyCounts: true}, true},
		"timed claims": {parsed(t, claims(t, 3, "0.05", 1)), PlanOptions{}, false},
	} {
		if _, err := NewPlan(c.sc, testRegistry(), c.o); (err == nil) != c.good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParamCanonical(t *testing.T) {
	s, _ := testRegistry().Find("alpha")
	for _, c := range []struct{ name, given, want string }{
		{"chunk", "4096", "4KiB"}, {"chunk", "4096B", "4KiB"}, {"chunk", "1500B", "1500B"}, {"chunk", "auto", ""},
		{"entries", "auto", "auto"}, {"entries", "08", "8"}, {"entries", "2147483648", ""}, {"entries", "two", ""},
		{"mode", "eager", "eager"}, {"mode", "Eager", ""}, {"multishot", "false", "false"}, {"multishot", "1", ""},
	} {
		v, err := s.Complete(map[string]string{c.name: c.given})
		if (err == nil) != (c.want != "") || err == nil && v[c.name] != c.want {
			t.Errorf("%s=%s: %q, %v; want %q", c.name, c.given, v[c.name], err, c.want)
		}
	}
	v, err := s.Complete(nil)
	if err != nil || v.Bytes("chunk", 1) != 4096 || v.Int("entries", 7) != 7 || v.Text("mode") != "calm" || !v.Bool("multishot") {
		t.Errorf("defaults %v, %v", v, err)
	}
}

// A reference may leave out params as long as it means one case.
func TestReferencesByTheParamsThatTellCasesApart(t *testing.T) {
	one := []string{"{chunk: [1KiB, 4KiB]}", "{chunk: 4KiB}", "a: {name: alpha, params: {chunk: 4KiB}}", "a: {name: alpha}", "a: {name: alpha, params: {chunk: 1KiB}}", "a: {name: alpha}"}
	p := planned(t, edited(t, one...), PlanOptions{})
	if got := p.resolved["alpha"]; got != "alpha{chunk=4KiB}" {
		t.Errorf("alpha means %q", got)
	}
	_, err := NewPlan(parsed(t, edited(t, one[2:4]...)), testRegistry(), PlanOptions{})
	if err == nil || !strings.Contains(err.Error(), "alpha may be any of alpha{chunk=1KiB}, alpha{chunk=4KiB}: give the params") {
		t.Errorf("a reference to two cases: %v", err)
	}
}
