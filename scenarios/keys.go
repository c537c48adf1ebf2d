package scenarios

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// Limits of what is measured.
const (
	maxMessages = 100_000_000
	second      = int64(1e9)
)

// scenarioKeys are the keys of a scenario file of a kind. The smoke key is read
// apart, after what it overrides.
func scenarioKeys(k kind, s *Scenario, smoke *ast.Node) table {
	var schemaName string
	return table{
		field("schema", &schemaName, oneOf("schema this zcbench reads", SchemaName), "Required. The format of this file: "+SchemaName+"."),
		field("name", &s.Name, name("scenario name", nameRule), "Required. Short name, part of the result directory's name."),
		field("title", &s.Title, prose(200, false), "Required. One line that names the comparison."),
		field("question", &s.Question, prose(2000, true), "Required. The question the scenario answers."),
		field("kind", &s.Kind, oneOf("kind", Kinds()...), "Required. What is measured, which decides the keys of workload: "+strings.Join(Kinds(), ", ")+"."),
		field("workload", &s.Workload, object(k.axes), "Required. What all strategies see alike. Every axis is one value or a list; lists multiply."),
		field("strategies", &s.Strategies, listOf(strategyUse(), StrategyUse.label), "Required. The strategies to compare."),
		field("baseline", &s.Baseline, caseRef(), "Required. The case every other one is compared with."),
		field("measure", &s.Measure, measure(k), "How much is measured."),
		field("metrics", &s.Metrics, metricNames(), "Required. The columns of the table, in order."),
		field("headline", &s.Headline, headline(), "The figures that answer the question, shown first."),
		field("claims", &s.Claims, listOf(claim(), func(c Claim) string { return c.ID }), "Sentences the scenario decides."),
		field("smoke", smoke, smokeNode(k), "Overrides of workload and measure for a run of seconds through the same code."),
	}
}

// smokeNode keeps the node for later and carries the schema of its keys.
func smokeNode(k kind) codec[ast.Node] {
	return codec[ast.Node]{
		schema: objectSchema(smokeKeys(k, &Workload{}, &Measure{}), true),
		decode: func(_ *decoder, _ string, n ast.Node) (ast.Node, bool) { return n, true },
	}
}

// smokeKeys override the values w and m already hold.
func smokeKeys(k kind, w *Workload, m *Measure) table {
	return table{
		override("workload", k.axes(w), "Axes that replace those of the workload."),
		override("measure", measureKeys(k, m), "Values that replace those of measure."),
	}
}

func override(name string, t table, doc string) key {
	return key{name, doc, false, objectSchema(t, true), func(d *decoder, path string, n ast.Node) {
		t.decode(d, path, n, true)
	}}
}

func measureKeys(k kind, m *Measure) table {
	def := k.measure
	return table{
		field("blocks", &m.Blocks, integer(0, 1000), fmt.Sprintf("Times every case is timed, interleaved. 0: nothing is, and metrics and claims are of counting and verify trials. Default %d.", def.Blocks)),
		field("messages", &m.Messages, integer(1, maxMessages), fmt.Sprintf("%s in the window of a timing trial. Default %d.", k.counts, def.Messages)),
		field("counting_messages", &m.CountingMessages, integer(1, maxMessages), fmt.Sprintf("%s in the window of a counting trial. Default %d.", k.counts, def.CountingMessages)),
		field("verify_messages", &m.VerifyMessages, integer(1, maxMessages), fmt.Sprintf("%s of which a verify trial checks every byte. Default %d.", k.counts, def.VerifyMessages)),
		field("counting_trials", &m.CountingTrials, integer(1, 100), fmt.Sprintf("Counting trials of each case. Default %d.", def.CountingTrials)),
		field("alpha", &m.Alpha, fraction(1e-6, .5), fmt.Sprintf("Probability of any false verdict among the timed claims. Default %g.", def.Alpha)),
		field("timeout", &m.TimeoutNS, duration(1e6, 3600*second), fmt.Sprintf("Longest time one trial may take. Default %s.", FormatDuration(def.TimeoutNS))),
	}
}

func measure(k kind) codec[Measure] {
	return object(func(m *Measure) table {
		*m = k.measure
		return measureKeys(k, m)
	})
}
