package harness

import (
	"github.com/zcbench/zcbench/harness/load"
)

// Null is the strategy that receives nothing: messages are made in memory and
// go through the same sink. Its cost is the harness's own, the floor below
// which no figure means anything.
var Null = Strategy{
	Name: "null", Family: "null",
	Summary: "no receive at all: the cost of the harness itself",
	Open: func(b *Bench, _ Values) (Receiver, error) {
		n := &null{sink: b.Sink, trial: b.Trial.Seed, sched: load.NewSchedule(b.Trial)}
		n.fill = b.Sink.verify
		n.bufs = make([][]byte, 1)
		if w := b.Trial.Workload; n.fill && w.Held() > 0 {
			n.bufs = make([][]byte, min(w.Held()+1, len(n.sched.Size)))
		} else if n.fill && w.HoldNS > 0 {
			n.bufs = make([][]byte, nullHeld)
		}
		for i := range n.bufs {
			n.bufs[i] = make([]byte, load.Largest(b.Trial.Workload.Sizes))
		}
		n.base = make([]uint64, b.Trial.Workload.Clients)
		n.headers = make([][load.HeaderBytes]byte, len(n.sched.Size))
		for i, size := range n.sched.Size {
			client := n.sched.Client[i]
			load.Header{
				Length: size, Client: client, Seq: uint32(i), Check: load.Check(b.Trial.Seed, client, uint32(i), size),
			}.Put(n.headers[i][:])
		}
		b.Sink.Buffers(1)
		b.Sink.Lend(0)
		return n, nil
	},
}

// nullHeld is how many messages a verify trial holds at most for a time.
const nullHeld = 64

type null struct {
	sink  *Sink
	trial uint64 // seed
	sched load.Schedule
	bufs  [][]byte // one, unless held messages are checked
	base  []uint64 // stream offset of each client's next message
	// headers are made beforehand, but for their times: making a message is the
	// generator's work, not the harness's.
	headers [][load.HeaderBytes]byte
	fill    bool
	now     uint64 // of the message before: messages are due back to back
	count   Counters
}

func (n *null) Receive(target uint64) error {
	for n.sink.More(target) {
		i := uint32(n.sink.Got())
		client, size := n.sched.Client[i], n.sched.Size[i]
		buf := n.bufs[0]
		if len(n.bufs) > 1 {
			buf = n.unheld(i)
		}
		*(*[load.HeaderBytes]byte)(buf) = n.headers[i]
		load.PutIntended(buf, n.now)
		if n.fill {
			load.Fill(buf[load.HeaderBytes:size], load.StreamKey(n.trial, int(client)), n.base[client]+load.HeaderBytes)
			n.base[client] += uint64(size)
		}
		n.count.Receives++
		n.now = n.sink.Now()
		n.sink.Deliver(int(client), buf[:size], 0, n.now)
	}
	return n.sink.Err()
}

// unheld returns a buffer in which no held message lies, once there is one.
func (n *null) unheld(i uint32) []byte {
	for n.sink.Holding() >= len(n.bufs) {
		n.sink.ReleaseDue(n.sink.Now())
	}
	return n.bufs[int(i)%len(n.bufs)]
}

func (n *null) Counters() Counters { return n.count }
func (n *null) Memory() Memory     { return Memory{} }
func (n *null) Close() error       { return nil }
