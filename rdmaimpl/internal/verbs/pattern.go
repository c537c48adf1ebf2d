package verbs

// Pattern is the byte at offset of the message with that number: a stale, shifted
// or swapped buffer does not match it.
func Pattern(seed, message uint64, offset int) byte {
	x := seed ^ message*0x9e3779b97f4a7c15 ^ uint64(offset>>3)*0xbf58476d1ce4e5b9
	x ^= x >> 31
	x *= 0x94d049bb133111eb
	x ^= x >> 29
	return byte(x >> (8 * (offset & 7)))
}
