package scenarios

// Limits of the workload of kind receive.
const (
	maxClients     = 20_000 // one loopback port pair each, below the ephemeral range
	maxBudgetBytes = 1 << 30
	maxHeld        = 1_000_000
	maxOutstanding = 65_536
)

func receiveAxes(w *Workload) table {
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

func fillReceive(w *Workload) {
	fillAxis(&w.Transport, "tcp")
	fillAxis(&w.Hold, Hold{})
	fillAxis(&w.Assembly, "contiguous")
	fillAxis(&w.Touch, "header")
}

// checkBudget refuses sizes that no strategy could hold in its budget.
func checkBudget(d *decoder, w Workload) {
	least := w.Budget[0]
	for _, b := range w.Budget {
		least = min(least, b)
	}
	for i, sizes := range w.Sizes {
		if n := sizes.Largest(); n > least {
			d.fail(index("workload.sizes", i), "messages of up to %s do not fit the budget of %s: give sizes a max, or a larger budget", FormatBytes(n), FormatBytes(least))
		}
	}
}
