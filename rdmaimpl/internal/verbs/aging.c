//go:build cgo && !noverbs

// Posts among long-lived allocations: does what a batch allocates and frees
// leave holes in the heap that what lives on cannot fill?

#include "zc.h"
#ifdef ZC_HEADERS
#include "hot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// xorshift64*: the draws must not depend on the C library.
static uint64_t draw(struct zc_aging *a)
{
	uint64_t x = a->random;
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	a->random = x;
	return x * 0x2545F4914F6CDD1Dull;
}

// Sizes are spread evenly over the powers of two between the bounds.
static uint32_t draw_size(struct zc_aging *a)
{
	uint32_t octaves = 0;
	while (((uint64_t)a->min_bytes << (octaves + 1)) <= a->max_bytes)
		octaves++;
	uint64_t r = draw(a);
	uint64_t low = (uint64_t)a->min_bytes << (octaves ? (r >> 32) % octaves : 0);
	return low + (uint32_t)r % low;
}

// The first bytes of a block hold its size.
static int replace(struct zc_aging *a)
{
	for (uint32_t i = 0; i < a->replace; i++) {
		void **slot = &a->slot[draw(a) % a->slots];
		uint32_t size = draw_size(a);
		if (*slot) {
			a->live_bytes -= *(uint32_t *)*slot;
			free(*slot);
		}
		*slot = malloc(size);
		if (!*slot)
			return ENOMEM;
		memset(*slot, (int)i, size);
		*(uint32_t *)*slot = size;
		a->live_bytes += size;
	}
	return 0;
}

int zc_aging_run(enum zc_kind kind, struct zc_lane *l, struct zc_aging *a, uint32_t max_requests, int posts, struct zc_done *d)
{
	const struct zc_steps *s = zc_steps_of(kind);
	*d = (struct zc_done){.bad = -1};
	uint32_t left = max_requests;
	zc_shim_begin();
	while (!d->err && left >= a->max_batch) {
		uint32_t n = 1 + draw(a) % a->max_batch;
		left -= n;
		a->requests += n;
		if (posts) {
			l->batch = n;
			s->build(l);
		}
		d->err = replace(a);
		if (posts && !d->err)
			d->err = s->post(l);
		if (posts)
			s->drop(l);
		d->batches++;
	}
	zc_shim_end();
	d->bad = posts ? l->bad : -1;
	return d->err;
}

void zc_aging_free(struct zc_aging *a)
{
	for (uint32_t i = 0; a->slot && i < a->slots; i++)
		free(a->slot[i]);
	free(a->slot);
	a->slot = NULL;
}

#endif
