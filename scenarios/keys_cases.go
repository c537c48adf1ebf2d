package scenarios

// execStrategy is the strategy that runs a command of the user's.
const execStrategy = "exec"

func strategyUse() codec[StrategyUse] {
	return checked(object(strategyKeys), func(s StrategyUse) (string, error) {
		switch {
		case s.Name == execStrategy && len(s.Command) == 0:
			return "name", badf("strategy exec needs a command: [program, argument, ...]")
		case s.Name != execStrategy && len(s.Command) > 0:
			return "command", badf("only strategy exec takes a command")
		case s.Name != execStrategy && s.Optional != "":
			return "optional", badf("only strategy exec may be optional")
		case s.Optional == "true" || s.Optional == "false":
			return "optional", badf("say how to get the program, such as: run make adapters")
		}
		return "", nil
	})
}

func strategyKeys(s *StrategyUse) table {
	return table{
		field("name", &s.Name, name("strategy name", nameRule), "Required. Name of the strategy, see zcbench list strategies."),
		field("params", &s.Params, mapOf(oneOrMany(rawText(), itself)), "Params of the strategy; each is one value or a list, lists multiply."),
		field("command", &s.Command, command(), "Program and arguments of strategy exec. The program is looked for beside the scenario file, then beside zcbench."),
		field("optional", &s.Optional, prose(200, false), "Of strategy exec: how to get the program. With it a missing program is a skip, not a fault."),
	}
}

// command reads a program and its arguments, which may repeat.
func command() codec[[]string] {
	arg := prose(4096, false)
	arg.schema = schema{"type": []string{"string", "number"}}
	return listOf(arg, nil)
}

func caseRef() codec[CaseRef] { return object(caseKeys) }

func caseKeys(c *CaseRef) table {
	return table{
		field("name", &c.Strategy, name("strategy name", nameRule), "Required. Name of a strategy this scenario uses."),
		field("params", &c.Params, mapOf(rawText()), "Values of its params, as many as it takes to tell the case from the strategy's others."),
	}
}

func metricNames() codec[[]string] { return listOf(metricName(), itself) }

func metricName() codec[string] {
	c := name("metric name", metricRule)
	c.schema = schema{"type": "string", "pattern": metricRule.String()}
	return c
}

func headline() codec[Headline] {
	return checked(object(func(h *Headline) table {
		h.Plot = "effects"
		return headlineKeys(h)
	}), func(h Headline) (string, error) {
		if h.A.Label() == h.B.Label() {
			return "b", badf("a and b are the same case, %s", h.A.Label())
		}
		return "", nil
	})
}

func headlineKeys(h *Headline) table {
	return table{
		field("a", &h.A, caseRef(), "Required. The case the sentence is about."),
		field("b", &h.B, caseRef(), "Required. The case it is compared with."),
		field("metrics", &h.Metrics, metricNames(), "Required. The metrics the sentence gives."),
		field("plot", &h.Plot, oneOf("plot", "residency", "memory", "starvation", "waste", "latency", "effects", "pareto"), "The plot on the first screen. Default effects."),
	}
}
