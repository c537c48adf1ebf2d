package scenarios

import "slices"

// Limits of the workload of kind receive.
const (
	maxClients     = 20_000 // one loopback port pair each, below the ephemeral range
	maxBudgetBytes = 1 << 30
	maxHeld        = 1_000_000
	maxHeldEach    = 1000
	maxOutstanding = 65_536
	maxReplyBytes  = 64 << 20
	// A UDP datagram over IPv4 carries no more: 65535 less the headers of IP (20)
	// and UDP (8).
	maxDatagramBytes = 65507
)

func receiveAxes(w *Workload) table {
	return table{
		field("transport", &w.Transport, oneOrMany(oneOf("transport", "tcp", "unix", "udp"), itself), "How messages travel on this machine: tcp (the default) over loopback, unix stream sockets, or udp over loopback, a datagram each."),
		field("clients", &w.Clients, oneOrMany(clients(), Clients.Label), "Required. Connections that send at the same time: a number, refused where the limit of open files is lower, or {most: 10000} for as many of them as it allows."),
		field("sizes", &w.Sizes, oneOrMany(sizes(), Sizes.Label), "Required. Distribution of the message sizes, header included."),
		field("budget", &w.Budget, oneOrMany(byteSize(MinMessageBytes, maxBudgetBytes), FormatBytes), "Required. Buffer memory per client."),
		field("load", &w.Load, oneOrMany(load(), Load.Label), "Required. How messages are offered."),
		field("traffic", &w.Traffic, oneOrMany(traffic(), Traffic.Label), "Which clients the messages go to: even (the default), all alike, or a share of the clients that is quiet and the share of the messages these get."),
		field("hold", &w.Hold, oneOrMany(hold(), Hold.Label), "How many messages the application holds at once: of all clients together, or {each: 4} the latest of each client; or for how long it holds each. Default 0: released at once."),
		field("assembly", &w.Assembly, oneOrMany(oneOf("assembly", "contiguous", "vectored"), itself), "How the application gets a message: in one contiguous piece (the default) or as a vector of pieces."),
		field("touch", &w.Touch, oneOrMany(oneOf("touch", "header", "payload"), itself), "What the application reads of a message: its header (the default) or all of its payload."),
		field("reply", &w.Reply, oneOrMany(byteSize(0, maxReplyBytes), FormatBytes), "Bytes sent back for each message. Default 0: nothing. Only strategies that reply take another value."),
	}
}

func fillReceive(w *Workload) {
	fillAxis(&w.Transport, "tcp")
	fillAxis(&w.Traffic, Traffic{})
	fillAxis(&w.Hold, Hold{})
	fillAxis(&w.Assembly, "contiguous")
	fillAxis(&w.Touch, "header")
	fillAxis(&w.Reply, 0)
}

func checkReceive(d *decoder, w Workload) {
	checkBudget(d, w)
	checkTrafficClients(d, w)
	if slices.Contains(w.Transport, "udp") {
		checkDatagrams(d, w)
	}
}

// checkDatagrams refuses what one datagram a message cannot do.
func checkDatagrams(d *decoder, w Workload) {
	for i, sizes := range w.Sizes {
		if n := sizes.Largest(); n > maxDatagramBytes {
			d.fail(index("workload.sizes", i), "messages of up to %s do not fit a datagram: over udp give sizes a max of at most %s", FormatBytes(n), FormatBytes(maxDatagramBytes))
		}
	}
	for i, n := range w.Reply {
		if n > 0 {
			d.fail(index("workload.reply", i), "replies over udp could be lost: reply over tcp or unix")
		}
	}
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
