// Package shim builds and reads the counting shim: a small shared object put
// before the allocator with LD_PRELOAD, which counts allocations, copies and
// system calls of one thread inside a window, apart for the program and for the
// verbs libraries it calls. It is for counting trials; timing trials run without.
package shim

// Side is what one party did inside the windows: the lane under test, or the
// libraries (libibverbs, librdmacm, their providers, and the C library).
type Side struct {
	Allocs         uint64 `json:"allocs"`          // malloc, calloc and the aligned kinds
	Reallocs       uint64 `json:"reallocs"`        // of blocks that were there
	Frees          uint64 `json:"frees"`           // of blocks, not of NULL
	RequestedBytes uint64 `json:"requested_bytes"` // asked of alloc and realloc, new sizes in full
	Copies         uint64 `json:"copies"`          // memcpy and memmove calls from watched memory or copies of it
	CopiedBytes    uint64 `json:"copied_bytes"`
	Syscalls       uint64 `json:"syscalls"` // by the C library's wrappers
}

// Minus returns the difference of two readings.
func (s Side) Minus(b Side) Side {
	return Side{
		s.Allocs - b.Allocs, s.Reallocs - b.Reallocs, s.Frees - b.Frees, s.RequestedBytes - b.RequestedBytes,
		s.Copies - b.Copies, s.CopiedBytes - b.CopiedBytes, s.Syscalls - b.Syscalls,
	}
}

// Counts are what a thread's windows added up to since Reset.
type Counts struct {
	Windows uint64 `json:"windows"`
	Lane    Side   `json:"lane"`
	Library Side   `json:"library"`
}

// Minus returns the difference of two readings.
func (c Counts) Minus(b Counts) Counts {
	return Counts{c.Windows - b.Windows, c.Lane.Minus(b.Lane), c.Library.Minus(b.Library)}
}

// Heap is the process's heap at one time, whatever the allocator.
type Heap struct {
	UsedBytes   uint64 // malloc_usable_size of every live block
	LiveBlocks  uint64
	HeldBytes   uint64 // resident memory of the mappings blocks came from
	MappedBytes uint64 // address space of those mappings
	Mappings    uint64
}
