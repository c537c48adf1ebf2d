// Package load makes the traffic of receive workloads: which message goes to
// which client when, what its bytes are, and the process that sends them.
package load

import "encoding/binary"

// HeaderBytes is the size of the header every message starts with, and so the
// smallest message there is.
const HeaderBytes = 24

// Header is the first bytes of a message, little endian on the wire:
// u32 length, u32 client, u64 intended send time in clock ticks, u32 sequence
// number in the trial, u32 check over the others but the time.
type Header struct {
	Length   uint32 // of the whole message, bytes
	Client   uint32
	Intended uint64
	Seq      uint32
	Check    uint32
}

// Put writes h to b[:HeaderBytes].
func (h Header) Put(b []byte) {
	_ = b[HeaderBytes-1]
	binary.LittleEndian.PutUint32(b[0:], h.Length)
	binary.LittleEndian.PutUint32(b[4:], h.Client)
	binary.LittleEndian.PutUint64(b[8:], h.Intended)
	binary.LittleEndian.PutUint32(b[16:], h.Seq)
	binary.LittleEndian.PutUint32(b[20:], h.Check)
}

// PutIntended writes the intended send time into a header.
func PutIntended(b []byte, ticks uint64) { binary.LittleEndian.PutUint64(b[8:], ticks) }

// ParseHeader reads a header from b[:HeaderBytes].
func ParseHeader(b []byte) Header {
	_ = b[HeaderBytes-1]
	return Header{
		Length:   binary.LittleEndian.Uint32(b[0:]),
		Client:   binary.LittleEndian.Uint32(b[4:]),
		Intended: binary.LittleEndian.Uint64(b[8:]),
		Seq:      binary.LittleEndian.Uint32(b[16:]),
		Check:    binary.LittleEndian.Uint32(b[20:]),
	}
}

// Check returns the check word of a header, by which one of another length,
// client, sequence number or seed is told. The length is spread over all bits,
// so that a change of it cannot make up for one of the client.
func Check(seed uint64, client, seq, length uint32) uint32 {
	return uint32(mix((seed ^ uint64(client)<<32 ^ uint64(seq)) + golden*uint64(length)))
}

// mix is the finaliser of splitmix64 (Steele, Lea and Flood, 2014).
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

const golden = 0x9e3779b97f4a7c15

// StreamKey is the key of one client's payload bytes.
func StreamKey(seed uint64, client int) uint64 {
	return mix(seed + golden*uint64(client+1))
}

func word(key, index uint64) uint64 { return mix(key + golden*index) }

// Fill writes the payload of the stream with the given key to b, whose first
// byte has stream offset off.
func Fill(b []byte, key, off uint64) {
	for len(b) > 0 && off%8 != 0 {
		b[0] = byte(word(key, off/8) >> (off % 8 * 8))
		b, off = b[1:], off+1
	}
	for len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, word(key, off/8))
		b, off = b[8:], off+8
	}
	for i := range b {
		b[i] = byte(word(key, off/8) >> (i * 8))
	}
}

// Mismatch returns the index in b of the first byte that is not the payload of
// the stream at off, or -1.
func Mismatch(b []byte, key, off uint64) int {
	n := 0
	for n < len(b) && (off+uint64(n))%8 != 0 {
		if b[n] != byteAt(key, off+uint64(n)) {
			return n
		}
		n++
	}
	for len(b)-n >= 8 && binary.LittleEndian.Uint64(b[n:]) == word(key, (off+uint64(n))/8) {
		n += 8
	}
	for ; n < len(b); n++ {
		if b[n] != byteAt(key, off+uint64(n)) {
			return n
		}
	}
	return -1
}

func byteAt(key, off uint64) byte { return byte(word(key, off/8) >> (off % 8 * 8)) }

// Sum adds up b as little-endian words, the rest as bytes: a cheap way to read
// every byte once.
func Sum(b []byte) uint64 {
	var s uint64
	for len(b) >= 8 {
		s += binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	for _, c := range b {
		s += uint64(c)
	}
	return s
}
