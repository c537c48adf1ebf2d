// The counting shim: a shared object to preload before the allocator. It counts
// what one thread does between zc_window_begin and zc_window_end, apart for the
// program under test (the lane) and for the verbs libraries it calls.
//
// A program finds the functions below by dlsym(RTLD_DEFAULT, ...): where the
// shim is not preloaded they are absent, and the program runs uncounted.
#ifndef ZCSHIM_H
#define ZCSHIM_H

#include <stddef.h>
#include <stdint.h>

#define ZC_SHIM_ABI 1

// One side's counts. Requested bytes are what malloc and its like were asked
// for, reallocations included at their new size. Copies are calls of memcpy and
// memmove whose source lies in watched memory or in a copy of it. System calls
// are those made through the C library's wrappers.
struct zc_side {
	uint64_t allocs, reallocs, frees, requested_bytes;
	uint64_t copies, copied_bytes;
	uint64_t syscalls;
};

struct zc_counts {
	uint64_t abi, windows;
	struct zc_side lane, library;
};

// The heap of the whole process. Used is the usable size of every live block;
// held is the resident memory of the mappings that blocks came from.
struct zc_heap {
	uint64_t abi;
	uint64_t used_bytes, live_blocks;
	uint64_t held_bytes, mapped_bytes, mappings;
};

// Counting of the calling thread on and off. Windows add up until zc_window_reset.
void zc_window_begin(void);
void zc_window_end(void);
void zc_window_reset(void);

// zc_window_watch names memory of the calling thread whose copies are counted,
// up to eight ranges; a length of 0 forgets them all. It returns 0, or -1 when
// there is no room.
int zc_window_watch(const void *at, size_t len);

// zc_window_counts fills in the calling thread's counts; size is the size of
// the caller's struct. It returns 0, or -1 when the sizes differ.
int zc_window_counts(struct zc_counts *out, size_t size);

// zc_heap_sample reads the heap now. It returns 0 or an errno.
int zc_heap_sample(struct zc_heap *out, size_t size);

// zc_allocator_path is the file whose malloc answers behind the shim.
const char *zc_allocator_path(void);

#endif
