package uringimpl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zcbench/zcbench/harness"
	"github.com/zcbench/zcbench/harness/load"
	"github.com/zcbench/zcbench/harness/record"
)

// traffic is what each client is sent in a verify trial, byte by byte, and how
// far into it a tampering test has come.
type traffic struct {
	seed   uint64
	starts [][]uint64 // per client: stream offset of each message
	sizes  [][]uint32
	bytes  [][]byte // per client: the stream, but for the send times in headers
	at     []uint64 // per client: stream offset of the next piece
}

func newTraffic(tr record.Trial) *traffic {
	n := tr.Workload.Clients
	f := &traffic{
		seed: tr.Seed, starts: make([][]uint64, n), sizes: make([][]uint32, n),
		bytes: make([][]byte, n), at: make([]uint64, n),
	}
	s := load.NewSchedule(tr)
	for i, size := range s.Size {
		c := int(s.Client[i])
		off := len(f.bytes[c])
		f.starts[c], f.sizes[c] = append(f.starts[c], uint64(off)), append(f.sizes[c], size)
		b := make([]byte, size)
		load.Header{Length: size, Client: uint32(c), Seq: uint32(i), Check: load.Check(tr.Seed, uint32(c), uint32(i), size)}.Put(b)
		load.Fill(b[load.HeaderBytes:], load.StreamKey(tr.Seed, c), uint64(off)+load.HeaderBytes)
		f.bytes[c] = append(f.bytes[c], b...)
	}
	return f
}

// victim picks a message of a client in the middle of the trial with some
// payload, and an earlier one of at least its size.
func (f *traffic) victim(t *testing.T, client int) (late, early int) {
	t.Helper()
	sizes := f.sizes[client]
	for late = len(sizes) / 2; late < len(sizes); late++ {
		for early = late - 1; early > 0; early-- {
			if sizes[late] >= load.HeaderBytes+64 && sizes[early] >= sizes[late] {
				return late, early
			}
		}
	}
	t.Fatal("no message to tamper with")
	return 0, 0
}

// replace returns a Tamper that puts with in place of the stream's bytes from
// off on. It works on copies, as the memory belongs to the strategy.
func (f *traffic) replace(client int, off uint64, with []byte) harness.Tamper {
	return func(c int, p []byte) (int, []byte) {
		lo := f.at[c]
		f.at[c] += uint64(len(p))
		if c != client || lo >= off+uint64(len(with)) || f.at[c] <= off {
			return c, p
		}
		q := append([]byte(nil), p...)
		for i := range q {
			if o := lo + uint64(i); o >= off && o < off+uint64(len(with)) {
				q[i] = with[o-off]
			}
		}
		return c, q
	}
}

// change is replace of a single byte by another.
func (f *traffic) change(client int, off uint64) harness.Tamper {
	return f.replace(client, off, []byte{f.bytes[client][off] ^ 0x10})
}

// piecewise returns a Tamper that does something to the piece that brings the
// stream to off.
func (f *traffic) piecewise(client int, off uint64, do func(lo uint64, p []byte) (int, []byte)) harness.Tamper {
	return func(c int, p []byte) (int, []byte) {
		lo := f.at[c]
		f.at[c] += uint64(len(p))
		if c != client || off < lo || off >= f.at[c] {
			return c, p
		}
		return do(lo, p)
	}
}

// sabotages are the faults that a buffer strategy may have, by name, each as it
// would show in what the strategy delivers.
func sabotages(t *testing.T, f *traffic) map[string]harness.Tamper {
	t.Helper()
	const client, other = 1, 2
	late, early := f.victim(t, client)
	start, from, size := f.starts[client][late], f.starts[client][early], uint64(f.sizes[client][late])
	payload, end := start+load.HeaderBytes, start+size
	stream := f.bytes[client]
	foreign := make([]byte, end-payload)
	load.Fill(foreign, load.StreamKey(f.seed, other), payload)
	return map[string]harness.Tamper{
		"flipped first byte of the payload": f.change(client, payload),
		"flipped byte within":               f.change(client, (payload+end)/2),
		"flipped last byte":                 f.change(client, end-1),
		"flipped byte of the header":        f.change(client, start+4),
		"payload one byte late":             f.replace(client, payload, stream[payload-1:end-1]),
		"payload one byte early":            f.replace(client, payload, stream[payload+1:end+1]),
		"piece one byte late": f.piecewise(client, start, func(lo uint64, p []byte) (int, []byte) {
			return client, append([]byte{0}, p[:len(p)-1]...)
		}),
		"stale payload of an earlier message": f.replace(client, payload, stream[from+load.HeaderBytes:][:end-payload]),
		"stale header and payload":            f.replace(client, start, stream[from:][:size]),
		"stale piece": f.piecewise(client, payload, func(lo uint64, p []byte) (int, []byte) {
			return client, stream[:len(p)] // what lay there at the start of the trial
		}),
		"payload of another client": f.replace(client, payload, foreign),
		"two clients swapped": f.piecewise(client, start, func(lo uint64, p []byte) (int, []byte) {
			return other, p
		}),
	}
}

// atRelease returns a Tamper that changes memory in which the application holds
// messages: what a buffer handed back too early would suffer. In the second half
// of the trial each piece spoils the last message of the piece before it that
// lies there whole and so is held where it was received; one may have been let go
// by force in between, but not all.
func atRelease(f *traffic) harness.Tamper {
	next := make([]int, len(f.starts)) // per client: first message after what has come
	var held *byte
	return func(c int, p []byte) (int, []byte) {
		lo := f.at[c]
		f.at[c] += uint64(len(p))
		if held != nil {
			*held ^= 0x10
			held = nil
		}
		for ; next[c] < len(f.starts[c]); next[c]++ {
			i := next[c]
			end := f.starts[c][i] + uint64(f.sizes[c][i])
			if end > f.at[c] {
				break
			}
			if f.starts[c][i] >= lo && i > len(f.starts[c])/2 && f.sizes[c][i] > load.HeaderBytes {
				held = &p[end-1-lo]
			}
		}
		return c, p
	}
}

// found are the words by which a trial says that it received what was not sent.
var found = []string{"payload byte", "not a message header", "buffers are swapped", "stale or reordered"}

// TestSabotage plants each fault into each strategy: its verify trial must fail,
// and for the right reason. Untouched it must pass.
func TestSabotage(t *testing.T) {
	for _, s := range Strategies() {
		for _, assembly := range []string{"contiguous", "vectored"} {
			for _, hold := range []int{0, 8} {
				for _, params := range groupings(s) {
					t.Run(fmt.Sprintf("%s/%v/%s/hold=%d", s.Name, params, assembly, hold), func(t *testing.T) {
						sabotage(t, s, params, assembly, hold)
					})
				}
			}
		}
	}
}

func sabotage(t *testing.T, s harness.Strategy, params map[string]string, assembly string, hold int) {
	w := wild()
	w.Sizes.Max, w.BudgetBytes = 8<<10, 32<<10
	w.Assembly, w.HoldMessages = assembly, hold
	tr := newTrial(s.Name, params, w, record.Verify, 120)
	untouched := newTraffic(tr)
	rec, _ := runTrial(t, tr, untouched.piecewise(0, 1<<62, nil))
	if rec.Status != record.OK {
		t.Fatalf("untouched: %s", rec.Error)
	}
	for c, at := range untouched.at {
		if at != uint64(len(untouched.bytes[c])) {
			t.Errorf("client %d received %d bytes of %d", c, at, len(untouched.bytes[c]))
		}
	}
	for name := range sabotages(t, newTraffic(tr)) {
		plant(t, tr, name, sabotages(t, newTraffic(tr))[name])
	}
	if hold > 0 {
		plant(t, tr, "held memory overwritten", atRelease(newTraffic(tr)))
	}
}

func plant(t *testing.T, tr record.Trial, name string, tamper harness.Tamper) {
	t.Helper()
	rec, _ := runTrial(t, tr, tamper)
	if rec.Status != record.Failed {
		t.Errorf("%s: the trial is %s", name, rec.Status)
		return
	}
	for _, words := range found {
		if strings.Contains(rec.Error, words) {
			return
		}
	}
	t.Errorf("%s: failed for another reason: %s", name, rec.Error)
}
