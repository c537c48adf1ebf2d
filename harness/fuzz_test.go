package harness

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// taped makes random numbers of a fuzzer's bytes, and of a generator once they
// are used up: an endless row of the same would keep rand looking.
type taped struct {
	data []byte
	then *rand.PCG
}

func (s *taped) Uint64() uint64 {
	if len(s.data) < 8 {
		return s.then.Uint64()
	}
	v := binary.LittleEndian.Uint64(s.data)
	s.data = s.data[8:]
	return v
}

// FuzzSink: as TestSinkAgainstModel, with the fuzzer choosing the trial, where
// its streams are cut, and where the pieces lie.
func FuzzSink(f *testing.F) {
	for seed := range uint64(4) {
		rng := rand.NewPCG(seed, 99)
		b := make([]byte, 0, 1600)
		for range cap(b) / 8 {
			b = binary.LittleEndian.AppendUint64(b, rng.Uint64())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		rng := rand.New(&taped{data, rand.NewPCG(uint64(len(data)), 7)})
		tr := randomTrial(rng)
		// A fuzzer is to try many short histories, and takes one of ten seconds to hang.
		tr.Messages, tr.Warmup = min(tr.Messages, 50), min(tr.Warmup, 5)
		w := newWorld(t, rng, tr)
		w.run()
		w.end(tr)
	})
}
