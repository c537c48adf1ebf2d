package harness

import (
	"fmt"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
	"github.com/zcbench/zcbench/scenarios"
)

// replies is the send side of a workload in which each message is answered. A
// message is then acknowledged to the generator when its reply is sent, not when
// it is consumed.
type replies struct {
	bytes    int      // of a reply; 0: there are none
	owed     []int32  // clients to be answered, one entry a message, oldest first
	owing    int      // messages consumed and not wholly answered
	done     uint64   // replies sent
	sent     []uint64 // per client: replies sent
	composed []uint64 // per client: bytes of its reply stream made so far
	pattern  []byte   // what replies hold where nobody looks
}

// patternBytes is how much of a reply is written from one place.
const patternBytes = 64 << 10

func newReplies(bytes int64, clients int) replies {
	if bytes == 0 {
		return replies{}
	}
	r := replies{
		bytes: int(bytes), owed: resident[int32](1 << 10),
		sent: make([]uint64, clients), composed: make([]uint64, clients),
		pattern: make([]byte, min(bytes, patternBytes)),
	}
	load.Fill(r.pattern, 0, 0)
	return r
}

// owe notes that a message of a client was consumed.
func (r *replies) owe(client int) {
	r.owed = append(r.owed, int32(client))
	r.owing++
}

// ReplyBytes is how many bytes a strategy sends back for each message; 0: it
// sends nothing.
func (s *Sink) ReplyBytes() int { return s.reply.bytes }

// TakeOwed returns the clients to be answered, one entry for each message since
// the last call, and forgets them. The slice is good until the next Deliver.
func (s *Sink) TakeOwed() []int32 {
	o := s.reply.owed
	s.reply.owed = s.reply.owed[:0]
	return o
}

// Owing is the number of messages consumed whose reply is not wholly sent. While
// there are any, a strategy must not wait at the Gate: the generator sends the
// next message only when it has the reply.
func (s *Sink) Owing() int { return s.reply.owing }

// Compose writes the next reply of a client to p, which is ReplyBytes long.
// Verify trials fill it with bytes that the generator checks; elsewhere it is a
// plain copy, the least a server does to answer.
func (s *Sink) Compose(client int, p []byte) {
	r := &s.reply
	if s.verify {
		load.Fill(p, load.ReplyKey(s.seed, client), r.composed[client])
	} else {
		for q := p; len(q) > 0; {
			q = q[copy(q, r.pattern):]
		}
	}
	r.composed[client] += uint64(len(p))
}

// Replied notes that a reply was wholly handed to the kernel, and acknowledges
// the message it answers.
func (s *Sink) Replied(client int) {
	r := &s.reply
	if r.owing == 0 {
		s.Fail(fmt.Errorf("client %d was sent a reply that is not owed", client))
		return
	}
	r.owing--
	r.done++
	r.sent[client]++
	s.acknowledge(client, r.sent[client], r.done)
}

// acknowledge tells the generator how many messages are done, of a client and in
// all.
func (s *Sink) acknowledge(client int, ofClient, all uint64) {
	switch s.ack {
	case ackClient:
		s.prog.Client(client).Store(ofClient)
	case ackAll:
		s.prog.Done().Store(all)
	}
}

// answering refuses a trial whose messages the strategy would leave unanswered.
// The null strategy is the floor of every workload, and has nobody to answer.
func answering(s Strategy, t record.Trial) (record.Trial, error) {
	if s.Family == Null.Family {
		t.Workload.ReplyBytes = 0
	}
	if t.Workload.ReplyBytes > 0 && !s.Replies {
		return t, s.noReply(t.Workload)
	}
	return t, nil
}

func (s Strategy) noReply(w record.Workload) error {
	return fmt.Errorf("strategy %s does not reply, and the workload asks for %s for each message",
		s.Name, scenarios.FormatBytes(w.ReplyBytes))
}
