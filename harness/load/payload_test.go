package load

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// The words of a stream are those of splitmix64, whose first outputs for seed
// 1234567 are published with it.
func TestWordIsSplitmix(t *testing.T) {
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := word(1234567, uint64(i)+1); got != want {
			t.Errorf("word %d is %d, want %d", i+1, got, want)
		}
	}
}

// slowPayload makes a stream byte by byte.
func slowPayload(key, off uint64, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		at := off + uint64(i)
		state := key
		for range at / 8 {
			state += 0x9e3779b97f4a7c15
		}
		z := state
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb
		z ^= z >> 31
		out[i] = byte(z >> (8 * (at % 8)))
	}
	return out
}

func TestFillAtEveryAlignment(t *testing.T) {
	const guard = 0xee
	key := StreamKey(42, 3)
	for off := range uint64(17) {
		for n := range 41 {
			for shift := range 8 { // of the memory
				mem := bytes.Repeat([]byte{guard}, shift+n+8)
				b := mem[shift : shift+n]
				Fill(b, key, off)
				if want := slowPayload(key, off, n); !bytes.Equal(b, want) {
					t.Fatalf("%d bytes at %d: %x, want %x", n, off, b, want)
				}
				if at := Mismatch(b, key, off); at != -1 {
					t.Fatalf("%d bytes at %d: mismatch at %d of good bytes", n, off, at)
				}
				if !bytes.Equal(mem[:shift], bytes.Repeat([]byte{guard}, shift)) || !bytes.Equal(mem[shift+n:], bytes.Repeat([]byte{guard}, 8)) {
					t.Fatalf("%d bytes at %d: written past the end", n, off)
				}
			}
		}
	}
}

func TestMismatchFindsAnyFlippedByte(t *testing.T) {
	key := StreamKey(42, 3)
	for off := range uint64(9) {
		for _, n := range []int{1, 7, 8, 9, 31, 64} {
			good := slowPayload(key, off, n)
			for i := range good {
				for _, flip := range []byte{1, 0x80, 0xff} {
					bad := bytes.Clone(good)
					bad[i] ^= flip
					if at := Mismatch(bad, key, off); at != i {
						t.Fatalf("byte %d of %d at %d changed, found %d", i, n, off, at)
					}
				}
			}
		}
	}
}

func TestMismatchFindsAnotherPlace(t *testing.T) {
	const n = 24
	rng := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		seed, client, off := rng.Uint64(), rng.IntN(100), rng.Uint64N(1<<40)
		b := make([]byte, n)
		Fill(b, StreamKey(seed, client), off)
		for delta := uint64(1); delta <= 4096; delta = delta*2 + delta%3 {
			if Mismatch(b, StreamKey(seed, client), off+delta) < 0 || Mismatch(b, StreamKey(seed, client), off-delta) < 0 {
				t.Fatalf("bytes of offset %d pass %d bytes away", off, delta)
			}
		}
		for other := range 100 {
			if other != client && Mismatch(b, StreamKey(seed, other), off) < 0 {
				t.Fatalf("bytes of client %d pass as those of %d", client, other)
			}
		}
		for bit := range 64 {
			if Mismatch(b, StreamKey(seed^1<<bit, client), off) < 0 {
				t.Fatalf("bytes of seed %#x pass with bit %d of it changed", seed, bit)
			}
		}
	}
}

func TestHeader(t *testing.T) {
	h := Header{Length: 0x01020304, Client: 0x05060708, Intended: 0x090a0b0c0d0e0f10, Seq: 0x11121314, Check: 0x15161718}
	b := bytes.Repeat([]byte{0xee}, HeaderBytes+1)
	h.Put(b)
	want := []byte{4, 3, 2, 1, 8, 7, 6, 5, 0x10, 0xf, 0xe, 0xd, 0xc, 0xb, 0xa, 9, 0x14, 0x13, 0x12, 0x11, 0x18, 0x17, 0x16, 0x15, 0xee}
	if !bytes.Equal(b, want) {
		t.Errorf("on the wire %x, want %x", b, want)
	}
	if got := ParseHeader(b); got != h {
		t.Errorf("%+v came back as %+v", h, got)
	}
}

// Any other header must have another check word, also one in which two fields
// change so that they might make up for each other.
func TestCheckTellsHeadersApart(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		seed, client, seq, length := rng.Uint64(), rng.Uint32N(100), rng.Uint32N(1<<20), HeaderBytes+rng.Uint32N(1<<17)
		want := Check(seed, client, seq, length)
		for bit := range 32 {
			x := uint32(1) << bit
			for what, got := range map[string]uint32{
				"client": Check(seed, client^x, seq, length), "sequence": Check(seed, client, seq^x, length),
				"length": Check(seed, client, seq, length^x), "seed": Check(seed^1<<bit, client, seq, length),
				"seed's upper half": Check(seed^1<<(32+bit), client, seq, length),
				"client and length": Check(seed, client^x>>3, seq, length^x), "client and sequence": Check(seed, client^x, seq^x, length),
				"length up, client down": Check(seed, client-1, seq, length+x), "sequence and length": Check(seed, client, seq^1<<29, length^x),
			} {
				if got == want {
					t.Fatalf("another %s (bit %d) has the check word of seed %#x client %d seq %d length %d", what, bit, seed, client, seq, length)
				}
			}
		}
	}
}

func TestSum(t *testing.T) {
	b := slowPayload(1, 0, 100)
	for n := range b {
		var want uint64
		for i := 0; i < n; {
			if n-i >= 8 {
				want += binary.LittleEndian.Uint64(b[i:])
				i += 8
				continue
			}
			want += uint64(b[i])
			i++
		}
		if got := Sum(b[:n]); got != want {
			t.Errorf("sum of %d bytes is %d, want %d", n, got, want)
		}
	}
}
