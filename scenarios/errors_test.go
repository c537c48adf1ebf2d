package scenarios

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// base is a scenario that uses every key once.
const base = `schema: zcbench/v1
name: demo
title: A demonstration
question: Does it work?
kind: receive
workload:
  transport: tcp
  clients: [1, 16]
  sizes: {lognormal: {median: 2KiB, sigma: 1.6, max: 64KiB}}
  budget: 256KiB
  load: {open: 50%}
  hold: 0
  assembly: contiguous
  touch: header
strategies:
  - name: ring-fixed
    params: {chunk: [4KiB, 64KiB]}
  - name: ring-inc
  - {name: exec, command: [./mine, -v, -v]}
baseline: {name: ring-fixed, params: {chunk: 4KiB}}
measure: {blocks: 10, messages: 20000, counting_messages: 4000, verify_messages: 2000, counting_trials: 3, alpha: 0.05, timeout: 30s}
metrics: [latency_p99, cpu_per_msg]
headline: {a: {name: ring-inc}, b: {name: ring-fixed, params: {chunk: 64KiB}}, metrics: [latency_p99], plot: residency}
claims:
  - {id: one, text: It is less., source: me, kind: compare, metric: wasted_bytes, a: {name: ring-inc}, b: {name: ring-fixed}, at: all, stat: ratio, expect: less, by: 10%, needs: any, gate: false}
smoke:
  measure: {blocks: 2, messages: 400}
  workload: {clients: 4}
`

// edited is base with the first old replaced by new.
func edited(t *testing.T, old, new string) string {
	t.Helper()
	return editedOf(t, base, old, new)
}

func editedOf(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the scenario has no %q:\n%s", old, text)
	}
	return strings.Replace(text, old, new, 1)
}

// mustFault parses a faulty text and returns its error.
func mustFault(t *testing.T, text string) *Error {
	t.Helper()
	s, err := Parse("demo.yaml", []byte(text))
	if err == nil {
		t.Fatalf("parsed without error: %+v", s)
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error of type %T, want *Error: %v", err, err)
	}
	if s != nil {
		t.Error("a scenario beside the error")
	}
	return e
}

// faultCase replaces old by new in a text and expects the fault at line:col.
type faultCase struct {
	old, new  string
	line, col int
	msg       string // part of the message
	suggest   string
}

func checkFaults(t *testing.T, cases []faultCase) {
	t.Helper()
	checkFaultsOf(t, base, cases)
}

// checkFaultsOf is checkFaults with another text than base.
func checkFaultsOf(t *testing.T, text string, cases []faultCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.new, func(t *testing.T) {
			e := mustFault(t, editedOf(t, text, c.old, c.new))
			if e.Line != c.line || e.Col != c.col || !strings.Contains(e.Msg, c.msg) || e.Suggest != c.suggest {
				t.Errorf("got %d:%d %q, suggest %q\nwant %d:%d %q, suggest %q", e.Line, e.Col, e.Msg, e.Suggest, c.line, c.col, c.msg, c.suggest)
			}
			if len(e.More) > 0 {
				t.Errorf("one mistake, %d more faults:\n%v", len(e.More), e)
			}
		})
	}
}

func TestBaseParses(t *testing.T) {
	if _, err := Parse("demo.yaml", []byte(base)); err != nil {
		t.Fatal(err)
	}
}

func TestKeyFaults(t *testing.T) {
	checkFaults(t, []faultCase{
		{"title:", "titel:", 3, 1, `unknown key "titel" in the scenario`, "title"},
		{"kind: receive", "kind: receive\nfoo: 1", 6, 1, `unknown key "foo" in the scenario (known: schema, `, ""},
		{"kind: receive", "kind: receive\nblocks: 1", 6, 1, "it belongs in measure", ""},
		{"  clients", "  client", 8, 3, `unknown key "client" in workload`, "clients"},
		{"median:", "medium:", 9, 23, "unknown key", "median"},
		{"{open: 50%}", "{opne: 50%}", 11, 10, "unknown key", "open"},
		{"params: {chunk: [4", "parms: {chunk: [4", 17, 5, `in strategies[0]`, "params"},
		{"gate: false", "gaet: false", 25, 184, "in claims[0]", "gate"},
		{"  workload: {clients: 4}", "  workload: {cleints: 4}", 28, 14, "in smoke.workload", "clients"},
		{"  workload: {clients: 4}", "  claims: []", 28, 3, "in smoke", ""},
		{"title: A demonstration", "title: t\nname: again", 4, 1, `the key "name" is given twice, first on line 2`, ""},
		{"budget: 256KiB", "budget: 256KiB\n  clients: 2", 11, 3, `the key "clients" is given twice, first on line 8`, ""},
		{"{chunk: 4KiB}", "{chunk: 4KiB, chunk: 64KiB}", 20, 52, "twice", ""},
		{"title: A demonstration\n", "", 1, 1, "the scenario lacks: title", ""},
		{"  budget: 256KiB\n", "", 6, 1, "workload lacks: budget", ""},
		{"median: 2KiB, ", "", 9, 11, "workload.sizes.lognormal lacks: median", ""},
		{"by: 10%, ", "", 25, 5, "a compare claim lacks: by", ""},
		{"id: one, ", "", 25, 5, "claims[0] lacks: id", ""},
		{"  - name: ring-inc\n", "  - params: {a: 1}\n", 18, 5, "strategies[1] lacks: name", ""},
		{"{chunk: 4KiB}", "{Chunk: 4KiB}", 20, 39, "not a valid param name", ""},
	})
}

func TestTypeFaults(t *testing.T) {
	checkFaults(t, []faultCase{
		{"clients: [1, 16]", "clients: many", 8, 12, `workload.clients: "many" is not a number`, ""},
		{"clients: [1, 16]", `clients: "16"`, 8, 12, "found text: write it without quotes", "16"},
		{"clients: [1, 16]", "clients:", 8, 11, "expected a whole number from 1 to 20000, found nothing", ""},
		{"clients: [1, 16]", "clients: {most: many}", 8, 19, `"many" is not a number`, ""},
		{"clients: [1, 16]", "clients: [1, [2]]", 8, 16, "found a list", ""},
		{"clients: [1, 16]", "clients: []", 8, 12, "the list is empty", ""},
		{"clients: [1, 16]", "clients: [1, 16, 1]", 8, 20, `"1" is in the list twice, first at workload.clients[0]`, ""},
		{"title: A demonstration", "title: [a]", 3, 8, "expected text, found a list", ""},
		{"title: A demonstration", "title:", 3, 7, "found nothing", ""},
		{"title: A demonstration", `title: ""`, 3, 8, "the text is empty", ""},
		{"title: A demonstration", `title: "a\e[31m"`, 3, 8, "control character U+001B", ""},
		{"title: A demonstration", `title: "a\nb"`, 3, 8, "one line", ""},
		{"name: demo", "name: ../demo", 2, 7, "not a valid scenario name", ""},
		{"kind: receive", "kind: recieve", 5, 7, `"recieve" is no kind`, "receive"},
		{"schema: zcbench/v1", "schema: zcbench/v2", 1, 9, "no schema this zcbench reads", "zcbench/v1"},
		{"assembly: contiguous", "assembly: contigous", 13, 13, "is no assembly", "contiguous"},
		{"transport: tcp", "transport: [tcp, tcp]", 7, 20, "twice", ""},
		{"metrics: [latency_p99, cpu_per_msg]", "metrics: latency_p99", 22, 10, "expected a list", ""},
		{"metrics: [latency_p99, cpu_per_msg]", "metrics: [a, b, a]", 22, 17, "twice", ""},
		{"metrics: [latency_p99, cpu_per_msg]", "metrics: [P99]", 22, 11, "not a valid metric name", ""},
		{"gate: false", "gate: no", 25, 190, "neither true nor false", "false"},
		{"  - name: ring-inc\n", "  - ring-inc\n", 18, 5, `expected keys with values, found "ring-inc"`, ""},
		{"  - name: ring-inc\n", "  -\n", 18, 4, "expected keys with values, found nothing", ""},
		{"plot: residency", "plot: residence", 23, 110, "is no plot", "residency"},
	})
}

func TestNumberFaults(t *testing.T) {
	checkFaults(t, []faultCase{
		{"blocks: 10", "blocks: 010", 21, 19, `"010" has a leading zero, which some programs read as octal`, "10"},
		{"blocks: 10", "blocks: 0x10", 21, 19, "is not a whole number", ""},
		{"blocks: 10", "blocks: 0o17", 21, 19, "is not a whole number", ""},
		{"blocks: 10", "blocks: 1_0", 21, 19, "has an underscore", "10"},
		{"blocks: 10", "blocks: -1", 21, 19, "is negative", ""},
		{"blocks: 10", "blocks: 1001", 21, 19, "1001 is not a whole number from 0 to 1000", ""},
		{"blocks: 10", "blocks: 99999999999999999999", 21, 19, "too large", ""},
		{"blocks: 10", "blocks: 1e1", 21, 19, "is not a whole number", ""},
		{"blocks: 10", "blocks: null", 21, 19, `"null" is not a number`, ""},
		{"sigma: 1.6", "sigma: .nan", 9, 44, `".nan" is not a number`, ""},
		{"sigma: 1.6", "sigma: nan", 9, 44, `"nan" is not a number`, ""},
		{"sigma: 1.6", "sigma: .inf", 9, 44, "not a number", ""},
		{"sigma: 1.6", "sigma: 1e400", 9, 44, "too large", ""},
		{"sigma: 1.6", "sigma: 0", 9, 44, "not above 0", ""},
		{"sigma: 1.6", "sigma: -1", 9, 44, "negative", ""},
		{"budget: 256KiB", "budget: 256kib", 10, 11, `unknown unit "kib"`, "256KiB"},
		{"budget: 256KiB", "budget: 256K", 10, 11, "unknown unit", "256KiB"},
		{"budget: 256KiB", "budget: 1.3KiB", 10, 11, "1331.2 bytes, not a whole number", ""},
		{"budget: 256KiB", "budget: 2GiB", 10, 11, "over the limit of 1GiB", ""},
		{"budget: 256KiB", "budget: 9999999TiB", 10, 11, "too large", ""},
		{"budget: 256KiB", "budget: KiB", 10, 11, "not a number", ""},
		{"budget: 256KiB", "budget: [256KiB, 262144]", 10, 20, `"256KiB" is in the list twice`, ""},
		{"timeout: 30s", "timeout: 30", 21, 130, "has no unit: write 30s", ""},
		{"timeout: 30s", "timeout: 30sec", 21, 130, "unknown unit", "30s"},
		{"timeout: 30s", "timeout: 2h", 21, 130, "unknown unit", ""},
		{"timeout: 30s", "timeout: 9000s", 21, 130, "not from 1ms to 3600s", ""},
		{"alpha: 0.05", "alpha: 500%", 21, 115, "500% is not from", ""},
		{"open: 50%", "open: 50", 11, 16, "write 50% or 50/s", ""},
		{"open: 50%", "open: 50/m", 11, 16, "neither a share", ""},
		{"open: 50%", "open: 0/s", 11, 16, "0/s is not from", ""},
		{"open: 50%", "open: 5000%", 11, 16, "not from", ""},
		{"{open: 50%}", "{closed: 0}", 11, 18, "not a whole number from 1", ""},
		{"{open: 50%}", "{closed: 1, open: 50%}", 11, 3, "exactly one of closed, open, found 2", ""},
		{"{open: 50%}", "{}", 11, 3, "exactly one of closed, open, found 0", ""},
		{"hold: 0", "hold: 2m", 12, 9, "unknown unit", ""},
		{"hold: 0", "hold: -1", 12, 9, "negative", ""},
		{"hold: 0", "hold: 1000001", 12, 9, "not a whole number from 0 to 1000000", ""},
		{"hold: 0", "hold: 61s", 12, 9, "not from", ""},
	})
}

func TestMeaningFaults(t *testing.T) {
	const sizes = "{lognormal: {median: 2KiB, sigma: 1.6, max: 64KiB}}"
	checkFaults(t, []faultCase{
		{sizes, "{fixed: 23}", 9, 18, "23B is below the least, 24B", ""},
		{sizes, "{fixed: 17MiB}", 9, 18, "over the limit of 16MiB", ""},
		{sizes, "{fixed: 257KiB}", 9, 3, "messages of up to 257KiB do not fit the budget of 256KiB", ""},
		{sizes, "[{fixed: 64}, {fixed: 64B}]", 9, 24, `"fixed(64B)" is in the list twice`, ""},
		{sizes, "{fixed: 64, uniform: {min: 64, max: 65}}", 9, 3, "exactly one of", ""},
		{sizes, "{uniform: {min: 64, max: 64}}", 9, 35, "64B is not above min", ""},
		{sizes, "{uniform: {min: 1, max: 64}}", 9, 26, "below the least", ""},
		{sizes, "{bimodal: {small: 1, large: 64, share: 5%}}", 9, 28, "below the least", ""},
		{sizes, "{bimodal: {small: 64, large: 64, share: 5%}}", 9, 39, "not above small", ""},
		{sizes, "{bimodal: {small: 64, large: 65, share: 0}}", 9, 50, "use fixed", ""},
		{"max: 64KiB", "max: 1KiB", 9, 31, "2KiB is not from min to max", ""},
		{", max: 64KiB", "", 9, 3, "up to 16MiB do not fit the budget", ""},
		{"b: {name: ring-fixed}", "b: {name: ring-inc}", 25, 104, "the same case, ring-inc", ""},
		{"  - name: ring-inc\n", "  - name: ring-inc\n  - {name: ring-fixed, params: {chunk: 4KiB}}\n", 19, 5, "listed twice, first at strategies[0]", ""},
		{"  - name: ring-inc\n", "  - name: exec\n", 18, 11, "needs a command", ""},
		{"  - name: ring-inc\n", "  - {name: ring-inc, command: [x]}\n", 18, 22, "only strategy exec", ""},
		{"  - name: ring-inc\n", "  - {name: ring-inc, optional: make it}\n", 18, 32, "only strategy exec may be optional", ""},
		{"  - name: ring-inc\n", "  - {name: exec, command: [x], optional: true}\n", 18, 42, "say how to get the program", ""},
		{"[4KiB, 64KiB]", "[4KiB, 4KiB]", 17, 28, "twice", ""},
		{"by: 10%", "by: 0", 25, 167, "above 0%", ""},
		{"by: 10%", "by: 100%", 25, 167, "below 100%", ""},
		{"by: 10%", "by: 10us", 25, 167, "how much a ratio can differ", ""},
		{"stat: ratio", "stat: diff", 25, 166, "number in the metric's base unit", ""},
		{"kind: compare", "kind: probe", 25, 81, "a probe claim takes no a", ""},
		{"expect: less", "expect: at least 5", 25, 157, "expects less, greater or same", ""},
		{"expect: less", "expect: at least many", 25, 157, "not an amount", ""},
		{"expect: less", "expect: supportd", 25, 157, "no expectation", "supported"},
		{"kind: compare", "kind: bound", 25, 102, "a bound claim takes no b", ""},
		{"blocks: 2,", "blocks: 0,", 27, 21, "smoke.measure.blocks: 0 in the smoke run and 10 in the whole", ""},
		{"{clients: 4}", "{budget: 32KiB}", 9, 3, "do not fit the budget of 32KiB", ""},
	})
}

func TestTooManyCases(t *testing.T) {
	var list strings.Builder
	for i := range 60 {
		fmt.Fprintf(&list, "%d, ", i+1)
	}
	text := edited(t, "clients: [1, 16]", "clients: ["+list.String()+"]")
	if _, err := Parse("demo.yaml", []byte(text)); err != nil {
		t.Fatal(err)
	}
	text = strings.Replace(text, "hold: 0", "hold: ["+list.String()+"]", 1)
	e := mustFault(t, text)
	if e.Line != 6 || e.Col != 1 || !strings.Contains(e.Msg, "more than 10000 cases") {
		t.Errorf("%d:%d %s", e.Line, e.Col, e.Msg)
	}
}
