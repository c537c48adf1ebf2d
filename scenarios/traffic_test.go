package scenarios

import (
	"fmt"
	"reflect"
	"testing"
)

func TestTransportTrafficAndClients(t *testing.T) {
	const old = "transport: tcp"
	for text, want := range map[string]Workload{
		"traffic: even":                                           {Transport: []string{"tcp"}, Traffic: []Traffic{{}}},
		"transport: [unix, tcp]":                                  {Transport: []string{"unix", "tcp"}, Traffic: []Traffic{{}}},
		"traffic: {quiet: 75%, share: 2%}":                        {Transport: []string{"tcp"}, Traffic: []Traffic{{.75, .02}}},
		"traffic: {quiet: 0.99, share: 0}":                        {Transport: []string{"tcp"}, Traffic: []Traffic{{Quiet: .99}}},
		"traffic: [even, {quiet: 50%, share: 0%}]":                {Transport: []string{"tcp"}, Traffic: []Traffic{{}, {Quiet: .5}}},
		"traffic: [{quiet: 1%, share: 0}, {quiet: 5%, share: 0}]": {Transport: []string{"tcp"}, Traffic: []Traffic{{Quiet: .01}, {Quiet: .05}}},
	} {
		s := mustParse(t, editedOf(t, edited(t, "clients: [1, 16]", "clients: [2, {most: 10000}]"), old, text))
		if !reflect.DeepEqual(s.Workload.Transport, want.Transport) || !reflect.DeepEqual(s.Workload.Traffic, want.Traffic) {
			t.Errorf("%s: %v %v", text, s.Workload.Transport, s.Workload.Traffic)
		}
		if got := s.Workload.Clients; !reflect.DeepEqual(got, []Clients{{N: 2}, {N: 10000, Most: true}}) {
			t.Errorf("clients %v", got)
		}
	}
}

func TestTrafficFaults(t *testing.T) {
	const line = "transport: tcp"
	const clients = "clients: [1, 16]"
	checkFaults(t, []faultCase{
		{line, "transport: sctp", 7, 14, `"sctp" is no transport (known: tcp, unix, udp)`, ""},
		{line, "transport: upd", 7, 14, "is no transport", "udp"},
		{line, "traffic: evn", 7, 12, "is no traffic", "even"},
		{line, "traffic: quiet", 7, 12, "is no traffic", ""},
		{line, "traffic: {quiet: 0%, share: 0}", 7, 20, "0% of the clients leaves the quiet or the others none", ""},
		{line, "traffic: {quiet: 100%, share: 0}", 7, 20, "leaves the quiet or the others none", ""},
		{line, "traffic: {quiet: 75, share: 0}", 7, 20, "is not from", ""},
		{line, "traffic: {quiet: 50%, share: 50%}", 7, 32, "50% of the messages for 50% of the clients is not quiet", ""},
		{line, "traffic: {quiet: 50%}", 7, 3, "workload.traffic lacks: share", ""},
		{line, "traffic: [even, even]", 7, 19, `"even" is in the list twice`, ""},
		{line, "traffic: {quiet: 50%, share: 2%}", 8, 13, "a single client cannot be quiet and busy", ""},
		{clients, "clients: {most: 20001}", 8, 19, "20001 is not a whole number from 1 to 20000", ""},
		{clients, "clients: [{most: 9}, {most: 9}]", 8, 24, `"most(9)" is in the list twice`, ""},
	})
}

// A message must fit a datagram wherever one of the transports is udp.
func TestDatagramFaults(t *testing.T) {
	const sizes = "{lognormal: {median: 2KiB, sigma: 1.6, max: 64KiB}}"
	udp := edited(t, "transport: tcp", "transport: [tcp, udp]")
	checkFaultsOf(t, udp, []faultCase{
		{"", "", 9, 3, "messages of up to 64KiB do not fit a datagram: over udp give sizes a max of at most 65507B", ""},
		{sizes, "[{fixed: 64}, {fixed: 65508}]", 9, 24, "do not fit a datagram", ""},
	})
	for _, good := range []string{"{fixed: 65507}", "{lognormal: {median: 2KiB, sigma: 1.6, max: 65507}}"} {
		mustParse(t, editedOf(t, udp, sizes, good))
	}
	replies := editedOf(t, udp, sizes, "{fixed: 64}\n  reply: [0, 1KiB]")
	if e := mustFault(t, replies); e.Line != 10 || e.Col != 14 {
		t.Errorf("replies over udp: %v", e)
	}
}

func TestHoldOfEachClient(t *testing.T) {
	s := mustParse(t, editedOf(t, base, "hold: 0", "hold: [{each: 4}, 8, 2ms]"))
	if got := fmt.Sprint(s.Workload.Hold); got != "[{0 4 0} {8 0 0} {0 0 2000000}]" {
		t.Error(got)
	}
	if got := s.Workload.Hold[0].Label(); got != "each(4)" {
		t.Error(got)
	}
}
