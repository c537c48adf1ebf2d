package harness

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// message is one message of a client's stream, on the wire.
type message struct {
	client int
	header load.Header
	wire   []byte
}

// messages makes the bytes of a trial's schedule.
func messages(tr record.Trial, now uint64) []message {
	sched := load.NewSchedule(tr)
	base := make([]uint64, tr.Workload.Clients)
	var out []message
	for i, size := range sched.Size {
		c := int(sched.Client[i])
		h := load.Header{Length: size, Client: uint32(c), Intended: now, Seq: uint32(i), Check: load.Check(tr.Seed, uint32(c), uint32(i), size)}
		b := make([]byte, size)
		h.Put(b)
		load.Fill(b[load.HeaderBytes:], load.StreamKey(tr.Seed, c), base[c]+load.HeaderBytes)
		base[c] += uint64(size)
		out = append(out, message{c, h, b})
	}
	return out
}

// span is bytes of a message in one buffer: the model's piece.
type span struct{ buf, from, to int }

// kept is a message in the model's hands.
type kept struct {
	spans  []span
	copied bool
	due    uint64
}

// model is a slow and simple sink: it keeps what every message lies in and counts
// holders from scratch.
type model struct {
	contiguous bool
	limit      int    // messages held; 0: by time
	ticks      uint64 // held, if by time
	hold       bool
	lent       map[int]bool
	open       []kept      // by client
	have       []int       // bytes of the open message
	queue      [][]message // to come, by client
	held       []kept
	copied     uint64
	got        record.Fingerprint
}

func newModel(tr record.Trial, all []message) *model {
	w := tr.Workload
	m := &model{
		contiguous: w.Assembly == "contiguous", limit: w.HoldMessages, ticks: uint64(w.HoldNS), hold: w.HoldMessages > 0 || w.HoldNS > 0,
		lent: map[int]bool{}, open: make([]kept, w.Clients), have: make([]int, w.Clients), queue: make([][]message, w.Clients),
	}
	for _, msg := range all {
		m.queue[msg.client] = append(m.queue[msg.client], msg)
	}
	return m
}

// take is Deliver: n bytes of a client at buf[from:].
func (m *model) take(client, buf, from, n int, now uint64) {
	for n > 0 {
		msg := m.queue[client][0]
		k := min(n, len(msg.wire)-m.have[client])
		m.put(&m.open[client], span{buf, from, from + k})
		m.have[client] += k
		from, n = from+k, n-k
		if m.have[client] == len(msg.wire) {
			m.done(client, msg, now)
		}
	}
}

func (m *model) put(k *kept, s span) {
	if last := len(k.spans) - 1; last >= 0 && !k.copied && k.spans[last].buf == s.buf && k.spans[last].to == s.from {
		k.spans[last].to = s.to
		return
	}
	k.spans = append(k.spans, s)
	k.copied = m.contiguous && len(k.spans) > 1
}

func (m *model) done(client int, msg message, now uint64) {
	k := m.open[client]
	m.open[client], m.have[client] = kept{}, 0
	m.queue[client] = m.queue[client][1:]
	m.got.Ops++
	m.got.Bytes += int64(len(msg.wire))
	m.got.Sum += load.Work(msg.header.Check, msg.header.Length)
	if k.copied {
		m.copied += uint64(len(msg.wire))
	}
	if !m.hold {
		return
	}
	k.due = now + m.ticks
	m.held = append(m.held, k)
	if m.limit > 0 {
		m.held = m.held[max(0, len(m.held)-m.limit):]
		return
	}
	m.release(now)
}

func (m *model) release(now uint64) {
	for m.limit == 0 && len(m.held) > 0 && m.held[0].due <= now {
		m.held = m.held[1:]
	}
}

// partCopied is what is copied of the open messages, which done has not counted.
func (m *model) partCopied() (n uint64) {
	for c, k := range m.open {
		if k.copied {
			n += uint64(m.have[c])
		}
	}
	return n
}

// holders counts who holds each buffer.
func (m *model) holders(buffers int) []int32 {
	n := make([]int32, buffers)
	for b := range m.lent {
		n[b]++
	}
	for _, k := range slices.Concat(m.open, m.held) {
		for _, s := range k.spans {
			if !k.copied {
				n[s.buf]++
			}
		}
	}
	return n
}

// world drives a sink and the model of it with one random stream.
type world struct {
	t      *testing.T
	rng    *rand.Rand
	sink   *Sink
	model  *model
	mem    []byte
	size   int // of a buffer
	free   []int
	at     []span // per client: the buffer its next bytes may go to, from where
	stream [][]byte
	now    uint64
}

const worldBuffers = 250

func newWorld(t *testing.T, rng *rand.Rand, tr record.Trial) *world {
	s, err := NewSink(tr, monotonic(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.close)
	size := 1 << (8 + rng.IntN(5))
	if tr.Workload.HoldMessages > worldBuffers {
		size = 256 // too little for all that is to be held
	}
	mem := make([]byte, worldBuffers*size)
	all := messages(tr, 0)
	w := &world{
		t: t, rng: rng, sink: s, model: newModel(tr, all), mem: mem, size: size,
		at: make([]span, tr.Workload.Clients), stream: make([][]byte, tr.Workload.Clients),
	}
	for _, m := range all {
		w.stream[m.client] = append(w.stream[m.client], m.wire...)
	}
	s.Buffers(worldBuffers)
	for i := range worldBuffers {
		w.free = append(w.free, i)
	}
	for c := range w.at {
		w.at[c].buf = -1
	}
	return w
}

// step delivers a random piece of a client's stream into a random buffer.
func (w *world) step(client int) {
	at := &w.at[client]
	if at.buf < 0 || at.from == w.size || w.rng.IntN(6) == 0 {
		w.leave(client)
		for len(w.free) == 0 && w.sink.ForceRelease() {
			w.model.held = w.model.held[1:]
			w.reap()
		}
		if len(w.free) == 0 {
			if w.sink.Holding() == 0 {
				w.t.Fatal("open messages fill all buffers: the test has too few")
			}
			w.tick()
			return
		}
		i := w.rng.IntN(len(w.free))
		*at = span{buf: w.free[i], from: w.rng.IntN(w.size)}
		w.free = slices.Delete(w.free, i, i+1)
		w.sink.Lend(int32(at.buf))
		w.model.lent[at.buf] = true
	}
	n := 1 + w.rng.IntN(min(w.size-at.from, len(w.stream[client])))
	p := w.mem[at.buf*w.size+at.from:][:n]
	copy(p, w.stream[client])
	w.stream[client] = w.stream[client][n:]
	w.sink.Deliver(client, p, int32(at.buf), w.now)
	w.model.take(client, at.buf, at.from, n, w.now)
	if at.from += n; w.rng.IntN(8) == 0 && at.from < w.size {
		at.from++ // a gap: the next bytes do not follow
	}
	w.tick()
}

// tick lets time pass.
func (w *world) tick() {
	w.now += w.rng.Uint64N(2000)
	w.sink.ReleaseDue(w.now)
	w.model.release(w.now)
	w.reap()
}

// leave gives up a client's buffer.
func (w *world) leave(client int) {
	if b := w.at[client].buf; b >= 0 {
		w.sink.Unref(int32(b))
		delete(w.model.lent, b)
		w.at[client].buf = -1
		w.reap()
	}
}

// reap takes back what nobody holds, and checks that the model agrees.
func (w *world) reap() {
	holders := w.model.holders(worldBuffers)
	for _, b := range w.sink.TakeFreed() {
		if holders[b] != 0 || slices.Contains(w.free, int(b)) {
			w.t.Fatalf("buffer %d is freed with %d holders, or twice", b, holders[b])
		}
		w.free = append(w.free, int(b))
		clear(w.mem[int(b)*w.size:][:w.size]) // what a kernel might write there
	}
}

func (w *world) compare() {
	w.t.Helper()
	if err := w.sink.Err(); err != nil {
		w.t.Fatal(err)
	}
	if got := w.sink.Fingerprint(); got != w.model.got {
		w.t.Fatalf("fingerprint %+v, the model has %+v", got, w.model.got)
	}
	if want := w.model.copied + w.model.partCopied(); w.sink.copied != want {
		w.t.Fatalf("%d bytes copied, the model has %d", w.sink.copied, want)
	}
	if got := w.sink.Holding(); got != len(w.model.held) {
		w.t.Fatalf("%d messages held, the model has %d", got, len(w.model.held))
	}
	for b, n := range w.model.holders(worldBuffers) {
		if w.sink.refs[b] != n {
			w.t.Fatalf("buffer %d has %d holders, the model has %d", b, w.sink.refs[b], n)
		}
		if w.model.lent[b] && (w.sink.Held(int32(b)) != (n > 1) || w.sink.HeldBy(int32(b)) != int(n)-1) {
			w.t.Fatalf("buffer %d: held %t, by %d; the model has %d holders", b, w.sink.Held(int32(b)), w.sink.HeldBy(int32(b)), n)
		}
	}
	for c, k := range w.model.open {
		want := w.model.have[c]
		if k.copied {
			want = 0
		}
		if got := w.sink.OpenBytes(c); got != want {
			w.t.Fatalf("client %d: %d open bytes in buffers, the model has %d", c, got, want)
		}
	}
}

// run delivers all streams and returns the most messages held at a time.
func (w *world) run() (most int) {
	for {
		var left []int
		for c, s := range w.stream {
			if len(s) > 0 {
				left = append(left, c)
			}
		}
		if len(left) == 0 {
			return most
		}
		w.step(left[w.rng.IntN(len(left))])
		w.compare()
		most = max(most, w.sink.Holding())
	}
}

func randomTrial(rng *rand.Rand) record.Trial {
	w := workload()
	w.Clients = 1 + rng.IntN(5)
	w.Sizes = []record.Sizes{
		{Kind: "fixed", Bytes: load.HeaderBytes}, {Kind: "fixed", Bytes: 100}, {Kind: "uniform", Min: 24, Max: 300},
		{Kind: "lognormal", Median: 200, Sigma: 1.5, Max: 2000}, {Kind: "bimodal", Small: 24, Large: 1500, Share: .2},
	}[rng.IntN(5)]
	w.Assembly = []string{"contiguous", "vectored"}[rng.IntN(2)]
	w.Touch = []string{"header", "payload"}[rng.IntN(2)]
	switch rng.IntN(4) {
	case 0:
		w.HoldMessages = []int{1, 2 + rng.IntN(40), 1000}[rng.IntN(3)]
	case 1:
		w.HoldNS = 1 + rng.Int64N(50_000)
	}
	tr := trialOf("model", w, []record.Purpose{record.Verify, record.Timing}[rng.IntN(2)], 1+rng.IntN(400))
	tr.Warmup, tr.Seed = rng.IntN(20), rng.Uint64()
	return tr
}

// However a stream is cut and wherever its pieces lie, the sink finds the
// messages, copies no more than it must, and knows who holds which buffer.
func TestSinkAgainstModel(t *testing.T) {
	var copied, forced uint64
	most := 0
	for seed := range uint64(120) {
		rng := rand.New(rand.NewPCG(seed, 99))
		tr := randomTrial(rng)
		w := newWorld(t, rng, tr)
		most = max(most, w.run())
		copied, forced = copied+w.sink.copied, forced+w.sink.forced
		w.end(tr)
		if t.Failed() {
			t.Fatalf("seed %d: %+v", seed, tr.Workload)
		}
	}
	if copied == 0 || forced == 0 || most < 40 {
		t.Errorf("%d bytes copied, %d messages forced out, %d held at most: the test tries too little", copied, forced, most)
	}
}

// end lets everything go and checks that nothing is left.
func (w *world) end(tr record.Trial) {
	if got, want := w.sink.Fingerprint(), load.NewSchedule(tr).Fingerprint(tr.Seed); got != want {
		w.t.Errorf("did %+v, want %+v", got, want)
	}
	for w.sink.Holding() > 0 && (w.sink.ForceRelease() || w.model.limit == 0) {
		w.now += uint64(tr.Workload.HoldNS)
		w.sink.ReleaseDue(w.now)
	}
	w.model.held = nil
	for c := range w.at {
		w.leave(c)
	}
	w.reap()
	w.compare()
	if len(w.free) != worldBuffers {
		w.t.Errorf("%d of %d buffers came back", len(w.free), worldBuffers)
	}
	if a := w.sink.assembly; len(a.free) != int(a.next) {
		w.t.Errorf("%d of %d assembly buffers came back", len(a.free), a.next)
	}
	if len(w.sink.ticks) != 0 && tr.Purpose != record.Timing || len(w.sink.ticks) > tr.Messages+1 {
		w.t.Errorf("%d latencies of a %s trial", len(w.sink.ticks), tr.Purpose)
	}
}
