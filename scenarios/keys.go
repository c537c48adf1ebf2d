package scenarios

import "github.com/goccy/go-yaml/ast"

// Limits of a workload and of what is measured.
const (
	maxClients     = 20_000 // one loopback port pair each, below the ephemeral range
	maxBudgetBytes = 1 << 30
	maxHeld        = 1_000_000
	maxOutstanding = 65_536
	maxMessages    = 100_000_000
	second         = int64(1e9)
)

// scenarioKeys are the keys of a scenario file. The smoke key is read apart,
// after what it overrides.
func scenarioKeys(s *Scenario, smoke *ast.Node) table {
	var schemaName string
	return table{
		field("schema", &schemaName, oneOf("schema this zcbench reads", SchemaName), "Required. The format of this file: "+SchemaName+"."),
		field("name", &s.Name, name("scenario name", nameRule), "Required. Short name, part of the result directory's name."),
		field("title", &s.Title, prose(200, false), "Required. One line that names the comparison."),
		field("question", &s.Question, prose(2000, true), "Required. The question the scenario answers."),
		field("kind", &s.Kind, oneOf("kind", "receive"), "Required. What is measured: receive."),
		field("workload", &s.Workload, object(workloadKeys), "Required. What all strategies see alike. Every axis is one value or a list; lists multiply."),
		field("strategies", &s.Strategies, listOf(strategyUse(), StrategyUse.label), "Required. The strategies to compare."),
		field("baseline", &s.Baseline, caseRef(), "Required. The case every other one is compared with."),
		field("measure", &s.Measure, measure(), "How much is measured."),
		field("metrics", &s.Metrics, metricNames(), "Required. The columns of the table, in order."),
		field("headline", &s.Headline, headline(), "The figures that answer the question, shown first."),
		field("claims", &s.Claims, listOf(claim(), func(c Claim) string { return c.ID }), "Sentences the scenario decides."),
		field("smoke", smoke, smokeNode(), "Overrides of workload and measure for a run of seconds through the same code."),
	}
}

// smokeNode keeps the node for later and carries the schema of its keys.
func smokeNode() codec[ast.Node] {
	return codec[ast.Node]{
		schema: objectSchema(smokeKeys(&Workload{}, &Measure{}), true),
		decode: func(_ *decoder, _ string, n ast.Node) (ast.Node, bool) { return n, true },
	}
}

// smokeKeys override the values w and m already hold.
func smokeKeys(w *Workload, m *Measure) table {
	return table{
		override("workload", workloadKeys(w), "Axes that replace those of the workload."),
		override("measure", measureKeys(m), "Values that replace those of measure."),
	}
}

func override(name string, t table, doc string) key {
	return key{name, doc, false, objectSchema(t, true), func(d *decoder, path string, n ast.Node) {
		t.decode(d, path, n, true)
	}}
}

func workloadKeys(w *Workload) table {
	return table{
		field("transport", &w.Transport, oneOrMany(oneOf("transport", "tcp"), itself), "How messages travel: tcp (the default)."),
		field("clients", &w.Clients, oneOrMany(integer(1, maxClients), label[int]), "Required. Connections that send at the same time."),
		field("sizes", &w.Sizes, oneOrMany(sizes(), Sizes.Label), "Required. Distribution of the message sizes, header included."),
		field("budget", &w.Budget, oneOrMany(byteSize(MinMessageBytes, maxBudgetBytes), FormatBytes), "Required. Buffer memory per client."),
		field("load", &w.Load, oneOrMany(load(), Load.Label), "Required. How messages are offered."),
		field("hold", &w.Hold, oneOrMany(hold(), Hold.Label), "How many messages the application holds at once, or for how long it holds each. Default 0: released at once."),
		field("assembly", &w.Assembly, oneOrMany(oneOf("assembly", "contiguous", "vectored"), itself), "How the application gets a message: in one contiguous piece (the default) or as a vector of pieces."),
		field("touch", &w.Touch, oneOrMany(oneOf("touch", "header", "payload"), itself), "What the application reads of a message: its header (the default) or all of its payload."),
	}
}

// fillWorkload sets the axes that were left out to their defaults.
func fillWorkload(w *Workload) {
	for axis, value := range map[*[]string]string{&w.Transport: "tcp", &w.Assembly: "contiguous", &w.Touch: "header"} {
		if len(*axis) == 0 {
			*axis = []string{value}
		}
	}
	if len(w.Hold) == 0 {
		w.Hold = []Hold{{}}
	}
}

func measureKeys(m *Measure) table {
	return table{
		field("blocks", &m.Blocks, integer(1, 1000), "Times every case is measured, interleaved. Default 10."),
		field("messages", &m.Messages, integer(1, maxMessages), "Messages in the window of a timing trial. Default 20000."),
		field("counting_messages", &m.CountingMessages, integer(1, maxMessages), "Messages in the window of a counting trial. Default 4000."),
		field("verify_messages", &m.VerifyMessages, integer(1, maxMessages), "Messages of which a verify trial checks every byte. Default 2000."),
		field("counting_trials", &m.CountingTrials, integer(1, 100), "Counting trials of each case. Default 3."),
		field("alpha", &m.Alpha, fraction(1e-6, .5), "Probability of any false verdict among the timed claims. Default 0.05."),
		field("timeout", &m.TimeoutNS, duration(1e6, 3600*second), "Longest time one trial may take. Default 30s."),
	}
}

// defaultMeasure is what a scenario measures that does not say.
func defaultMeasure() Measure {
	return Measure{
		Blocks: 10, Messages: 20_000, CountingMessages: 4000, VerifyMessages: 2000,
		CountingTrials: 3, Alpha: .05, TimeoutNS: 30 * second,
	}
}

func measure() codec[Measure] {
	return object(func(m *Measure) table {
		*m = defaultMeasure()
		return measureKeys(m)
	})
}

// home names the mapping that the key belongs in, of the two larger ones.
func home(name string) string {
	if _, ok := measureKeys(&Measure{}).find(name); ok {
		return "measure"
	}
	if _, ok := workloadKeys(&Workload{}).find(name); ok {
		return "workload"
	}
	return ""
}
