package scenarios

import "github.com/goccy/go-yaml/ast"

// clients reads a number of clients, or the most there are to be.
func clients() codec[Clients] {
	number := integer(1, maxClients)
	most := object(func(c *Clients) table {
		c.Most = true
		return table{field("most", &c.N, number, "Required. As many clients, or as the limit of open files allows.")}
	})
	return codec[Clients]{schema{"anyOf": []schema{number.schema, most.schema}}, func(d *decoder, path string, n ast.Node) (Clients, bool) {
		if _, mapping := n.(*ast.MappingNode); mapping {
			return most.decode(d, path, n)
		}
		v, ok := number.decode(d, path, n)
		return Clients{N: v}, ok
	}}
}

// evenTraffic is the word for traffic that is alike for all clients.
const evenTraffic = "even"

// traffic reads the word even, or which share of the clients is quiet and which
// share of the messages these get.
func traffic() codec[Traffic] {
	word := oneOf("traffic", evenTraffic)
	uneven := checked(object(trafficKeys), checkTraffic)
	return codec[Traffic]{schema{"anyOf": []schema{word.schema, uneven.schema}}, func(d *decoder, path string, n ast.Node) (Traffic, bool) {
		if _, _, scalar := scalarText(n); scalar {
			_, ok := word.decode(d, path, n)
			return Traffic{}, ok
		}
		return uneven.decode(d, path, n)
	}}
}

func trafficKeys(t *Traffic) table {
	return table{
		field("quiet", &t.Quiet, fraction(0, 1), "Required. Share of the clients that is quiet: every so many of them, the first never."),
		field("share", &t.Share, fraction(0, 1), "Required. Share of the messages the quiet clients get together. 0%: they connect and never speak."),
	}
}

func checkTraffic(t Traffic) (string, error) {
	switch {
	case t.Quiet <= 0 || t.Quiet >= 1:
		return "quiet", badf("%s of the clients leaves the quiet or the others none: write a share between, or traffic: even", FormatFraction(t.Quiet))
	case t.Share >= t.Quiet:
		return "share", badf("%s of the messages for %s of the clients is not quiet: write a smaller share", FormatFraction(t.Share), FormatFraction(t.Quiet))
	}
	return "", nil
}

// checkTrafficClients refuses quiet clients where there is only one client.
func checkTrafficClients(d *decoder, w Workload) {
	for i, c := range w.Clients {
		for _, t := range w.Traffic {
			if c.N == 1 && t.Quiet > 0 {
				d.fail(index("workload.clients", i), "a single client cannot be quiet and busy: traffic %s takes 2 clients or more", t.Label())
			}
		}
	}
}
