// Whose call it is, by its return address.
//
// A flag set around ibv_post_* would have to sit in the code under test: in
// every strategy, in each adapter, and in the timed loop. An address needs
// nothing of the program: what is called from the verbs libraries, a provider,
// or the C library on their behalf lies in their text, all else is the lane's.
// What an allocator of its own object does inside, a realloc that copies, a heap
// that grows, is on nobody's account: glibc's cannot be seen either.
#define _GNU_SOURCE
#include "internal.h"

#include <link.h>
#include <pthread.h>
#include <string.h>

enum { MAX_RANGES = 64 };
enum { LANE, LIBRARY, ALLOCATOR };
static struct text {
	struct range at;
	int side;
} texts[MAX_RANGES];
static unsigned text_count;
static __thread struct zc_side nobody;
static unsigned long long seen_adds;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

static int is_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	static const char *const names[] = {
		"libibverbs.", "librdmacm.", "libmlx4.", "libmlx5.", "libefa.", "libmana.", "libhns.",
		"libnl-", "libc.so.", "libpthread.", "ld-linux",
	};
	if (strstr(base, "-rdmav"))
		return 1;
	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (starts(base, names[i]))
			return 1;
	return 0;
}

static int side_of_object(const char *path)
{
	if (!path || !*path)
		return LANE;
	if (is_library(path))
		return LIBRARY;
	return strcmp(path, zc_allocator_path()) ? LANE : ALLOCATOR;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	int side = side_of_object(info->dlpi_name);
	for (int i = 0; i < info->dlpi_phnum && side != LANE && text_count < MAX_RANGES; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		uintptr_t lo = info->dlpi_addr + ph->p_vaddr;
		texts[text_count++] = (struct text){{lo, lo + ph->p_memsz}, side};
	}
	return 0;
}

static int count_adds(struct dl_phdr_info *info, size_t size, void *adds)
{
	(void)size;
	*(unsigned long long *)adds = info->dlpi_adds;
	return 1;
}

// zc_sides_refresh looks at what is loaded, if anything was since last time: a
// provider comes in when a device is opened.
void zc_sides_refresh(void)
{
	unsigned long long adds = 0;
	dl_iterate_phdr(count_adds, &adds);
	pthread_mutex_lock(&lock);
	if (adds != seen_adds) {
		text_count = 0;
		dl_iterate_phdr(add_object, NULL);
		seen_adds = adds;
	}
	pthread_mutex_unlock(&lock);
}

struct zc_side *zc_side_of(const void *ra)
{
	uintptr_t at = (uintptr_t)ra;
	for (unsigned i = 0; i < text_count; i++)
		if (at >= texts[i].at.lo && at < texts[i].at.hi)
			return texts[i].side == LIBRARY ? &zc_window.counts.library : &nobody;
	return &zc_window.counts.lane;
}
