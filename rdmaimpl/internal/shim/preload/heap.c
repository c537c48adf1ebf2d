// What the allocator holds against what is in use.
//
// mallinfo is glibc's alone. Here used is the sum of malloc_usable_size over
// live blocks, and held the resident size of every anonymous mapping a block
// was ever returned from, which any allocator answers alike.
#define _GNU_SOURCE
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_ullong used_bytes, live_blocks;

// One bit a page that a block began in: leaves of 1 GiB under a table of the
// 48 bits of user addresses.
enum { PAGE_BITS = 12, LEAF_BITS = 30, TOP = 1 << 18, LEAF_WORDS = 1 << 12 };
typedef _Atomic(uint64_t) leaf_word;
static _Atomic(leaf_word *) top[TOP];

static leaf_word *leaf_of(uintptr_t at, int make)
{
	_Atomic(leaf_word *) *slot = &top[(at >> LEAF_BITS) & (TOP - 1)];
	leaf_word *leaf = atomic_load(slot);
	if (leaf || !make)
		return leaf;
	size_t size = LEAF_WORDS * sizeof *leaf;
	long made = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
	if (made == -1)
		return NULL;
	leaf_word *fresh = (leaf_word *)made, *none = NULL;
	if (atomic_compare_exchange_strong(slot, &none, fresh))
		return fresh;
	syscall(SYS_munmap, fresh, size);
	return none;
}

void zc_heap_add(void *p)
{
	atomic_fetch_add_explicit(&used_bytes, zc_real.usable(p), memory_order_relaxed);
	atomic_fetch_add_explicit(&live_blocks, 1, memory_order_relaxed);
	uintptr_t at = (uintptr_t)p;
	leaf_word *leaf = leaf_of(at, 1);
	if (!leaf)
		return;
	unsigned page = (at >> PAGE_BITS) & ((1 << (LEAF_BITS - PAGE_BITS)) - 1);
	uint64_t bit = 1ull << (page % 64);
	if (!(atomic_load_explicit(&leaf[page / 64], memory_order_relaxed) & bit))
		atomic_fetch_or_explicit(&leaf[page / 64], bit, memory_order_relaxed);
}

void zc_heap_sub(size_t usable)
{
	atomic_fetch_sub_explicit(&used_bytes, usable, memory_order_relaxed);
	atomic_fetch_sub_explicit(&live_blocks, 1, memory_order_relaxed);
}

static int holds_blocks(uintptr_t lo, uintptr_t hi)
{
	for (uintptr_t at = lo & ~(uintptr_t)((64 << PAGE_BITS) - 1); at < hi; at += 64 << PAGE_BITS) {
		leaf_word *leaf = leaf_of(at, 0);
		if (!leaf)
			continue;
		uint64_t word = atomic_load(&leaf[((at >> PAGE_BITS) & ((1 << (LEAF_BITS - PAGE_BITS)) - 1)) / 64]);
		for (unsigned i = 0; word; i++, word >>= 1) {
			uintptr_t page = at + ((uintptr_t)i << PAGE_BITS);
			if ((word & 1) && page >= lo && page < hi)
				return 1;
		}
	}
	return 0;
}

// heap_line reads one line of /proc/self/smaps: the head of a mapping or one of
// its figures. *counts says whether the mapping is the allocator's.
static void heap_line(char *line, struct zc_heap *h, int *counts)
{
	char *end;
	uintptr_t lo = strtoul(line, &end, 16);
	if (*end == '-') {
		uintptr_t hi = strtoul(end + 1, &end, 16);
		char *field = end;
		for (int i = 0; i < 4 && field; i++) { // permissions, offset, device, inode
			field = strchr(field + 1, ' ');
		}
		char *name = field ? field + strspn(field, " ") : "";
		int anonymous = !*name || !strcmp(name, "[heap]") || !strncmp(name, "[anon", 5);
		*counts = anonymous && holds_blocks(lo, hi);
		if (*counts) {
			h->mappings++;
			h->mapped_bytes += hi - lo;
		}
	} else if (*counts && !strncmp(line, "Rss:", 4)) {
		h->held_bytes += strtoul(line + 4, NULL, 10) * 1024;
	}
}

static int heap_scan(int fd, struct zc_heap *h)
{
	static char text[1 << 15];
	size_t have = 0;
	int counts = 0;
	for (;;) {
		long n = syscall(SYS_read, fd, text + have, sizeof text - have - 1);
		if (n < 0)
			return errno;
		if (n == 0)
			return 0;
		have += n;
		text[have] = 0;
		char *line = text, *nl;
		while ((nl = strchr(line, '\n'))) {
			*nl = 0;
			heap_line(line, h, &counts);
			line = nl + 1;
		}
		have = text + have - line;
		for (size_t i = 0; i < have; i++)
			text[i] = line[i];
		if (have == sizeof text - 1)
			return EOVERFLOW;
	}
}

int zc_heap_sample(struct zc_heap *out, size_t size)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	if (size != sizeof *out)
		return EINVAL;
	*out = (struct zc_heap){.abi = ZC_SHIM_ABI};
	int fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/smaps", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	int on = zc_window.on;
	zc_window.on = 0;
	pthread_mutex_lock(&lock);
	int err = heap_scan(fd, out);
	pthread_mutex_unlock(&lock);
	zc_window.on = on;
	syscall(SYS_close, fd);
	out->used_bytes = atomic_load(&used_bytes);
	out->live_blocks = atomic_load(&live_blocks);
	return err;
}
