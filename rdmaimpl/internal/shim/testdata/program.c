// What a program under test might do, in amounts a test knows.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "zcshim.h"

#define KEEP(p) __asm__ volatile("" : : "r"(p) : "memory")

static void (*begin)(void), (*end)(void);
static int (*watch)(const void *, size_t);
static int (*counts)(struct zc_counts *, size_t);
static int (*heap)(struct zc_heap *, size_t);

static void *elsewhere(void *unused)
{
	for (int i = 0; i < 1000; i++) {
		void *p = malloc(100);
		KEEP(p);
		free(p);
	}
	return unused;
}

static void work(size_t len)
{
	char source[64] = "watched";
	KEEP(source);
	watch(source, sizeof source);
	begin();
	char *a = malloc(len);
	KEEP(a);
	memcpy(a, source, len);
	KEEP(a);
	a = realloc(a, 4096 * 64); // moves: too large to grow in place
	KEEP(a);
	char *b = calloc(2, len);
	KEEP(b);
	memcpy(b, a, len); // a copy of the copy
	KEEP(b);
	memmove(b + len, b, len);
	char *c = NULL;
	if (posix_memalign((void **)&c, 64, 200))
		exit(3);
	memcpy(c, c + 100, len < 100 ? len : 100); // nothing watched
	KEEP(c);
	(void)!write(-1, a, 1);
	pthread_t t;
	end();
	pthread_create(&t, NULL, elsewhere, NULL);
	begin();
	pthread_join(t, NULL);
	end();
	free(a);
	begin();
	free(b);
	free(c);
	free(NULL);
	end();
}

int main(int argc, char **argv)
{
	begin = dlsym(RTLD_DEFAULT, "zc_window_begin");
	end = dlsym(RTLD_DEFAULT, "zc_window_end");
	watch = dlsym(RTLD_DEFAULT, "zc_window_watch");
	counts = dlsym(RTLD_DEFAULT, "zc_window_counts");
	heap = dlsym(RTLD_DEFAULT, "zc_heap_sample");
	if (!begin || !end || !watch || !counts || !heap)
		return 9;
	struct zc_heap before, during, after;
	work(argc > 1 ? atoi(argv[1]) : 32);
	if (heap(&before, sizeof before))
		return 4;
	enum { BLOCKS = 4096, EACH = 1000 };
	static char *block[BLOCKS];
	for (int i = 0; i < BLOCKS; i++) {
		block[i] = malloc(EACH);
		memset(block[i], i, EACH);
	}
	if (heap(&during, sizeof during))
		return 5;
	for (int i = 0; i < BLOCKS; i++)
		if (i % 16) // a page keeps its last tenant
			free(block[i]);
	if (heap(&after, sizeof after))
		return 6;
	printf("%lu %lu %lu %lu %lu %lu %lu\n", before.used_bytes, during.used_bytes, after.used_bytes,
		before.held_bytes, during.held_bytes, after.held_bytes, during.live_blocks - before.live_blocks);
	return 0;
}
