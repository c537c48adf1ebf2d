// The allocator's functions, counted and passed on.
#define _GNU_SOURCE
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

struct real zc_real;

// Memory for what dlsym itself may allocate before malloc is known.
static _Alignas(16) char boot[1 << 16];
static size_t boot_used;
static int resolving;

static void *boot_alloc(size_t n)
{
	n = (n + 15) & ~(size_t)15;
	if (n > sizeof boot - boot_used)
		return NULL;
	void *p = boot + boot_used;
	boot_used += n;
	return p;
}

static int from_boot(const void *p)
{
	return (const char *)p >= boot && (const char *)p < boot + sizeof boot;
}

static void *must(const char *name)
{
	void *p = dlsym(RTLD_NEXT, name);
	if (!p) {
		static const char text[] = "zcshim: no allocator behind the shim\n";
		(void)!write(2, text, sizeof text - 1);
		_exit(127);
	}
	return p;
}

__attribute__((constructor)) void zc_resolve(void)
{
	if (zc_real.malloc || resolving)
		return;
	resolving = 1;
	struct real r;
	r.calloc = must("calloc");
	r.realloc = must("realloc");
	r.free = must("free");
	r.posix_memalign = must("posix_memalign");
	r.aligned_alloc = must("aligned_alloc");
	r.memalign = must("memalign");
	r.usable = must("malloc_usable_size");
	r.memcpy = must("memcpy");
	r.memmove = must("memmove");
	r.malloc = must("malloc");
	zc_real = r;
	resolving = 0;
}

const char *zc_allocator_path(void)
{
	Dl_info info;
	if (!dladdr((void *)zc_real.malloc, &info) || !info.dli_fname)
		return "unknown";
	return info.dli_fname;
}

static void took(void *p, size_t asked, const void *ra)
{
	if (!p)
		return;
	zc_heap_add(p);
	if (!zc_window.on)
		return;
	struct zc_side *s = zc_side_of(ra);
	s->allocs++;
	s->requested_bytes += asked;
}

void *malloc(size_t n)
{
	zc_resolve();
	if (!zc_real.malloc)
		return boot_alloc(n);
	void *p = zc_real.malloc(n);
	took(p, n, __builtin_return_address(0));
	return p;
}

void *calloc(size_t n, size_t size)
{
	zc_resolve();
	if (!zc_real.calloc)
		return size && n > SIZE_MAX / size ? NULL : boot_alloc(n * size); // never used twice: still zero
	void *p = zc_real.calloc(n, size);
	took(p, n * size, __builtin_return_address(0));
	return p;
}

void free(void *p)
{
	if (!p || from_boot(p))
		return;
	zc_resolve();
	size_t usable = zc_real.usable(p);
	zc_heap_sub(usable);
	if (zc_window.on) {
		zc_side_of(__builtin_return_address(0))->frees++;
		zc_taint_drop((uintptr_t)p, usable);
	}
	zc_real.free(p);
}

static void *grow(void *p, size_t n, const void *ra)
{
	size_t before = zc_real.usable(p);
	uintptr_t was = (uintptr_t)p;
	void *q = zc_real.realloc(p, n);
	if (!q && n)
		return NULL;
	zc_heap_sub(before);
	if (q)
		zc_heap_add(q);
	if (!zc_window.on)
		return q;
	struct zc_side *s = zc_side_of(ra);
	if (q) {
		s->reallocs++;
		s->requested_bytes += n;
		zc_taint_move(was, before, (uintptr_t)q);
	} else {
		s->frees++;
	}
	return q;
}

static void *resize(void *p, size_t n, const void *ra)
{
	zc_resolve();
	if (p && !from_boot(p))
		return grow(p, n, ra);
	if (!zc_real.malloc)
		return boot_alloc(n);
	void *q = zc_real.malloc(n);
	took(q, n, ra);
	if (q && p) { // the length in boot memory is not known: all of it that is left
		size_t left = boot + sizeof boot - (char *)p;
		zc_real.memcpy(q, p, n < left ? n : left);
	}
	return q;
}

void *realloc(void *p, size_t n)
{
	return resize(p, n, __builtin_return_address(0));
}

void *reallocarray(void *p, size_t n, size_t size)
{
	if (size && n > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(p, n * size, __builtin_return_address(0));
}

int posix_memalign(void **out, size_t align, size_t n)
{
	zc_resolve();
	int err = zc_real.posix_memalign(out, align, n);
	if (!err)
		took(*out, n, __builtin_return_address(0));
	return err;
}

void *aligned_alloc(size_t align, size_t n)
{
	zc_resolve();
	void *p = zc_real.aligned_alloc(align, n);
	took(p, n, __builtin_return_address(0));
	return p;
}

void *memalign(size_t align, size_t n)
{
	zc_resolve();
	void *p = zc_real.memalign(align, n);
	took(p, n, __builtin_return_address(0));
	return p;
}

void *valloc(size_t n)
{
	zc_resolve();
	void *p = zc_real.memalign(sysconf(_SC_PAGESIZE), n);
	took(p, n, __builtin_return_address(0));
	return p;
}
