// Copies of watched memory, followed from buffer to buffer.
#define _GNU_SOURCE
#include "internal.h"

static int overlaps(const struct range *r, unsigned n, uintptr_t lo, uintptr_t hi)
{
	for (unsigned i = 0; i < n; i++)
		if (r[i].lo < hi && lo < r[i].hi)
			return 1;
	return 0;
}

static void taint(uintptr_t lo, uintptr_t hi)
{
	struct window *w = &zc_window;
	for (unsigned i = 0; i < w->taints; i++)
		if (w->taint[i].lo == lo) {
			w->taint[i].hi = hi;
			return;
		}
	w->taint[w->next] = (struct range){lo, hi};
	w->next = (w->next + 1) % TAINTS;
	if (w->taints < TAINTS)
		w->taints++;
}

void zc_copied(const void *to, const void *from, size_t len, const void *ra)
{
	struct window *w = &zc_window;
	uintptr_t lo = (uintptr_t)from, hi = lo + len;
	if (len == 0 || !(overlaps(w->watch, w->watches, lo, hi) || overlaps(w->taint, w->taints, lo, hi)))
		return;
	struct zc_side *s = zc_side_of(ra);
	s->copies++;
	s->copied_bytes += len;
	taint((uintptr_t)to, (uintptr_t)to + len);
}

// zc_taint_move follows a block that realloc moved. Its own copying is not
// counted: whether it copies is the allocator's choice and varies.
void zc_taint_move(uintptr_t from, size_t len, uintptr_t to)
{
	struct window *w = &zc_window;
	for (unsigned i = 0; i < w->taints; i++)
		if (w->taint[i].lo >= from && w->taint[i].lo < from + len) {
			w->taint[i].lo += to - from;
			w->taint[i].hi += to - from;
		}
}

// zc_taint_drop forgets copies in a block that was freed.
void zc_taint_drop(uintptr_t at, size_t len)
{
	struct window *w = &zc_window;
	for (unsigned i = 0; i < w->taints; i++)
		if (w->taint[i].lo >= at && w->taint[i].lo < at + len)
			w->taint[i] = (struct range){0, 0};
}

static void copy_bytes(char *to, const char *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = from[i];
}

void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
	if (!zc_real.memcpy) { // before the constructor, or while it runs
		copy_bytes(to, from, n);
		return to;
	}
	if (zc_window.on)
		zc_copied(to, from, n, __builtin_return_address(0));
	return zc_real.memcpy(to, from, n);
}

void *memmove(void *to, const void *from, size_t n)
{
	if (!zc_real.memmove)
		zc_resolve();
	if (zc_window.on)
		zc_copied(to, from, n, __builtin_return_address(0));
	return zc_real.memmove(to, from, n);
}

// The checked forms a fortified build calls instead.
extern void __chk_fail(void) __attribute__((noreturn));

void *__memcpy_chk(void *restrict to, const void *restrict from, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	if (zc_window.on)
		zc_copied(to, from, n, __builtin_return_address(0));
	zc_resolve();
	return zc_real.memcpy(to, from, n);
}

void *__memmove_chk(void *to, const void *from, size_t n, size_t room)
{
	if (n > room)
		__chk_fail();
	if (zc_window.on)
		zc_copied(to, from, n, __builtin_return_address(0));
	zc_resolve();
	return zc_real.memmove(to, from, n);
}
