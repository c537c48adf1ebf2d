// What the shim's own files share.
#ifndef ZCSHIM_INTERNAL_H
#define ZCSHIM_INTERNAL_H

#include "zcshim.h"

#define HIDDEN __attribute__((visibility("hidden")))

// The next definitions behind the shim.
struct real {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	size_t (*usable)(void *);
	void *(*memcpy)(void *, const void *, size_t);
	void *(*memmove)(void *, const void *, size_t);
};
extern struct real zc_real HIDDEN;
HIDDEN void zc_resolve(void);

// One thread's window.
struct range {
	uintptr_t lo, hi;
};
enum { WATCHES = 8, TAINTS = 512 };
struct window {
	int on;
	struct zc_counts counts;
	struct range watch[WATCHES];
	unsigned watches;
	struct range taint[TAINTS]; // copies of watched memory, oldest overwritten
	unsigned taints, next;
};
extern __thread struct window zc_window HIDDEN;

// zc_side_of says on whose account a call from address ra goes.
HIDDEN struct zc_side *zc_side_of(const void *ra);
HIDDEN void zc_sides_refresh(void);

HIDDEN void zc_copied(const void *to, const void *from, size_t len, const void *ra);
HIDDEN void zc_taint_move(uintptr_t from, size_t len, uintptr_t to);
HIDDEN void zc_taint_drop(uintptr_t at, size_t len);

HIDDEN void zc_heap_add(void *p);
HIDDEN void zc_heap_sub(size_t usable);

HIDDEN void zc_report(void);

#endif
